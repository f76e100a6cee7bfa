"""Everything that first execution needs, joined over a real drafts database and a fake session gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from drafts.events import DraftEvent
from drafts.follow_up import FollowUp
from drafts.journal import EditJournal
from drafts.model import DraftKey, TextEdit
from drafts.open_draft import OpenDraft
from drafts.operations import PHASE, Change
from drafts.phases import Operation, Phase
from drafts.recovery import Recovery
from drafts.reserving import reserve
from drafts.schema import SCHEMA
from drafts.store import DraftStore
from drafts.submission import FirstExecution
from drafts.workbench import Workbench
from runtime.base.clock import Clock
from runtime.base.folder import DataFolder
from runtime.base.handover import Place
from runtime.base.tasks import TaskSupervisor
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook
from tests.fakes.clock import FakeClock
from tests.fakes.gateway import FakeGateway
from tests.fakes.lossy_database import LossyDatabase

GLOBAL = Place("global", "global")
PRIMARY = DraftKey.workspace("global")


@dataclass(slots=True)
class Desk:
    """One process' side of the drafts: open it with :func:`open_desk`, end it with :meth:`close`."""

    bench: Workbench
    gateway: FakeGateway
    database: LossyDatabase
    first: FirstExecution
    recovery: Recovery
    follow_up: FollowUp
    bugs: list[BaseException]
    events: list[DraftEvent] = field(default_factory=list[DraftEvent])

    @property
    def store(self) -> DraftStore:
        return self.bench.store

    async def draft(self, text: str = "", key: DraftKey = PRIMARY) -> OpenDraft:
        """The draft of ``key`` with ``text`` typed behind what it has."""
        draft = await self.store.open(key, GLOBAL)
        if text:
            self.type(draft, text)
        return draft

    def type(self, draft: OpenDraft, text: str) -> None:
        end = draft.text_units
        self.store.edit(draft.id, TextEdit(end, 0, text), end + len(text), end + len(text))

    async def sent(self, text: str = "plan") -> Operation:
        """Type and send; the operation in the phase that it reached."""
        draft = await self.draft(text)
        return await self.first.submit(self.first.capture(draft.id))

    async def reserved(self, text: str = "plan", *path: Phase) -> Operation:
        """An operation that stopped in the last phase of ``path`` with nobody working on it."""
        draft = await self.draft(text)
        made = await reserve(self.bench, self.first.capture(draft.id))
        if isinstance(made, Operation):
            raise TypeError("there is an operation already")
        made.lease.release()
        return await self.moved(made.operation, *path)

    async def moved(self, operation: Operation, *path: Phase) -> Operation:
        """Take an operation along ``path``; a dispatch stores its payload, as the worker does."""
        for phase in path:
            change = Change(execution={"text": "plan"}) if phase.is_dispatching else Change()
            operation = await self.bench.move_or_read(PHASE, operation, phase, change)
        return operation

    async def status(self, draft_id: str) -> str:
        """``active``, ``converted`` or ``discarded``."""
        stored = await self.store.show(draft_id)
        return "" if stored is None else stored.status

    def is_editable(self, draft_id: str) -> bool:
        """The draft is open, not locked, and takes a key."""
        draft = self.store.by_id(draft_id)
        return draft is not None and not draft.locked

    async def close(self) -> None:
        await self.bench.tasks.close()
        await self.store.close()
        await self.bench.database.close()


async def open_desk(folder: DataFolder, gateway: FakeGateway | None = None, clock: Clock | None = None) -> Desk:
    """As the composition root joins it, with ``gateway`` in place of the sessions."""
    bugs: list[BaseException] = []
    clock = clock or FakeClock()
    tasks = TaskSupervisor("drafts", bugs.append)
    leases = LeaseBook(folder.leases, clock)
    database = LossyDatabase(await Database.open(folder.drafts_database, SCHEMA))
    journal = EditJournal.open(folder.draft_journal)
    store = DraftStore(database, journal, leases, clock, tasks)
    gateway = gateway or FakeGateway()
    bench = Workbench(store, database, gateway, leases, clock, tasks)
    desk = Desk(bench, gateway, database, FirstExecution(bench), Recovery(bench), FollowUp(bench), bugs)
    store.subscribe(desk.events.append)
    return desk


@asynccontextmanager
async def desk_at(folder: DataFolder, gateway: FakeGateway | None = None) -> AsyncIterator[Desk]:
    """A desk that is closed at the end, also when the test fails; a bug in one of its tasks fails the test."""
    desk = await open_desk(folder, gateway)
    try:
        yield desk
    finally:
        await desk.close()
    if desk.bugs:
        raise desk.bugs[0]
