"""Send, stop and the actions of banners. Everything here was asked for by a person; nothing else dispatches."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Slot

from app.compose import Services
from app.desk import Desk
from app.leaving import ask_path, save_copy
from app.navigation import Intent
from app.preferences.dialogs import confirm
from app.questions import send_as_new_question
from drafts.capture import Capture
from drafts.events import DraftCleared, DraftConverted, OperationChanged
from drafts.model import DraftKey, Surface
from drafts.open_draft import OpenDraft
from runtime.base.errors import Fault, RejectedFault
from runtime.base.handover import Place
from runtime.base.ids import new_id
from runtime.sessions.events import SessionChanged, SessionEvent, TurnChanged

_RUNNING = "An answer is being written. Your text is kept: send it when the answer has ended, or stop the answer."


class Sending(QObject):
    """Joins the composers' wishes with first execution, follow-ups and the controller."""

    def __init__(self, desk: Desk, services: Services) -> None:
        super().__init__(desk)
        self._desk = desk
        self._services = services
        self._intents: dict[DraftKey, int] = {}  # the navigation intent that the newest send of a draft captured
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
                self._intents[draft.key] = captured.intent
                self._desk.operation = None
                self._desk.forget_refusal()
                self._desk.refresh()
                self._desk.spawn("send", self._submit(captured), draft.key)
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
        elif action in ("keep_mine", "keep_other") and draft is not None:
            self._desk.spawn("settle two versions", self._settle(draft.id, mine=action == "keep_mine"))
        elif action == "new_conversation":
            self._desk.spawn("move", self._move_to_new())
        elif action == "save_copy" and draft is not None:
            self._desk.spawn("save a copy", self._save_copy(draft.text))
        elif action == "check_again" and operation is None and draft is not None and self._desk.is_session:
            self._desk.spawn("check again", self._check_follow_up(draft), draft.key)
        elif operation is not None and draft is not None:
            self._intents[draft.key] = self._desk.navigation.current().number
            self._desk.spawn(action, self._act(action, operation.id), draft.key)

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
        """The draft may no longer be the visible one when the answer is there."""
        first, desk = self._services.first, self._desk
        if action == "continue":
            desk.take_operation(await first.resume(operation_id))
        elif action == "cancel":
            desk.take_operation(await first.cancel(operation_id))
        elif action == "check_again":
            desk.take_operation(await first.check_again(operation_id))
        elif action == "keep_as_draft":
            desk.take_operation(await first.keep_as_draft(operation_id))
        elif action == "send_as_new" and await confirm(send_as_new_question(), desk.painted.window, "send_as_new"):
            desk.take_operation(await first.send_as_new(operation_id))
        desk.refresh()

    async def _submit(self, captured: Capture) -> None:
        try:
            self._desk.take_operation(await self._services.first.submit(captured))
        finally:
            self._desk.refresh()

    def _follow(self, session_id: str, draft_id: str) -> None:
        if self._services.controller.running(session_id) is not None:
            self._desk.note(_RUNNING)
            return
        captured = self._services.follow.capture(draft_id)
        self._desk.forget_refusal()
        self._desk.spawn("follow up", self._submit_follow_up(captured), captured.key)

    async def _submit_follow_up(self, captured: Capture) -> None:
        result = await self._services.follow.submit(captured)
        if result.outcome == "refused" and result.code == "session_busy" and self._desk.is_visible(captured.draft_id):
            self._desk.note(_RUNNING)
        elif result.outcome == "refused":
            self._desk.say(result.code, about=captured.key)
        self._desk.refresh()

    async def _check_follow_up(self, draft: OpenDraft) -> None:
        result = await self._services.follow.check_again(draft.id)
        if result.code:
            self._desk.say(result.code, about=draft.key)
        self._desk.refresh()

    async def _settle(self, draft_id: str, *, mine: bool) -> None:
        """Which of two versions stays in the draft; the other one is an earlier version or a stored copy."""
        drafts = self._desk.side.drafts
        if mine:
            await drafts.keep_mine(draft_id)
        else:
            await drafts.reload(draft_id)
            self._desk.typist.refresh()
        self._desk.refresh()

    async def _move_to_new(self) -> None:
        """The reserved conversation is gone for good: the text goes on as a draft with new ids."""
        draft, drafts = self._desk.draft, self._desk.side.drafts
        if draft is None:
            return
        target = await drafts.open(DraftKey.workspace(draft.place.workspace_id, new_id("slot")), draft.place)
        drafts.set_settings(target.id, replace(draft.settings))
        drafts.lock(draft.id, "moving")  # a key typed now would go with the old draft
        self._desk.refresh()
        try:
            drafts.replace_text(target.id, draft.text)
            await drafts.save(target.id)
        finally:
            drafts.unlock(draft.id)
        await drafts.discard(draft.id, draft.revision)
        await self._desk.show_draft(target.key, target.place)

    @Slot(OperationChanged)
    def _operation_changed(self, event: OperationChanged) -> None:
        self._desk.take_operation(event.operation)

    @Slot(DraftCleared)
    def _cleared(self, event: DraftCleared) -> None:
        if self._desk.draft is not None and self._desk.draft.key == event.key:
            self._desk.typist.refresh()
            self._desk.refresh()

    @Slot(DraftConverted)
    def _converted(self, event: DraftConverted) -> None:
        """The visible draft has become a conversation: go there, unless the person went anywhere since they sent it
        (case D06); then the next draft of the same place is shown, for the old one takes no text any more."""
        desk, captured = self._desk, self._intents.pop(event.key, None)
        draft = desk.draft
        if draft is None or draft.id != event.draft_id:
            return
        if captured is None or captured == desk.navigation.current().number:
            desk.go("open", partial(self._open_converted, event, draft.place))
        else:
            desk.go("next draft", partial(desk.show_draft, event.key, draft.place))

    async def _open_converted(self, event: DraftConverted, place: Place, intent: Intent) -> None:
        try:
            await self._desk.show_session(event.session_id, intent)
        except Fault as fault:
            await self._desk.show_draft(event.key, place, intent)
            self._desk.say(fault.code, fault)

    @Slot(object)
    def _session_event(self, event: SessionEvent) -> None:
        desk, feed = self._desk, self._desk.feed
        if feed is None:
            return
        feed.take(event)
        if not desk.is_session:
            return
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
