"""The session side put together over a fake host, as ``app/compose.py`` does it over real ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from runtime.base.handover import Receipt, Reservation, Submission
from runtime.base.ids import new_id
from runtime.base.tasks import TaskSupervisor
from runtime.sessions.admission import Admission
from runtime.sessions.controller import SessionController
from runtime.sessions.events import ItemAppended, ItemExtended, SessionEvent, TurnChanged
from runtime.sessions.gateway import SessionsGateway
from runtime.sessions.model import Item, Turn, TurnState
from runtime.sessions.owner import OwnerLease
from runtime.sessions.recovery import interrupt_dead_turns
from runtime.sessions.schema import open_state
from runtime.sessions.store import SessionStore
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook
from runtime.workspaces.registry import GLOBAL, WorkspaceRegistry
from tests.fakes.clock import FakeClock
from tests.fakes.host import FakeHost, FakeModels, FakeRegistry


def reservation(name: str = "one", **changes: Any) -> Reservation:
    """Identities of one first execution; the same ``name`` gives the same ids."""
    values: dict[str, Any] = {
        "operation_id": f"opr-{name}",
        "session_id": f"ses-{name}",
        "topic_id": f"top-{name}",
        "submission_id": f"sub-{name}",
        "place": GLOBAL,
        "settings": {"model": "scripted:demo"},
    }
    return Reservation(**{**values, **changes})


def submission(name: str = "one", text: str = "Hello", submission_id: str = "", fingerprint: str = "f") -> Submission:
    return Submission(submission_id or f"sub-{name}", f"ses-{name}", fingerprint, {"text": text})


@dataclass
class Heard:
    """Every event so far, and a way to wait for one."""

    events: list[SessionEvent] = field(default_factory=list)
    _arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, event: SessionEvent) -> None:
        self.events.append(event)
        self._arrived.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for events until ``holds``; the suite's time limit ends a wait in vain."""
        while not holds():
            self._arrived.clear()
            await self._arrived.wait()

    async def turn(self, *states: TurnState) -> Turn:
        """Wait until a turn has entered one of ``states``."""
        await self.until(lambda: any(turn.state in states for turn in self.turns()))
        return next(turn for turn in reversed(self.turns()) if turn.state in states)

    async def ended(self, count: int = 1) -> Turn:
        """Wait for the ``count``-th terminal record."""
        await self.until(lambda: sum(turn.state.is_terminal for turn in self.turns()) >= count)
        return next(turn for turn in reversed(self.turns()) if turn.state.is_terminal)

    async def text(self, wanted: str) -> None:
        """Wait until ``wanted`` was published as answer text."""
        await self.until(lambda: wanted in self.said())

    def turns(self) -> list[Turn]:
        return [event.turn for event in self.events if isinstance(event, TurnChanged)]

    def said(self) -> str:
        parts: list[str] = []
        for event in self.events:
            if isinstance(event, ItemAppended) and event.item.kind == "assistant":
                parts.append(event.item.text)
            elif isinstance(event, ItemExtended):
                parts.append(event.text)
        return "".join(parts)


class Rig:
    """One process's session side. ``bugs`` must stay empty."""

    def __init__(self, folder: Path, clock: FakeClock, database: Database, host: FakeHost) -> None:
        self.folder = folder
        self.clock = clock
        self.database = database
        self.host = host
        self.bugs: list[BaseException] = []
        self.heard = Heard()
        self.tasks = TaskSupervisor("sessions", self.bugs.append)
        self.leases = LeaseBook(folder, clock)
        self.owner = OwnerLease.take(self.leases)
        self.store = SessionStore(database, clock, self.bugs.append)
        self.store.subscribe(self.heard)
        self.admission = Admission(self.store, self.owner)
        self.registry = FakeRegistry(host)
        self.controller = SessionController(self.store, self.registry, self.owner, clock, self.tasks)
        self.workspaces = WorkspaceRegistry(database, clock)
        self.gateway = SessionsGateway(
            self.store, self.admission, self.controller, self.workspaces, FakeModels(), self.tasks
        )

    @staticmethod
    async def make(folder: Path, clock: FakeClock, host: FakeHost | None = None) -> Rig:
        database = await open_state(folder / "state-v1.sqlite")
        return Rig(folder, clock, database, host or FakeHost(clock))

    async def send(self, name: str = "one", text: str = "Hello") -> Receipt:
        """First execution or a follow-up of session ``name``, by the steps that drafts takes."""
        reserved = reservation(name)
        first = await self.store.get(reserved.session_id) is None
        if first:
            await self.gateway.create(reserved)
            await self.gateway.publish(await self.gateway.start(reserved))
        chosen = reserved.submission_id if first else new_id("sub")
        return await self.gateway.admit(submission(name, text, chosen))

    async def items(self, name: str = "one", limit: int = 200) -> list[Item]:
        return await self.store.items(f"ses-{name}", limit=limit)

    async def recover(self) -> int:
        return await interrupt_dead_turns(self.store, self.leases)

    async def rows(self, sql: str, *values: Any) -> list[Any]:
        return await self.database.read(lambda connection: list(connection.execute(sql, values).fetchall()))

    async def by_hand(self, *statements: str) -> None:
        """Damage the file behind the program's back, foreign keys and triggers aside."""

        def body(connection: apsw.Connection) -> None:
            connection.execute("PRAGMA foreign_keys = OFF").fetchall()
            for statement in statements:
                connection.execute(statement).fetchall()
            connection.execute("PRAGMA foreign_keys = ON").fetchall()

        connection = apsw.Connection(str(self.database.path))
        try:
            body(connection)
        finally:
            connection.close()

    async def die(self) -> None:
        """As a kill leaves it: nothing more is written, the lease is free."""
        await self.database.close()
        self.owner.release()
        await self.tasks.close()
        self.bugs.clear()  # what the tasks met on a closed database

    async def close(self) -> None:
        await self.controller.close()
        await self.tasks.close()
        await self.database.close()
        self.owner.release()
        assert self.bugs == []
