"""Send, stop and the actions of banners. Everything here was asked for by a person; nothing else dispatches."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, Slot

from app.compose import Services
from app.desk import Desk
from app.leaving import ask_path, save_copy
from app.preferences.dialogs import confirm
from app.questions import send_as_new_question
from drafts.capture import Capture
from drafts.events import DraftCleared, DraftConverted, DraftStateChanged, OperationChanged
from drafts.model import DraftKey, Surface
from drafts.phases import Operation, Phase
from runtime.base.errors import RejectedFault
from runtime.base.ids import new_id
from runtime.sessions.events import SessionChanged, SessionEvent, TurnChanged

_RUNNING = "An answer is being written. Your text is kept: send it when the answer has ended, or stop the answer."


class Sending(QObject):
    """Joins the composers' wishes with first execution, follow-ups and the controller."""

    def __init__(self, desk: Desk, services: Services) -> None:
        super().__init__(desk)
        self._desk = desk
        self._services = services
        painted, bridge = desk.painted, desk.bridge
        for typist in (painted.on_draft, painted.on_session):
            typist.panel.send_requested.connect(self.send)
            typist.panel.steer_requested.connect(self.send)
            typist.panel.stop_requested.connect(self.stop)
            typist.typed.connect(desk.forget_refusal)
        painted.window.send_requested.connect(self.send)
        painted.window.stop_requested.connect(self.stop)
        for page in (painted.draft_page, painted.session_page):
            page.action_requested.connect(self.act)
        bridge.operation_changed.connect(self._operation_changed)
        bridge.draft_state_changed.connect(self._state_changed)
        bridge.draft_cleared.connect(self._cleared)
        bridge.draft_converted.connect(self._converted)
        bridge.session_event.connect(self._session_event)

    @Slot()
    def send(self) -> None:
        """Send what is visible. The draft is frozen before anything is awaited, so a second trigger finds it locked."""
        draft = self._desk.draft
        if draft is None:
            return
        try:
            if draft.key.surface is Surface.SESSION:
                self._follow(draft.key.key, draft.id)
            else:
                captured = self._services.first.capture(draft.id, self._desk.navigation.current().number)
                self._desk.operation = None
                self._desk.forget_refusal()
                self._desk.refresh()
                self._desk.spawn("send", self._submit(captured))
        except RejectedFault as fault:
            if fault.code not in ("draft_locked", "empty_draft"):
                self._desk.say(fault.code, fault)

    @Slot()
    def stop(self) -> None:
        """Stop the answer of the visible conversation, or cancel the send of the visible draft."""
        desk = self._desk
        if desk.is_session and desk.draft is not None:
            desk.spawn("stop", self._services.controller.stop(desk.draft.key.key))
        elif desk.operation is not None and not desk.operation.phase.is_editable:
            self.act("cancel")

    @Slot(str)
    def act(self, action: str) -> None:
        """An action of the visible banner."""
        operation, draft = self._desk.operation, self._desk.draft
        if action == "send":
            self.send()
        elif action in ("retry", "retry_unknown"):
            self._desk.spawn("retry", self._retry(sure=action == "retry"))
        elif action == "new_conversation":
            self._desk.spawn("move", self._move_to_new())
        elif action == "save_copy" and draft is not None:
            self._desk.spawn("save a copy", self._save_copy(draft.text))
        elif action == "check_again" and operation is None and draft is not None and self._desk.is_session:
            self._desk.spawn("check again", self._check_follow_up(draft.id))
        elif operation is not None:
            self._desk.spawn(action, self._act(action, operation.id))

    async def _retry(self, *, sure: bool) -> None:
        """Ask the last question once more, as a new turn beside the old one; never by itself (case S10)."""
        feed = self._desk.feed
        last = feed.last() if feed is not None else None
        if last is None or not last.state.is_terminal:
            return
        if sure or await confirm(send_as_new_question(), self._desk.painted.window, "send_as_new"):
            await self._services.gateway.retry(last.id)

    async def _save_copy(self, text: str) -> None:
        path = await ask_path(self._desk.painted.window)
        if path:
            await save_copy(self._desk, path, text)

    async def _act(self, action: str, operation_id: str) -> None:
        first = self._services.first
        if action == "continue":
            self._open_if_accepted(await first.resume(operation_id), self._desk.navigation.current().number)
        elif action == "cancel":
            self._desk.operation = await first.cancel(operation_id)
        elif action == "check_again":
            self._desk.operation = await first.check_again(operation_id)
        elif action == "keep_as_draft":
            self._desk.operation = await first.keep_as_draft(operation_id)
        elif action == "send_as_new" and await confirm(
            send_as_new_question(), self._desk.painted.window, "send_as_new"
        ):
            sent = await first.send_as_new(operation_id)
            self._open_if_accepted(sent, self._desk.navigation.current().number)
        self._desk.refresh()

    async def _submit(self, captured: Capture) -> None:
        try:
            operation = await self._services.first.submit(captured)
        finally:
            self._desk.refresh()
        self._open_if_accepted(operation, captured.intent)

    def _open_if_accepted(self, operation: Operation, intent: int) -> None:
        """Switch to the conversation only if its draft is still what is looked at (case D06)."""
        desk = self._desk
        if operation.phase is not Phase.ACCEPTED or desk.navigation.current().number != intent or desk.is_session:
            return
        if self._is_shown(operation.id) or desk.is_visible(operation.draft_id):
            desk.spawn("open", desk.show_session(operation.session_id))

    def _follow(self, session_id: str, draft_id: str) -> None:
        if self._services.controller.running(session_id) is not None:
            self._desk.note(_RUNNING)
            return
        captured = self._services.follow.capture(draft_id)
        self._desk.forget_refusal()
        self._desk.spawn("follow up", self._submit_follow_up(captured))

    async def _submit_follow_up(self, captured: Capture) -> None:
        result = await self._services.follow.submit(captured)
        if not self._desk.is_visible(captured.draft_id):
            return
        if result.outcome == "refused" and result.code == "session_busy":
            self._desk.note(_RUNNING)
        elif result.outcome in ("refused", "unknown"):
            self._desk.say(result.code or "dispatch_unknown")
        self._desk.refresh()

    async def _check_follow_up(self, draft_id: str) -> None:
        result = await self._services.follow.check_again(draft_id)
        if result.outcome == "unknown":
            self._desk.say(result.code or "dispatch_unknown")
        else:
            self._desk.forget_refusal()
        self._desk.refresh()

    async def _move_to_new(self) -> None:
        """The reserved conversation is gone for good: the text goes on as a draft with new ids."""
        draft, drafts = self._desk.draft, self._desk.side.drafts
        if draft is None:
            return
        target = await drafts.open(DraftKey.workspace(draft.place.workspace_id, new_id("slot")), draft.place)
        drafts.set_settings(target.id, replace(draft.settings))
        drafts.replace_text(target.id, draft.text)
        await drafts.save(target.id)
        await drafts.discard(draft.id, draft.revision)
        await self._desk.show_draft(target.key, target.place)

    @Slot(OperationChanged)
    def _operation_changed(self, event: OperationChanged) -> None:
        if self._desk.is_visible(event.operation.draft_id) or self._is_shown(event.operation.id):
            self._desk.operation = event.operation
            self._desk.refresh()
            self._desk.show_model()

    def _is_shown(self, operation_id: str) -> bool:
        return self._desk.operation is not None and self._desk.operation.id == operation_id

    @Slot(DraftStateChanged)
    def _state_changed(self, event: DraftStateChanged) -> None:
        if self._desk.is_visible(event.draft_id):
            self._desk.refresh()

    @Slot(DraftCleared)
    def _cleared(self, event: DraftCleared) -> None:
        if self._desk.draft is not None and self._desk.draft.key == event.key:
            self._desk.typist.refresh()
            self._desk.refresh()

    @Slot(DraftConverted)
    def _converted(self, event: DraftConverted) -> None:
        """A recovered send turned out to have arrived while its draft is being looked at."""
        desk = self._desk
        if desk.draft is not None and desk.draft.key == event.key and desk.operation is None:
            desk.spawn("open", desk.show_session(event.session_id))

    @Slot(object)
    def _session_event(self, event: SessionEvent) -> None:
        desk, feed = self._desk, self._desk.feed
        if feed is None or not desk.is_session:
            return
        feed.take(event)
        if isinstance(event, TurnChanged) and event.turn.session_id == feed.session_id:
            desk.forget_refusal()
            desk.refresh()
        elif isinstance(event, SessionChanged) and event.session.id == feed.session_id:
            self._show_session(event)

    def _show_session(self, event: SessionChanged) -> None:
        reported = event.session.observed.get("model")
        feed = self._desk.feed
        if feed is not None and isinstance(reported, str):
            feed.set_reported(reported)
        self._desk.session_changed(event.session)

