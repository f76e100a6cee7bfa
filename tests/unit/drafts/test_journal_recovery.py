"""Journals of dead writers: folded once, removed after that, and never a text twice or not at all."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable

import pytest

from drafts.fold import base_text
from drafts.journal import EditJournal, encode_record
from drafts.journal_recovery import JournalRecovery, RecoveredJournals
from drafts.model import DraftKey, TextEdit
from drafts.pending import PENDING
from runtime.base.errors import EnvironmentFault
from runtime.storage.leases import Lease, LeaseBook
from runtime.storage.lockfiles import Kind
from tests.unit.drafts.conftest import GLOBAL, KEY, Desk, OpenDesk

ONE = RecoveredJournals(journals=1, drafts=1)


async def test_a_second_and_a_third_recovery_change_nothing(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "typed")
    await desk.die()
    second = await open_desk()
    assert await second.store.recover_journals() == ONE
    row = await second.store.show(draft.id)
    for _again in range(2):
        assert await second.store.recover_journals() == RecoveredJournals()
    assert await second.store.show(draft.id) == row


async def test_a_journal_that_was_folded_but_not_removed_adds_nothing(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    for text in ("sto", "red"):  # the second one is not kept as an earlier version by itself
        desk.type(draft, text)
        await desk.store.save(draft.id)
    desk.type(draft, ", typed")
    await desk.die()
    kept = desk.folder.root / "kept"
    shutil.copy(desk.journal.path, kept)
    second = await open_desk()
    again = await second.store.open(KEY, GLOBAL)
    second.type(again, ", later")
    await second.store.save(again.id)  # the row no longer says that it covers the old journal
    shutil.copy(kept, desk.journal.path)
    recovered = await second.store.recover_journals()
    assert (recovered.journals, recovered.drafts) == (1, 0)
    row = await second.store.show(draft.id)
    assert row is not None and row.content.text == "stored, typed, later"
    texts = [version.content.text for version in await second.store.earlier(draft.id)]
    assert texts.count("stored, typed") == 1  # rebuilt from the text before it, and added once


async def test_one_that_is_there_already_is_not_kept_twice(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "abc")
    await desk.store.save(draft.id)
    await desk.close()
    for _start in range(3):  # three journals that speak of the same first typing
        journal = EditJournal.open(desk.folder.draft_journal)
        journal.begin(draft.id, KEY, GLOBAL, 0)
        journal.append(draft.id, TextEdit(0, 0, "ab"), 0)
        journal.close()
    second = await open_desk()
    assert await second.store.recover_journals() == RecoveredJournals(journals=3, kept_apart=1)
    assert sorted(version.content.text for version in await second.store.earlier(draft.id)) == ["ab", "abc"]


async def test_the_journal_of_a_live_process_is_left_alone(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "being typed")
    second = await open_desk()
    assert await second.store.recover_journals() == RecoveredJournals()
    assert desk.journal.path.exists()


async def test_a_journal_that_another_process_recovers_is_left_to_it(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "typed")
    await desk.die()
    second = await open_desk()
    lease = second.leases.try_acquire("owner", "journal", desk.journal.writer)
    assert lease is not None
    assert (await second.store.recover_journals()).postponed == 1
    lease.release()
    assert await second.store.recover_journals() == ONE


async def test_a_journal_of_a_newer_format_is_kept(desk: Desk) -> None:
    path = desk.folder.draft_journal / "jnl-new.log"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(encode_record({"k": "begin", "seq": 1}).replace(b"1 ", b"2 ", 1))
    before = path.read_bytes()
    assert (await desk.store.recover_journals()).postponed == 1
    assert path.read_bytes() == before


async def test_an_empty_journal_is_given_a_minute(desk: Desk) -> None:
    path = desk.folder.draft_journal / "jnl-empty.log"
    path.touch()
    await desk.store.recover_journals()
    assert path.exists()
    os.utime(path, (time.time() - 61, time.time() - 61))
    await desk.store.recover_journals()
    assert not path.exists()


async def test_a_locked_database_leaves_the_journal_for_the_next_try(
    desk: Desk, open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def locked(*_arguments: object) -> None:
        raise EnvironmentFault("database_locked")

    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "typed")
    await desk.die()
    second = await open_desk()
    monkeypatch.setattr(second.database, "run", locked)
    with pytest.raises(EnvironmentFault):
        await second.store.recover_journals()
    assert desk.journal.path.exists()
    monkeypatch.undo()
    assert (await second.store.open(KEY, GLOBAL)).text == "typed"


@pytest.mark.logs_warnings
async def test_a_damaged_row_keeps_its_journal_and_holds_up_no_other_draft(desk: Desk, open_desk: OpenDesk) -> None:
    damaged = await desk.store.open(DraftKey.session("damaged"), GLOBAL)
    desk.type(damaged, "x")
    await desk.store.save(damaged.id)
    sound = await desk.store.open(KEY, GLOBAL)
    desk.type(damaged, "y")
    desk.type(sound, "sound")
    await desk.database.run(
        PENDING,
        lambda connection: connection.execute(
            "UPDATE drafts SET content_json = 'no json' WHERE id = ?", (damaged.id,)
        ).fetchall(),
    )
    await desk.die()
    second = await open_desk()
    assert (await second.store.recover_journals()).postponed == 1
    assert desk.journal.path.exists()
    assert (await second.store.open(KEY, GLOBAL)).text == "sound"


async def test_edits_made_during_a_losing_save_are_kept_whole(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "base ")
    await desk.store.save(draft.id)
    other = await open_desk()
    theirs = await other.store.open(KEY, GLOBAL)
    other.type(theirs, "theirs")
    await other.store.save(theirs.id)
    desk.type(draft, "mine")
    losing = desk.tasks.spawn("losing save", desk.store.save(draft.id))
    await desk.until(lambda: draft.saving or losing.done())
    desk.type(draft, ", during")
    assert (await losing).outcome == "conflict"
    desk.type(draft, ", after")
    assert draft.base == base_text("base mine, during")
    await desk.die()
    third = await open_desk()
    await third.store.recover_journals()
    kept = [version.content.text for version in await third.store.earlier(draft.id)]
    assert "base mine, during, after" in kept


class _Racing(LeaseBook):
    """Lets something happen between the listing of the journals and the work on one."""

    meanwhile: Callable[[], None]

    def try_acquire(self, kind: Kind, *identity: str) -> Lease | None:
        self.meanwhile()
        return super().try_acquire(kind, *identity)


async def test_a_writer_that_begins_while_journals_are_listed_keeps_its_file(desk: Desk) -> None:
    """Its file was there, and not yet locked, when somebody looked for dead ones."""
    journal = EditJournal.open(desk.folder.draft_journal)
    journal.begin("drf-late", KEY, GLOBAL, 0)
    path = journal.path.rename(journal.path.with_suffix(".hidden"))
    empty = journal.path
    empty.touch(mode=0o600)
    leases = _Racing(desk.folder.leases, desk.clock)
    leases.meanwhile = lambda: os.replace(path, empty) if path.exists() else None
    recovery = JournalRecovery(desk.folder.draft_journal, desk.journal.writer, desk.database, leases, desk.clock)
    await recovery.run()
    assert empty.exists()
    journal.append("drf-late", TextEdit(0, 0, "typed"), 0)
    assert b"typed" in empty.read_bytes()
    journal.close()
