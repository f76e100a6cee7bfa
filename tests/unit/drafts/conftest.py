"""A drafts store on a real database with a clock that only moves when a test says so."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest

from drafts import repository
from drafts.events import DraftEvent
from drafts.journal import EditJournal
from drafts.model import DraftKey, TextEdit
from drafts.open_draft import OpenDraft
from drafts.pending import PENDING
from drafts.schema import SCHEMA
from drafts.store import DraftStore
from runtime.base.folder import DataFolder
from runtime.base.handover import Place
from runtime.base.tasks import TaskSupervisor
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook
from tests.fakes.clock import FakeClock

GLOBAL = Place("global", "global", "")
KEY = DraftKey.workspace("global")


@dataclass
class Desk:
    """One process's view of a data folder."""

    folder: DataFolder
    clock: FakeClock
    database: Database
    journal: EditJournal
    leases: LeaseBook
    tasks: TaskSupervisor
    store: DraftStore
    events: list[DraftEvent] = field(default_factory=list[DraftEvent])
    bugs: list[BaseException] = field(default_factory=list[BaseException])

    @staticmethod
    async def open(folder: DataFolder, clock: FakeClock) -> Desk:
        bugs: list[BaseException] = []
        database = await Database.open(folder.drafts_database, SCHEMA)
        journal = EditJournal.open(folder.draft_journal)
        leases, tasks = LeaseBook(folder.leases, clock), TaskSupervisor("drafts", bugs.append)
        store = DraftStore(database, journal, leases, clock, tasks)
        desk = Desk(folder, clock, database, journal, leases, tasks, store, bugs=bugs)
        store.subscribe(desk.events.append)
        return desk

    def type(self, draft: OpenDraft, text: str) -> int:
        """Insert at the end, as a person does."""
        at = draft.text_units
        end = at + len(text.encode("utf-16-le", "surrogatepass")) // 2
        return self.store.edit(draft.id, TextEdit(at, 0, text), end, end)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for work in the database thread; what never comes is ended after a minute."""
        async with asyncio.timeout(60):
            while not condition():
                await self.database.read(lambda connection: connection.execute("SELECT 1").get)
                await asyncio.sleep(0)

    async def hold(self, draft_id: str, phase: str = "starting") -> None:
        """An operation holds the draft; another phase moves it on."""
        await self.database.run(
            PENDING,
            lambda connection: connection.execute(
                "INSERT OR REPLACE INTO operations VALUES ('op',?,'global',1,'ses','top','sub','f','{}',"
                "NULL,?,'','','req','d',1,0,0)",
                (draft_id, phase),
            ).fetchall(),
        )

    async def convert(self, draft_id: str) -> None:
        """What accepting an operation does to its draft."""
        await self.database.run(PENDING, lambda connection: repository.convert(connection, draft_id, 1))

    async def die(self) -> None:
        """What a kill leaves: the journal unclosed and uncut, nothing flushed."""
        descriptor = self.journal._descriptor  # pyright: ignore[reportPrivateUsage]
        if descriptor >= 0:
            os.close(descriptor)
            self.journal._descriptor = -1  # pyright: ignore[reportPrivateUsage]
        await self.close()

    async def close(self) -> None:
        await self.store.close()
        await self.tasks.close()
        await self.database.close()
        assert self.bugs == []


OpenDesk = Callable[[], Coroutine[Any, Any, Desk]]


@pytest.fixture
async def open_desk(data_folder: DataFolder, clock: FakeClock) -> AsyncIterator[OpenDesk]:
    """Open the data folder once more: a second process, or the same one after a restart."""
    desks: list[Desk] = []

    async def make() -> Desk:
        desks.append(await Desk.open(data_folder, clock))
        return desks[-1]

    yield make
    for desk in desks:
        await desk.close()


@pytest.fixture
async def desk(open_desk: OpenDesk) -> Desk:
    return await open_desk()
