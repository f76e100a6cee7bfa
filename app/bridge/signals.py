"""Events of drafts, sessions and the engine as Qt signals: the one place where the two worlds meet."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.compose import DraftSide, Services
from drafts.events import DraftCleared, DraftConverted, DraftEvent, DraftStateChanged, OperationChanged
from runtime.sessions.events import SessionEvent


class Bridge(QObject):
    """One signal for each kind of event that a widget may care about; all on the loop's thread."""

    draft_state_changed = Signal(DraftStateChanged)
    operation_changed = Signal(OperationChanged)
    draft_converted = Signal(DraftConverted)
    draft_cleared = Signal(DraftCleared)
    session_event = Signal(object)
    engine_changed = Signal(object)
    settings_changed = Signal(object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._unsubscribe: list[Callable[[], None]] = []

    def watch_drafts(self, side: DraftSide) -> None:
        self._unsubscribe.append(side.drafts.subscribe(self._draft_event))

    def watch_services(self, services: Services) -> None:
        self._unsubscribe.append(services.sessions.subscribe(self._session_event))
        self._unsubscribe.append(services.engine.subscribe(self.engine_changed.emit))
        self._unsubscribe.append(services.settings.subscribe(self.settings_changed.emit))

    def close(self) -> None:
        """Nothing is heard any more."""
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()

    def _draft_event(self, event: DraftEvent) -> None:
        if isinstance(event, DraftStateChanged):
            self.draft_state_changed.emit(event)
        elif isinstance(event, OperationChanged):
            self.operation_changed.emit(event)
        elif isinstance(event, DraftConverted):
            self.draft_converted.emit(event)
        else:
            self.draft_cleared.emit(event)

    def _session_event(self, event: SessionEvent) -> None:
        self.session_event.emit(event)
