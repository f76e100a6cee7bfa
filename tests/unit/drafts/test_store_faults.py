"""A failing or a full disk at every single operation of a session of typing: nothing typed is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator

import apsw
import pytest

from drafts.journal import EditJournal
from drafts.schema import SCHEMA
from drafts.store import DraftStore
from runtime.base.errors import EnvironmentFault
from runtime.base.folder import DataFolder
from runtime.base.tasks import TaskSupervisor
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook
from tests.fakes.clock import FakeClock
from tests.fakes.faulty_vfs import FaultyVFS
from tests.unit.drafts.conftest import GLOBAL, KEY, Desk, OpenDesk

OPERATIONS = 40


@pytest.fixture
def disk() -> Iterator[FaultyVFS]:
    made = FaultyVFS("faulty-drafts")
    yield made
    made.unregister()


async def _desk(folder: DataFolder, clock: FakeClock) -> Desk:
    bugs: list[BaseException] = []
    database = await Database.open(folder.drafts_database, SCHEMA, vfs="faulty-drafts")
    journal, leases = EditJournal.open(folder.draft_journal), LeaseBook(folder.leases, clock)
    tasks = TaskSupervisor("drafts", bugs.append)
    store = DraftStore(database, journal, leases, clock, tasks)
    return Desk(folder, clock, database, journal, leases, tasks, store, bugs=bugs)


@pytest.mark.parametrize("full", [False, True], ids=["EIO", "ENOSPC"])
@pytest.mark.parametrize("fail_at", range(1, OPERATIONS, 3))
async def test_a_disk_that_fails_once_costs_no_character(
    data_folder: DataFolder, clock: FakeClock, disk: FaultyVFS, open_desk: OpenDesk, fail_at: int, full: bool
) -> None:
    desk = await _desk(data_folder, clock)
    draft = await desk.store.open(KEY, GLOBAL)
    disk.arm(fail_at, full=full)
    for number in range(6):
        desk.type(draft, f"{number} ")
        try:
            assert (await desk.store.save(draft.id)).outcome == "saved"
        except EnvironmentFault as fault:
            assert fault.code in {"disk_full", "io_error", "cannot_open"}
            assert draft.state == "error"
    disk.disarm()
    assert draft.text == "0 1 2 3 4 5 "
    assert (await desk.store.save(draft.id)).outcome == "saved"
    assert await desk.store.conflicts(draft.id) == []
    await desk.close()
    assert (await (await open_desk()).store.open(KEY, GLOBAL)).text == draft.text


async def test_a_disk_that_stays_full_keeps_the_text_in_memory_and_in_the_journal(
    data_folder: DataFolder, clock: FakeClock, disk: FaultyVFS, open_desk: OpenDesk
) -> None:
    desk = await _desk(data_folder, clock)
    draft = await desk.store.open(KEY, GLOBAL)
    disk.arm(1, full=True, lasting=True)
    desk.type(draft, "typed on a full disk")
    await clock.advance(5)
    await desk.until(lambda: draft.state == "error")
    assert [unsaved.code for unsaved in await desk.store.flush()] == ["disk_full"]
    disk.disarm()
    await desk.die()
    assert (await (await open_desk()).store.open(KEY, GLOBAL)).text == "typed on a full disk"
    connection = apsw.Connection(os.fspath(data_folder.drafts_database))
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    connection.close()
