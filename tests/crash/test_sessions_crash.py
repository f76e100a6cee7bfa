"""Promise 2 and the streaming journal, measured: SIGKILL at every failpoint of sessions, then look."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.base import failpoints
from runtime.base.folder import DataFolder
from tests.crash.harness import Ended, damage, kill_at, passed_failpoints, rows, run_to_end
from tests.crash.session_scenarios import CALLS

STEPS = [
    "workspaces.register",
    "sessions.create",
    "sessions.bind",
    "sessions.observe",
    "sessions.admit",
    "turns.starting",
    "turns.running",
    "stream.batch",
    "turns.end",
    "titles.set",
    "turns.interrupting",
]
LATER = [
    "sessions.create@2",
    "sessions.admit@2",
    "sessions.admit@3",
    "turns.starting@3",
    "stream.batch@3",
    "turns.end@3",
]


def _names() -> list[str]:
    names: list[str] = []
    for step in STEPS + LATER:
        name, at, count = step.partition("@")
        names += [f"{name}.before_commit{at}{count}", f"{name}.after_commit{at}{count}"]
    return names


def _state(folder: DataFolder) -> dict[str, list[Any]]:
    return {
        table: rows(folder.state_database, f"SELECT * FROM {table} ORDER BY 1, 2")
        for table in ("workspaces", "topics", "sessions", "turns", "items", "item_chunks", "receipts")
    }


def _sound(folder: DataFolder, ended: Ended) -> None:
    """I2 to I7 of spec/quality.md."""
    run_to_end("session_scenarios:look", folder)
    database = folder.state_database
    assert damage(database) == []
    # Nothing runs without an owner, and no chunk is left over.
    assert rows(database, "SELECT id FROM turns WHERE ended_at IS NULL") == []
    assert rows(database, "SELECT count(*) FROM item_chunks") == [(0,)]
    assert rows(database, "SELECT id FROM items WHERE state = 'streaming'") == []
    # Each receipt has its turn and its one user item, and the other way round.
    receipts = rows(database, "SELECT submission_id, turn_id FROM receipts ORDER BY 1")
    assert receipts == rows(database, "SELECT submission_id, id FROM turns ORDER BY 1")
    assert sorted(turn for _submission, turn in receipts) == [
        turn for (turn,) in rows(database, "SELECT turn_id FROM items WHERE kind = 'user' ORDER BY 1")
    ]
    # Order without gaps.
    for session, last, count in rows(database, "SELECT id, last_seq, item_count FROM sessions"):
        seqs = [seq for (seq,) in rows(database, "SELECT seq FROM items WHERE session_id = ? ORDER BY 1", session)]
        assert seqs == list(range(1, last + 1)) and count == last
    # What was shown is stored, and what was accepted stays accepted.
    shown = ended.last or {"texts": {}, "receipts": []}
    stored = dict(rows(database, "SELECT id, text FROM items"))
    assert {item: stored.get(item, "")[: len(text)] for item, text in shown["texts"].items()} == shown["texts"]
    assert set(shown["receipts"]) <= {submission for submission, _turn in receipts}
    # The host was called at most once per receipt, and never without one.
    calls = (folder.root / CALLS).read_text().splitlines() if (folder.root / CALLS).exists() else []
    assert len(calls) == len(set(calls)) <= len(receipts)
    state = _state(folder)
    run_to_end("session_scenarios:look", folder)
    assert _state(folder) == state


@pytest.mark.parametrize("failpoint", _names())
def test_a_kill_leaves_every_promise_standing(data_folder: DataFolder, failpoint: str) -> None:
    ended = kill_at("session_scenarios:converse", data_folder, failpoint)
    _sound(data_folder, ended)


@pytest.mark.parametrize("where", ["before_commit", "after_commit"])
def test_a_kill_during_recovery_is_recovered(data_folder: DataFolder, where: str) -> None:
    ended = kill_at("session_scenarios:converse", data_folder, "stream.batch.after_commit@2")
    kill_at("session_scenarios:look", data_folder, f"recovery.interrupt.{where}")
    _sound(data_folder, ended)


def test_S07_two_seconds_of_twenty_tokens_leave_at_least_thirty(data_folder: DataFolder) -> None:
    ended = kill_at("session_scenarios:stream", data_folder, "stream.batch.after_commit@36")
    _sound(data_folder, ended)
    [(text, state)] = rows(data_folder.state_database, "SELECT text, state FROM items WHERE kind = 'assistant'")
    assert len(text.split()) >= 30
    assert state == "interrupted"
    [(turn,)] = rows(data_folder.state_database, "SELECT state FROM turns")
    assert turn == "interrupted"


def test_S10_a_restart_adds_no_message_and_calls_nobody(data_folder: DataFolder) -> None:
    kill_at("session_scenarios:stream", data_folder, "stream.batch.after_commit@4")
    calls = (data_folder.root / CALLS).read_text()
    before = rows(data_folder.state_database, "SELECT id, seq, kind FROM items ORDER BY seq")
    for _again in range(3):
        run_to_end("session_scenarios:look", data_folder)
    assert rows(data_folder.state_database, "SELECT id, seq, kind FROM items ORDER BY seq") == before
    assert (data_folder.root / CALLS).read_text() == calls


def test_S19_three_running_turns_are_interrupted_before_the_list(data_folder: DataFolder) -> None:
    ended = kill_at("session_scenarios:stream_three", data_folder, "titles.set.after_commit")
    shown = run_to_end("session_scenarios:look", data_folder).last
    assert sorted(shown) == [["ses-a", "interrupted"], ["ses-b", "interrupted"], ["ses-c", "interrupted"]]
    _sound(data_folder, ended)


def test_every_failpoint_of_sessions_is_passed_by_a_scenario(data_folder: DataFolder) -> None:
    passed = passed_failpoints("session_scenarios:converse", data_folder)
    kill_at("session_scenarios:stream_three", data_folder, "titles.set.after_commit")
    passed |= passed_failpoints("session_scenarios:look", data_folder)
    mine = {
        name
        for name in failpoints.declared()
        if name.startswith(("sessions.", "turns.", "stream.", "titles.", "recovery.interrupt", "workspaces."))
    }
    assert mine - passed == set()
