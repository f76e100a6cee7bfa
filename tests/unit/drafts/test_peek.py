"""The first paint's reader: what a kill left, without a write, a loop or a heavy import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from drafts.journal import EditJournal
from drafts.model import DraftKey, TextEdit
from drafts.open_draft import OpenDraft, type_edit
from drafts.peek import peek
from drafts.restore import ACTIVE, surface_object, surface_of
from runtime.base.errors import EnvironmentFault
from runtime.base.folder import DataFolder
from runtime.base.handover import JsonObject
from tests.unit.drafts.conftest import GLOBAL, KEY, Desk, OpenDesk

ROOT = Path(__file__).resolve().parents[3]
DEFAULT = (KEY, GLOBAL)


def _peek(folder: DataFolder) -> tuple[str | None, str]:
    peeked = peek(folder.drafts_database, folder.draft_journal, DEFAULT)
    return (peeked.draft.text if peeked.draft else None), peeked.code


def _type(journal: EditJournal, draft: OpenDraft, text: str) -> None:
    at = draft.text_units
    type_edit(journal, draft, TextEdit(at, 0, text), at + len(text), at + len(text))


@pytest.mark.parametrize(
    "module", ["drafts.journal", "drafts.fold", "drafts.model", "drafts.open_draft", "drafts.replay"]
)
def test_what_a_keystroke_needs_is_light(module: str) -> None:
    assert _heavy(module) == "set()"


def test_the_first_paint_reader_needs_apsw_alone() -> None:
    assert _heavy("drafts.peek") == "{'apsw'}"


def _heavy(module: str) -> str:
    code = (
        f"import sys, {module}; print(set(sys.modules) & "
        "{'asyncio', 'apsw', 'pydantic', 'rfc8785', 'filelock', 'PySide6'})"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()


async def test_a_first_start_has_an_empty_draft(data_folder: DataFolder) -> None:
    assert _peek(data_folder) == ("", "missing")
    assert not data_folder.drafts_database.exists()


async def test_it_shows_the_restored_surface_with_its_row_and_its_journal(desk: Desk) -> None:
    key = DraftKey.workspace("global", "second")
    await desk.store.set_restore(ACTIVE, surface_object(key, GLOBAL))
    draft = await desk.store.open(key, GLOBAL)
    desk.type(draft, "stored")
    await desk.store.save(draft.id)
    desk.type(draft, " and typed 👋")
    await desk.die()
    before = desk.folder.drafts_database.read_bytes()
    peeked = peek(desk.folder.drafts_database, desk.folder.draft_journal, DEFAULT)
    assert peeked.draft is not None
    assert (peeked.draft.key, peeked.draft.text, peeked.draft.id) == (key, "stored and typed 👋", draft.id)
    assert (peeked.draft.caret, peeked.draft.state) == (peeked.draft.text_units, "dirty")
    assert desk.folder.drafts_database.read_bytes() == before


async def test_it_recreates_a_draft_that_never_reached_its_first_save(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "only in the journal")
    await desk.die()
    peeked = peek(desk.folder.drafts_database, desk.folder.draft_journal, DEFAULT)
    assert peeked.draft is not None
    assert (peeked.draft.text, peeked.draft.id, peeked.draft.revision) == ("only in the journal", draft.id, 0)


async def test_a_live_writer_is_not_replayed(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "being typed elsewhere")
    assert _peek(desk.folder) == ("", "")


async def test_what_is_typed_before_the_store_exists_is_adopted_and_saved(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "stored")
    await desk.store.save(draft.id)
    desk.type(draft, ", journaled")
    await desk.die()
    shown = peek(desk.folder.drafts_database, desk.folder.draft_journal, DEFAULT).draft
    assert shown is not None
    second = await open_desk()
    _type(second.journal, shown, ", at boot")
    second.store.adopt(shown)
    second.type(shown, ", later")
    result = await second.store.save(shown.id)
    assert (result.outcome, shown.state) == ("saved", "saved")
    row = await second.store.show(draft.id)
    assert row is not None and row.content.text == "stored, journaled, at boot, later"
    assert await second.store.conflicts(draft.id) == []


async def test_boot_keys_survive_a_second_kill_before_recovery(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "one")
    await desk.die()
    shown = peek(desk.folder.drafts_database, desk.folder.draft_journal, DEFAULT).draft
    assert shown is not None
    journal = EditJournal.open(desk.folder.draft_journal)
    _type(journal, shown, " two")
    journal.close()
    assert _peek(desk.folder) == ("one two", "")
    again = await (await open_desk()).store.open(KEY, GLOBAL)
    assert again.text == "one two"


async def test_a_draft_held_by_an_operation_is_shown_locked(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "sending")
    await desk.store.save(draft.id)
    await desk.hold(draft.id)
    peeked = peek(desk.folder.drafts_database, desk.folder.draft_journal, DEFAULT)
    assert peeked.draft is not None and peeked.draft.locked == "starting"


async def test_a_future_file_gives_nothing_but_a_code(desk: Desk) -> None:
    await desk.close()
    connection = apsw.Connection(os.fspath(desk.folder.drafts_database))
    connection.execute("PRAGMA user_version = 6")
    connection.close()
    before = desk.folder.drafts_database.read_bytes()
    assert _peek(desk.folder) == (None, "future_schema")
    assert desk.folder.drafts_database.read_bytes() == before


async def test_a_damaged_file_gives_nothing_but_a_code(data_folder: DataFolder) -> None:
    data_folder.drafts_database.write_bytes(b"not a database " * 500)
    assert _peek(data_folder) == (None, "database_damaged")


async def test_behind_a_locked_file_one_can_type_already(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "stored")
    await desk.store.save(draft.id)
    await desk.close()
    holder = apsw.Connection(os.fspath(desk.folder.drafts_database))
    holder.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    holder.execute("BEGIN EXCLUSIVE")
    shown = peek(desk.folder.drafts_database, desk.folder.draft_journal, DEFAULT)
    assert shown.code == "database_locked" and shown.draft is not None and shown.draft.loading
    holder.close()
    second = await open_desk()
    _type(second.journal, shown.draft, " behind")
    second.store.adopt(shown.draft)
    await second.store.save(shown.draft.id)
    assert (shown.draft.text, shown.draft.id) == ("stored behind", draft.id)


async def test_a_shown_journal_that_cannot_be_folded_yet_is_an_error_state_and_then_a_save(
    desk: Desk, open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def locked(*_arguments: object) -> None:
        raise EnvironmentFault("database_locked")

    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "journaled")
    await desk.die()
    shown = peek(desk.folder.drafts_database, desk.folder.draft_journal, DEFAULT).draft
    assert shown is not None
    second = await open_desk()
    monkeypatch.setattr(second.database, "run", locked)
    second.store.adopt(shown)
    second.type(shown, ", typed")
    with pytest.raises(EnvironmentFault):
        await second.store.save(shown.id)
    assert (shown.state, shown.error_code, shown.text) == ("error", "database_locked", "journaled, typed")
    monkeypatch.undo()
    await second.clock.advance(5)
    await second.until(lambda: shown.state == "saved")
    row = await second.store.show(draft.id)
    assert row is not None and row.content.text == "journaled, typed"
    assert await second.store.conflicts(draft.id) == []


@pytest.mark.parametrize(
    ("surface", "known"), [({"surface": "moon", "key": "k"}, False), (surface_object(KEY, GLOBAL), True)]
)
async def test_a_surface_of_another_version_falls_back_to_the_default(
    desk: Desk, surface: JsonObject, known: bool
) -> None:
    await desk.store.set_restore(ACTIVE, surface)
    peeked = peek(desk.folder.drafts_database, desk.folder.draft_journal, DEFAULT)
    assert peeked.draft is not None and peeked.draft.key == KEY
    assert peeked.surface == surface and (surface_of(surface) is not None) == known
