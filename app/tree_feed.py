"""Keeps the project tree equal to the stores: one refresh at a time, none for each token."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Slot

from app.bridge.signals import Bridge
from app.compose import DraftSide, Services
from app.sidebar.rows import build_rows
from app.sidebar.tree import ProjectTree
from runtime.base.errors import Fault
from runtime.base.tasks import TaskSupervisor
from runtime.sessions.events import SessionChanged, SessionEvent, TurnChanged
from runtime.sessions.model import Session
from runtime.workspaces.registry import Workspace

_SETTLE_MS = 60
_MINUTE_MS = 60_000
_LIMIT = 5_000


class TreeFeed(QObject):
    """Reads drafts and conversations and shows them; time labels move on every minute."""

    def __init__(
        self, tree: ProjectTree, side: DraftSide, tasks: TaskSupervisor, bridge: Bridge, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._tree = tree
        self._side = side
        self._tasks = tasks
        self._services: Services | None = None
        self._begun = False  # until it is known whether there are conversations, the first paint's list stays
        self._stale = True
        self._workspaces: Sequence[Workspace] = ()
        self._sessions: Sequence[Session] = ()
        self._reading: asyncio.Task[None] | None = None
        self._again = False
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_SETTLE_MS)
        self._soon.timeout.connect(self._refresh)
        self._minute = QTimer(self)
        self._minute.setInterval(_MINUTE_MS)
        self._minute.timeout.connect(self._look_again)
        self._minute.start()
        for signal in (
            bridge.draft_state_changed,
            bridge.operation_changed,
            bridge.draft_converted,
            bridge.draft_cleared,
        ):
            signal.connect(self.nudge)
        bridge.session_event.connect(self._session_event)

    def set_services(self, services: Services) -> None:
        """Conversations can be read from now on."""
        self._services, self._begun = services, True
        self.nudge_all()

    def without_services(self) -> None:
        """There will be no conversations in this run: show the drafts alone."""
        self._begun = True
        self.nudge()

    def nudge_all(self) -> None:
        """Conversations or workspaces have changed."""
        self._stale = True
        self.nudge()

    @Slot()
    def nudge(self) -> None:
        """A draft may look different; many nudges make one refresh, and conversations are not read for it."""
        if not self._soon.isActive():
            self._soon.start()

    def close(self) -> None:
        """No refresh begins any more."""
        self._soon.stop()
        self._minute.stop()

    async def refresh(self) -> None:
        """Read and show now."""
        services = self._services
        if services is not None and self._stale:
            self._stale = False
            try:
                self._workspaces = await services.workspaces.list()
                self._sessions = await services.sessions.list(_LIMIT)
            except Fault:
                self._stale = True
                raise
        drafts = await self._side.drafts.summaries()
        self._tree.set_rows(build_rows(self._workspaces, drafts, self._sessions, self._side.clock.now_ms()))

    @Slot(object)
    def _session_event(self, event: SessionEvent) -> None:
        if isinstance(event, SessionChanged | TurnChanged):
            self.nudge_all()

    @Slot()
    def _look_again(self) -> None:
        """Time labels move on, and so may folders on the disk."""
        self._stale = True
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        if not self._begun:
            return
        if self._reading is not None and not self._reading.done():
            self._again = True
            return
        self._reading = self._tasks.spawn("tree", self._read())

    async def _read(self) -> None:
        try:
            await self.refresh()
        except Fault:
            self._again = False  # a locked store: the next event or minute looks again
        if self._again:
            self._again = False
            self.nudge()
