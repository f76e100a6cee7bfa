"""The desk: which conversation is open, and how the window gets from one to another (spec/drafts.md section 5).

Navigation shows what is known at once, then reads; a superseded navigation installs nothing. It never sends.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Slot

from app import view
from app.banner_texts import BannerText, banner_for_error, follow_up_unknown_banner
from app.bridge.signals import Bridge
from app.compose import DraftSide, Services
from app.first_paint import NEW, Painted, place_name
from app.navigation import Intent, Navigation
from app.transcript_feed import TranscriptFeed
from app.typist import Typist
from drafts.events import DraftStateChanged
from drafts.follow_up import UNKNOWN as FOLLOW_UP_UNKNOWN
from drafts.model import DraftKey, DraftSettings, Surface
from drafts.open_draft import OpenDraft
from drafts.phases import Operation
from drafts.restore import ACTIVE, surface_object
from drafts.snapshot import read_snapshot
from runtime.base.errors import EnvironmentFault, Fault, RejectedFault
from runtime.base.handover import Place
from runtime.base.tasks import TaskSupervisor
from runtime.sessions.model import Session
from runtime.workspaces.registry import GLOBAL

_WRITE_ON = "You can go on writing here: this draft is saved. It can be sent once the conversations open again."

_AGAIN_SECONDS = 1.0


class Desk(QObject):
    """Owns what is visible. Sending and settings act on it from outside."""

    def __init__(self, painted: Painted, side: DraftSide, bridge: Bridge, tasks: TaskSupervisor) -> None:
        super().__init__(painted.window)
        self.painted = painted
        self.side = side
        self.bridge = bridge
        self.tasks = tasks
        self.navigation = Navigation()
        self.services: Services | None = None
        self.feed: TranscriptFeed | None = None
        self.draft: OpenDraft | None = painted.draft
        self.operation: Operation | None = None
        self.refusal: BannerText | None = None
        self.notice = ""
        self.requested_model = ""
        self._ended = False
        self._unsaid: dict[DraftKey, BannerText] = {}  # refusals of drafts that were not visible at that moment
        bridge.draft_state_changed.connect(self._state_changed)
        for typist in (painted.on_draft, painted.on_session):
            typist.sink = side.drafts

    # what is visible

    @property
    def is_session(self) -> bool:
        return self.draft is not None and self.draft.key.surface is Surface.SESSION

    @property
    def typist(self) -> Typist:
        return self.painted.on_session if self.is_session else self.painted.on_draft

    def spawn(self, name: str, work: Coroutine[Any, Any, None], about: DraftKey | None = None) -> None:
        """Start something that a person asked for; an expected failure becomes the banner, that of ``about`` if the
        wish was about one draft. What Qt still delivers after :meth:`close` starts nothing."""
        if self._ended:
            work.close()
            return
        self.tasks.spawn(name, self.shown(work, about))

    def close(self) -> None:
        """The window is ending."""
        self._ended = True
        if self.feed is not None:
            self.feed.close()

    def go(self, name: str, walk: Callable[[Intent], Coroutine[Any, Any, None]]) -> None:
        """Start a navigation: it is the newest from this call on, whatever it has to read first."""
        self.spawn(name, walk(self.navigation.claim()))

    async def shown(self, work: Coroutine[Any, Any, None], about: DraftKey | None = None) -> None:
        """Await ``work``; an expected failure becomes the banner."""
        try:
            await work
        except Fault as fault:
            self.say(fault.code, fault, about)

    def is_visible(self, draft_id: str) -> bool:
        return self.draft is not None and self.side.drafts.by_id(draft_id) is self.draft

    # ways to get there

    def attach(self, services: Services) -> None:
        """Sessions are there: fill in what the first paint could only glimpse."""
        self.services = services
        self.feed = TranscriptFeed(self.painted.transcript, services, self.side.clock, self)
        self.painted.transcript.top_reached.connect(self._older)

    async def go_without_sessions(self, fault: Fault) -> None:
        """The conversations cannot be opened: unsent text still can, is saved, and waits."""
        await self.settle()
        self.typist.panel.set_sendable(False)
        self.painted.window.tree.setEnabled(False)
        words = banner_for_error(fault.code, fault.detail)
        self.refusal = replace(words, text=f"{words.text} {_WRITE_ON}")
        self.refresh()

    async def settle(self) -> None:
        """After recovery: show the restored surface as it now is."""
        draft = self.draft
        if draft is None:
            await self.show_draft(DraftKey.workspace(GLOBAL.workspace_id), GLOBAL)
        elif draft.key.surface is Surface.SESSION:
            try:
                await self.show_session(draft.key.key)
            except RejectedFault as gone:
                await self.show_draft(DraftKey.workspace(GLOBAL.workspace_id), GLOBAL)
                self.say(gone.code, gone)
        else:
            await self.show_draft(draft.key, draft.place)

    async def show_draft(self, key: DraftKey, place: Place, intent: Intent | None = None) -> None:
        """Open the draft of ``key``; what is typed before it is read goes behind the stored text.

        ``intent`` was claimed when the person asked; a superseded one does nothing.
        """
        intent = intent or self.navigation.claim()
        if not self.navigation.is_newest(intent):
            return
        draft = self.side.drafts.begin_open(key, place)
        self._install(draft)
        page = self.painted.draft_page
        page.set_place(place_name(place))
        self.painted.window.set_subject(NEW)
        self.painted.window.status_line.set_host("No session yet")
        self.painted.window.tree.set_open("draft", _row_id(key, place))
        if self.feed is not None:
            self.feed.close()
        self.painted.window.show_page(page)
        page.composer.focus_editor()
        await self._read(key, place, intent)

    async def show_session(self, session_id: str, intent: Intent | None = None) -> None:
        """Open a conversation at its tail, with its own unsent text. Until all of it is read, everything stays with
        what is visible: keys, Enter and events."""
        intent = intent or self.navigation.claim()
        services, feed = self.services, self.feed
        if services is None or feed is None:
            return
        session = await services.sessions.get(session_id)
        if not self.navigation.is_newest(intent):
            return
        if session is None:
            raise RejectedFault("session_unknown")
        opening = await feed.load(session_id)
        if not self.navigation.is_newest(intent):
            return
        feed.show(opening)
        self.session_changed(session)
        self._install(self.side.drafts.begin_open(DraftKey.session(session_id), session.place))
        self.painted.window.tree.set_open("session", session_id)
        self.painted.window.show_page(self.painted.session_page)
        self.painted.session_page.composer.focus_editor()
        await self._read(DraftKey.session(session_id), session.place, intent)

    async def store_place(self) -> None:
        """Note what is visible for the next start. Raises :class:`EnvironmentFault` as saving does."""
        if self.draft is not None:
            await self.side.drafts.set_restore(ACTIVE, surface_object(self.draft.key, self.draft.place))

    # keeping up

    def refresh(self) -> None:
        """Show save state, lock, banner, model and menus of what is visible, as they are now."""
        draft = self.draft
        if draft is None:
            return
        panel = self.typist.panel
        panel.set_locked(bool(draft.locked) and not draft.loading, self.notice)
        view.show_save_state(self.painted, panel, draft)
        if self.is_session:
            last = self.feed.last() if self.feed is not None and self.feed.session_id == draft.key.key else None
            refusal = follow_up_unknown_banner() if draft.locked == FOLLOW_UP_UNKNOWN else self.refusal
            self.painted.session_page.banner.show_text(view.session_banner(draft, refusal, last))
        else:
            self.painted.draft_page.banner.show_text(view.draft_banner(draft, self.operation, self.refusal))
        running = self.feed.running() if self.feed is not None and self.is_session else None
        if self.is_session:
            view.show_turn(self.painted, running)
        self.painted.window.menus.set_state(
            running=running is not None,
            can_send=draft.has_content and not draft.locked,
            is_session=self.is_session,
            has_draft=draft.has_content and not draft.locked,
        )
        if draft.has_content or self.operation is not None:
            self.painted.draft_page.set_first_start(None)

    def show_model(self) -> None:
        """The picker of the visible composer."""
        services, draft = self.services, self.draft
        if services is None or draft is None:
            return
        entries = services.catalogue.entries()
        default = services.catalogue.default
        settings = draft.settings
        if self.is_session:
            settings = DraftSettings(self.requested_model, "explicit")
        elif self.operation is not None and not self.operation.phase.is_editable:
            settings = replace(read_snapshot(self.operation.request).settings, model_source="explicit")
        view.show_model(self.typist.panel, entries, settings, default)
        first = not draft.has_content and not self.is_session and self.operation is None
        self.painted.draft_page.set_first_start(self._first_start_words() if first else None)

    def say(self, code: str, fault: Fault | None = None, about: DraftKey | None = None) -> None:
        """A refusal that is no phase of an operation: shown until the next edit or navigation.

        One ``about`` a draft that is not visible waits until that is opened: no page speaks of another's text.
        """
        banner = banner_for_error(code, fault.detail) if fault is not None else banner_for_error(code)
        if about is not None and (self.draft is None or self.draft.key != about):
            self._unsaid[about] = banner
            return
        self.refusal = banner
        self.refresh()

    def take_operation(self, operation: Operation) -> None:
        """An attempt to send has moved on; that of a draft which is not visible changes nothing here."""
        known = self.operation
        if known is not None and known.id == operation.id:
            if operation.operation_revision < known.operation_revision:
                return
        elif not self.is_visible(operation.draft_id) or (known and operation.created_at < known.created_at):
            return
        self.operation = operation
        self.refresh()

    def session_changed(self, session: Session) -> None:
        """The visible conversation was renamed, or its host has reported something."""
        requested = session.requested.get("model")
        self.requested_model = requested if isinstance(requested, str) else ""
        view.show_session(self.painted, session)

    def note(self, words: str) -> None:
        """One line inside the composer, until the next edit or navigation."""
        self.notice = words
        self.refresh()

    def forget_refusal(self) -> None:
        """What was said about an earlier version of the text is no longer news."""
        if self.refusal is not None or self.notice:
            self.refusal, self.notice = None, ""
            self.refresh()

    # within

    def _install(self, draft: OpenDraft) -> None:
        self.draft, self.operation, self.notice = draft, None, ""
        self.refusal = self._unsaid.pop(draft.key, None)
        self.typist.show(draft)
        self.refresh()
        self.show_model()

    async def _read(self, key: DraftKey, place: Place, intent: Intent) -> None:
        draft = await self._opened(key, place, intent)
        latest = None
        if self.services is not None and key.surface is Surface.WORKSPACE:
            latest = await self.services.first.latest(draft.id)
        if not self.navigation.is_newest(intent):
            return
        self.draft = draft
        self.typist.show(draft)
        if latest is not None:
            self.take_operation(latest)
        self.refresh()
        self.show_model()
        await self.store_place()

    async def _opened(self, key: DraftKey, place: Place, intent: Intent) -> OpenDraft:
        """The draft with its stored text. While it is looked at, a store that is held by another program is asked
        again: what is typed meanwhile is in the journal and would otherwise wait for the next visit."""
        waited = False
        while True:
            try:
                draft = await self.side.drafts.open(key, place)
            except EnvironmentFault as fault:
                if fault.code != "database_locked" or not self.navigation.is_newest(intent):
                    raise
                self.say(fault.code, fault, key)
                waited = True
                await self.side.clock.sleep(_AGAIN_SECONDS)
            else:
                if waited and self.navigation.is_newest(intent):
                    self.forget_refusal()
                return draft

    def _first_start_words(self) -> str | None:
        services = self.services
        if services is None:
            return None
        default = services.catalogue.default
        entry = next((e for e in services.catalogue.entries() if e.reference == default), None)
        if entry is None or not entry.available:
            return "No model is ready yet. What you type is kept; add a server to get an answer."
        return (
            f"{entry.name} answers on this computer, without account and network: {entry.note}."
            if entry.note
            else f"{entry.name} answers."
        )

    @Slot(DraftStateChanged)
    def _state_changed(self, event: DraftStateChanged) -> None:
        if self.is_visible(event.draft_id):
            self.typist.settle()
            self.refresh()

    @Slot()
    def _older(self) -> None:
        if self.feed is not None:
            self.spawn("older", self.feed.older())


def _row_id(key: DraftKey, place: Place) -> str:
    return place.workspace_id if key.key.endswith("/primary") else key.key
