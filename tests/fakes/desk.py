"""Everything that first execution needs, joined over a real drafts database and a fake session gateway."""

from __future__ import annotations

from dataclasses import dataclass, field

from drafts.events import DraftEvent
from drafts.follow_up import FollowUp
from drafts.journal import EditJournal
from drafts.model import DraftKey, TextEdit
from drafts.open_draft import OpenDraft
from drafts.phases import Operation
from drafts.recovery import Recovery
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

GLOBAL = Place("global", "global")
PRIMARY = DraftKey.workspace("global")


@dataclass(slots=True)
class Desk:
    """One process' side of the drafts: open it with :func:`open_desk`, end it with :meth:`close`."""

    bench: Workbench
    gateway: FakeGateway
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
    database = await Database.open(folder.drafts_database, SCHEMA)
    journal = EditJournal.open(folder.draft_journal)
    store = DraftStore(database, journal, leases, clock, tasks)
    gateway = gateway or FakeGateway()
    bench = Workbench(store, database, gateway, leases, clock, tasks)
    desk = Desk(bench, gateway, FirstExecution(bench), Recovery(bench), FollowUp(bench), bugs)
    store.subscribe(desk.events.append)
    return desk
