"""Keeps the transcript equal to what is stored: subscribe first, load, then fold what arrives.

The view can be left and come back to at any time; the turn goes on by itself (case S13).
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Slot

from app.compose import Services
from app.transcript.rows import ending_row, row_of, rows_of
from app.transcript.view import TranscriptView
from app.turn_notes import progress_text
from runtime.base.clock import Clock
from runtime.sessions.events import ItemAppended, ItemExtended, ItemSettled, SessionEvent, TurnChanged
from runtime.sessions.fold import ConversationFold
from runtime.sessions.model import Turn, TurnState

_PAGE = 200
_TICK_MS = 1000


@dataclass(frozen=True, slots=True)
class Opening:
    """A conversation that was read and can be shown."""

    fold: ConversationFold
    reported: str
    exhausted: bool


class TranscriptFeed(QObject):
    """Feeds one :class:`TranscriptView` with one conversation at a time."""

    def __init__(self, view: TranscriptView, services: Services, clock: Clock, parent: QObject) -> None:
        super().__init__(parent)
        self._view = view
        self._services = services
        self._clock = clock
        self._fold = ConversationFold("")
        self._next: ConversationFold | None = None
        self._reported = ""
        self._progress = ""
        self._exhausted = False
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self._show_activity)

    @property
    def session_id(self) -> str:
        return self._fold.session_id

    async def load(self, session_id: str) -> Opening:
        """Read the newest page of ``session_id``. Events are folded from this moment on; what is visible stays as
        it is, so that a navigation that is overtaken leaves no trace."""
        fold = self._next = ConversationFold(session_id)
        session = await self._services.sessions.get(session_id)
        items = await self._services.sessions.items(session_id, limit=_PAGE)
        turns = await self._services.sessions.turns(session_id, limit=_PAGE)
        fold.merge(items, turns)
        reported = session.observed.get("model") if session is not None else ""
        return Opening(fold, reported if isinstance(reported, str) else "", len(items) < _PAGE)

    def show(self, opening: Opening) -> None:
        """Show the tail of what :meth:`load` has read, with what has arrived since."""
        self._fold, self._next = opening.fold, None
        self._reported, self._exhausted, self._progress = opening.reported, opening.exhausted, ""
        self._view.set_rows(rows_of(self._fold.items, self._fold.turns.values(), self._reported))
        self._show_activity()

    async def older(self) -> None:
        """Load the page before the oldest item that is shown."""
        fold = self._fold
        if self._exhausted or not fold.items:
            return
        page = await self._services.sessions.items(fold.session_id, before=fold.items[0].seq, limit=_PAGE)
        if self._fold is not fold:
            return
        self._exhausted = len(page) < _PAGE
        fold.merge(page)
        self._view.prepend_rows(rows_of(page, fold.turns.values(), self._reported))

    def take(self, event: SessionEvent) -> None:
        """Fold one event of the open conversation into the view; others are ignored."""
        if self._next is not None:
            self._next.apply(event)
        fold = self._fold
        if isinstance(event, ItemExtended):
            if event.session_id == fold.session_id:
                fold.apply(event)
                self._view.extend_row(event.item_id, event.offset, event.text)
                self._show_activity()
        elif isinstance(event, ItemAppended | ItemSettled):
            if event.item.session_id == fold.session_id:
                self._take_item(event)
        elif isinstance(event, TurnChanged) and event.turn.session_id == fold.session_id:
            fold.apply(event)
            progress = event.turn.detail.get("progress")
            self._progress = progress if isinstance(progress, str) else ""
            ending = ending_row(event.turn)
            if ending is not None:
                self._view.append_row(ending)
            self._show_activity()

    def set_reported(self, model: str) -> None:
        """The host has said which model answers; rows that follow say so."""
        self._reported = model

    def running(self) -> Turn | None:
        """The turn of the open conversation that has not ended, as last heard."""
        return next((turn for turn in self._fold.turns.values() if not turn.state.is_terminal), None)

    def last(self) -> Turn | None:
        """The newest turn of the open conversation, as last heard."""
        return max(self._fold.turns.values(), key=lambda turn: (turn.started_at, turn.id), default=None)

    def close(self) -> None:
        """Let go of the conversation."""
        self._fold, self._next = ConversationFold(""), None
        self._tick.stop()

    def _take_item(self, event: ItemAppended | ItemSettled) -> None:
        index = self._fold.apply(event)
        if index is None:
            return
        row = row_of(self._fold.items[index], self._reported)
        self._view.append_row(row)
        self._show_activity()

    @Slot()
    def _show_activity(self) -> None:
        """A line with the elapsed time until the first words are there, and while stopping."""
        turn = self.running()
        if turn is None:
            self._tick.stop()
            self._view.set_activity(None)
            return
        if not self._tick.isActive():
            self._tick.start()
        last = self._fold.items[-1] if self._fold.items else None
        streaming = last is not None and last.kind == "assistant" and last.turn_id == turn.id and bool(last.text)
        if streaming and turn.state is not TurnState.INTERRUPTING:
            self._view.set_activity(None)
            return
        seconds = max(0, self._clock.now_ms() - turn.started_at) / 1000
        code = "stopping" if turn.state is TurnState.INTERRUPTING else self._progress or "waiting"
        self._view.set_activity(progress_text(code, seconds))
