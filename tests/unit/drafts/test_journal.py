"""The journal's file: one record an edit, whole or not there, gone when covered."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drafts.filelocks import is_held
from drafts.fold import BaseText, base_text, fold
from drafts.journal import EditJournal, encode_record
from drafts.model import DraftKey, TextEdit
from drafts.open_draft import OpenDraft, type_edit
from drafts.replay import Stored, dead_logs, read_log, replay
from runtime.base.handover import Place
from tests.unit.drafts.test_fold import edited

PLACE = Place("w1", "project", "/tmp/a b#%字")
KEY = DraftKey.workspace("w1")


@pytest.fixture
def journal(tmp_path: Path) -> EditJournal:
    return EditJournal.open(tmp_path)


def test_nothing_is_made_before_the_first_record(journal: EditJournal) -> None:
    assert list(journal.path.parent.iterdir()) == []


def test_the_file_is_private(journal: EditJournal) -> None:
    journal.begin("d", KEY, PLACE, 0)
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    journal.close()


def test_an_edit_is_one_write_without_a_sync(journal: EditJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.begin("d", KEY, PLACE, 0)
    writes: list[int] = []
    plain = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: writes.append(len(data)) or plain(fd, data))
    monkeypatch.setattr(os, "fsync", lambda _fd: pytest.fail("a keystroke waited for the disk"))
    before = journal.path.stat().st_size
    journal.append("d", TextEdit(0, 0, "x"), 0)
    assert len(writes) == 1 and journal.path.stat().st_size == before + writes[0]
    journal.close()


def test_a_record_keeps_key_place_base_and_text(journal: EditJournal) -> None:
    journal.begin("d", KEY, PLACE, 7, base_text("base"))
    journal.append("d", TextEdit(4, 0, "\n\u2028\ud83d"), 7)
    [chain] = read_log(journal.path).chains
    assert (chain.draft_id, chain.key, chain.place, chain.base_revision) == ("d", KEY, PLACE, 7)
    assert chain.base == base_text("base")
    assert [edit for _seq, edit in chain.edits] == [TextEdit(4, 0, "\n\u2028\ud83d")]
    journal.close()


@given(edited())
def test_any_edits_come_back_from_the_file(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[str, list[TextEdit], str]
) -> None:
    start, edits, _expected = case
    journal = EditJournal.open(tmp_path_factory.mktemp("journal"))
    journal.begin("d", KEY, PLACE, 3, base_text(start))
    for edit in edits:
        journal.append("d", edit, 3)
    log = read_log(journal.path)
    journal.close()
    assert replay(Stored(start, "", 0), log, log.chains).text == fold(start, edits)


@given(st.data())
def test_a_torn_last_record_is_ignored(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    journal = EditJournal.open(tmp_path_factory.mktemp("journal"))
    journal.begin("d", KEY, PLACE, 0)
    journal.append("d", TextEdit(0, 0, "a"), 0)
    whole = journal.path.stat().st_size
    journal.append("d", TextEdit(1, 0, "bé\U0001f44b"), 0)
    os.truncate(journal.path, data.draw(st.integers(whole, journal.path.stat().st_size - 2)))
    log = read_log(journal.path)
    journal.close()
    assert replay(None, log, log.chains).text == "a"


def test_a_flipped_bit_costs_its_record_and_joins_nothing_across_the_gap(journal: EditJournal) -> None:
    journal.begin("d", KEY, PLACE, 0)
    for text in "abc":
        journal.append("d", TextEdit(0, 0, text), 0)  # each one fits wherever the one before is missing
    data = bytearray(journal.path.read_bytes())
    lines = data.split(b"\n")
    lines[2] = lines[2].replace(b'"ins":"b"', b'"ins":"X"')
    journal.path.write_bytes(b"\n".join(lines))
    log = read_log(journal.path)
    journal.close()
    found = replay(None, log, log.chains)
    assert not found.changed and len(found.losses) == 1


def test_short_writes_leave_no_half_record(journal: EditJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    journal.begin("d", KEY, PLACE, 0)
    before = journal.path.read_bytes()
    plain = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: plain(fd, data[:10]))
    with pytest.raises(OSError, match="part of a record") as raised:
        journal.append("d", TextEdit(0, 0, "x"), 0)
    assert raised.value.errno == errno.ENOSPC
    assert journal.path.read_bytes() == before
    monkeypatch.undo()
    journal.append("d", TextEdit(0, 0, "y"), 0)
    log = read_log(journal.path)
    assert replay(None, log, log.chains).text == "y"
    journal.close()


def test_half_a_record_that_cannot_be_taken_back_ends_its_line(
    journal: EditJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_fd: int, _size: int) -> None:
        raise OSError(errno.EIO, "no")

    journal.begin("d", KEY, PLACE, 0)
    plain = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: plain(fd, data[:10]))
    monkeypatch.setattr(os, "ftruncate", refuse)
    with pytest.raises(OSError, match="part of a record"):
        journal.append("d", TextEdit(0, 0, "x"), 0)
    monkeypatch.undo()
    journal.append("d", TextEdit(0, 0, "y"), 0)
    log = read_log(journal.path)
    assert replay(None, log, log.chains).text == "y"
    journal.close()


def test_the_file_is_cut_when_everything_is_covered_and_not_before(journal: EditJournal) -> None:
    for name in ("a", "b"):
        journal.begin(name, KEY, PLACE, 0)
    first = journal.append("a", TextEdit(0, 0, "x"), 0)
    second = journal.append("b", TextEdit(0, 0, "y"), 0)
    journal.covered("a", first)
    log = read_log(journal.path)
    assert log.covered == {"a": first} and len(log.chains) == 2
    journal.covered("b", second)
    assert journal.path.stat().st_size == 0
    assert not journal.has_chain("a")
    journal.close()
    assert not journal.path.exists()


def test_a_commit_that_does_not_hold_the_last_edit_covers_nothing_more(journal: EditJournal) -> None:
    journal.begin("a", KEY, PLACE, 0)
    first = journal.append("a", TextEdit(0, 0, "x"), 0)
    journal.append("a", TextEdit(1, 0, "y"), 0)
    journal.covered("a", first)
    log = read_log(journal.path)
    assert replay(Stored("x", journal.writer, first), log, log.chains).text == "xy"
    journal.close()
    assert journal.path.exists()


def test_sequence_numbers_go_on_after_a_cut(journal: EditJournal) -> None:
    journal.begin("a", KEY, PLACE, 0)
    journal.covered("a", journal.append("a", TextEdit(0, 0, "x"), 0))
    assert journal.seq == 2
    journal.begin("a", KEY, PLACE, 1, base_text("x"))
    assert journal.append("a", TextEdit(1, 0, "y"), 1) == 4
    log = read_log(journal.path)
    assert replay(Stored("x", journal.writer, 2), log, log.chains).text == "xy"
    journal.close()


def test_each_start_has_a_writer_of_its_own(tmp_path: Path) -> None:
    assert EditJournal.open(tmp_path).writer != EditJournal.open(tmp_path).writer


def test_a_writer_is_alive_while_it_has_its_file(journal: EditJournal) -> None:
    journal.begin("a", KEY, PLACE, 0)
    journal.append("a", TextEdit(0, 0, "x"), 0)
    assert is_held(journal.path) and dead_logs(journal.path.parent) == []
    journal.close()
    assert dead_logs(journal.path.parent) == [journal.path]


def test_a_record_of_a_newer_format_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "w.log"
    path.write_bytes(encode_record({"k": "begin"}).replace(b"1 ", b"2 ", 1))
    assert read_log(path).unknown


def test_a_keystroke_into_a_failing_journal_is_kept_in_memory(
    journal: EditJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_fd: int, _data: bytes) -> int:
        raise OSError(errno.ENOSPC, "full")

    draft = OpenDraft.unsaved(KEY, PLACE)
    type_edit(journal, draft, TextEdit(0, 0, "a"), 1, 1)
    monkeypatch.setattr(os, "write", full)
    type_edit(journal, draft, TextEdit(1, 0, "b"), 2, 2)
    assert (draft.text, draft.state, draft.error_code) == ("ab", "error", "disk_full")
    monkeypatch.undo()
    type_edit(journal, draft, TextEdit(2, 0, "c"), 3, 3)
    log = read_log(journal.path)
    assert replay(None, log, log.chains).text == "a"  # nothing is joined over the gap
    journal.close()


def test_typing_before_the_text_is_read_counts_from_its_end(journal: EditJournal) -> None:
    draft = OpenDraft.unsaved(KEY, PLACE)
    draft.loading = True
    type_edit(journal, draft, TextEdit(0, 0, "x"), 1, 1)
    log = read_log(journal.path)
    assert replay(Stored("stored ", "", 0), log, log.chains_of("row", KEY)).text == "stored x"
    journal.settle(draft.id, "row", 4, base_text("stored "))
    journal.append("row", TextEdit(8, 0, "y"), 4)
    log = read_log(journal.path)
    assert replay(Stored("stored ", "", 0), log, log.chains_of("row", KEY)).text == "stored xy"
    assert replay(Stored("other", "", 0), log, log.chains_of("row", KEY)).losses
    journal.close()


def test_base_texts_of_equal_length_differ() -> None:
    assert base_text("ab") != base_text("ba") and isinstance(base_text(""), BaseText)
