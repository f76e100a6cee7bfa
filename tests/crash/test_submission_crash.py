"""Promises 4 and 5 of spec/drafts.md, measured: SIGKILL at every failpoint of a send, then look."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from drafts import follow_up, operations, repository, worker
from runtime.base.folder import DataFolder
from tests.crash.harness import damage, kill_at, passed_failpoints, rows, run_child, run_to_end
from tests.crash.submission_scenarios import LEDGER, TEXT, gateway

SEND = [
    point
    for step in ("operations.reserve", "operations.starting", "operations.dispatching", "operations.accept_convert")
    for point in (f"{step}.before_commit", f"{step}.after_commit")
]
SEND += ["submission.before_admit", "submission.after_admit", "drafts.convert"]
PHASES = [f"operations.phase.{when}_commit{at}" for when in ("before", "after") for at in ("", "@2", "@3", "@4")]
EDITABLE = {"terminal_failed", "cancelled", "abandoned", None}
RESUMABLE = {"resume_required", "runtime_failed"}


def _state(folder: DataFolder) -> dict[str, Any]:
    database = folder.drafts_database
    return {
        "drafts": rows(
            database, "SELECT id, key, revision, status, content_json, pending_submission_id FROM drafts ORDER BY id"
        ),
        "operations": rows(
            database,
            "SELECT id, phase, error_code, operation_revision, session_id, submission_id, "
            "request_json FROM operations ORDER BY rowid",
        ),
        "ledger": (folder.root / LEDGER).read_text() if (folder.root / LEDGER).exists() else "",
    }


def _recovered(folder: DataFolder) -> None:
    """I6, I7, and that looking is inert."""
    assert run_to_end("submission_scenarios:look", folder).last == "inert"
    after = _state(folder)
    assert damage(folder.drafts_database) == []
    for _again in range(2):
        run_to_end("submission_scenarios:look", folder)
        assert _state(folder) == after


def _outcome(folder: DataFolder) -> str:
    """Which one of the four it is; fails if it is none, or if the text is not what was typed."""
    [(draft, status, text)] = rows(
        folder.drafts_database,
        "SELECT id, status, json_extract(content_json, '$.text') FROM drafts WHERE surface = 'workspace'",
    )
    found = rows(
        folder.drafts_database,
        "SELECT phase, json_extract(request_json, '$.content.text'), submission_id "
        "FROM operations WHERE draft_id = ? ORDER BY rowid",
        draft,
    )
    assert text.startswith(TEXT)
    assert all(frozen.startswith(TEXT) for _phase, frozen, _submission in found)
    phase = found[-1][0] if found else None
    receipts = gateway(folder).receipts
    accepted = [submission for _phase, _frozen, submission in found if submission in receipts]
    # I3: a receipt means accepted and converted, and nothing else does.
    assert (status == "converted") == (phase == "accepted") == (bool(found) and found[-1][2] in accepted)
    if status == "converted":
        return "accepted"
    return "editable" if phase in EDITABLE else "resumable" if phase in RESUMABLE else str(phase)


def _admissions(folder: DataFolder) -> Counter[str]:
    return Counter(gateway(folder).admissions())


@pytest.mark.parametrize("failpoint", SEND)
def test_S05_a_kill_leaves_exactly_one_of_the_four_and_the_text(data_folder: DataFolder, failpoint: str) -> None:
    kill_at("submission_scenarios:send", data_folder, failpoint)
    handed_over = _admissions(data_folder)
    assert sum(handed_over.values()) <= 1
    _recovered(data_folder)
    expected = {
        "operations.reserve.before_commit": "editable",
        "operations.reserve.after_commit": "resumable",
        "operations.starting.before_commit": "resumable",
        "operations.starting.after_commit": "resumable",
        "operations.dispatching.before_commit": "resumable",
        "operations.dispatching.after_commit": "dispatch_unknown",
        "submission.before_admit": "dispatch_unknown",
    }
    assert _outcome(data_folder) == expected.get(failpoint, "accepted")
    assert _admissions(data_folder) == handed_over
    run_to_end("submission_scenarios:go_on", data_folder)
    assert _outcome(data_folder) == (
        "dispatch_unknown" if expected.get(failpoint) == "dispatch_unknown" else "accepted"
    )
    assert max(_admissions(data_folder).values(), default=0) <= 1
    assert sum(_admissions(data_folder).values()) <= 1


def test_S04_a_kill_between_the_hand_over_and_the_receipt_is_unknown_and_never_replayed(
    data_folder: DataFolder,
) -> None:
    assert run_child("submission_scenarios:die_handed_over", data_folder).killed
    _recovered(data_folder)
    assert _outcome(data_folder) == "dispatch_unknown"
    run_to_end("submission_scenarios:go_on", data_folder)
    assert _outcome(data_folder) == "dispatch_unknown"
    assert sum(_admissions(data_folder).values()) == 1


def test_a_receipt_that_nobody_heard_of_is_an_acceptance(data_folder: DataFolder) -> None:
    assert run_child("submission_scenarios:die_receipt_written", data_folder).killed
    _recovered(data_folder)
    assert _outcome(data_folder) == "accepted"
    assert sum(_admissions(data_folder).values()) == 1


@pytest.mark.parametrize("failpoint", PHASES)
def test_a_kill_around_failure_continue_and_cancel_dispatches_nothing(data_folder: DataFolder, failpoint: str) -> None:
    kill_at("submission_scenarios:fail_continue_cancel", data_folder, failpoint)
    assert _admissions(data_folder) == {}
    _recovered(data_folder)
    assert _outcome(data_folder) in {"editable", "resumable"}
    assert _admissions(data_folder) == {}
    run_to_end("submission_scenarios:go_on", data_folder)
    assert _outcome(data_folder) == "accepted"
    assert sum(_admissions(data_folder).values()) == 1


@pytest.mark.parametrize(
    "failpoint",
    [
        "operations.phase.before_commit",
        "operations.phase.after_commit",
        "operations.phase.before_commit@2",
        "operations.phase.after_commit@2",
        "operations.reserve.before_commit@2",
        "operations.reserve.after_commit@2",
    ],
)
def test_a_kill_around_send_as_new_hands_each_submission_over_at_most_once(
    data_folder: DataFolder, failpoint: str
) -> None:
    kill_at("submission_scenarios:unknown_then_new", data_folder, failpoint)
    _recovered(data_folder)
    assert _outcome(data_folder) in {"editable", "resumable", "dispatch_unknown"}
    assert max(_admissions(data_folder).values()) == 1
    assert sum(_admissions(data_folder).values()) == 1


@pytest.mark.parametrize("failpoint", ["operations.phase.before_commit", "operations.phase.after_commit"])
def test_a_kill_during_recovery_changes_nothing(data_folder: DataFolder, failpoint: str) -> None:
    kill_at("submission_scenarios:send", data_folder, "submission.before_admit")
    kill_at("submission_scenarios:look", data_folder, failpoint)
    _recovered(data_folder)
    assert _outcome(data_folder) == "dispatch_unknown"


@pytest.mark.parametrize(
    "failpoint", ["operations.accept_convert.before_commit", "drafts.convert", "operations.accept_convert.after_commit"]
)
def test_a_kill_while_recovery_accepts_changes_nothing(data_folder: DataFolder, failpoint: str) -> None:
    kill_at("submission_scenarios:send", data_folder, "submission.after_admit")
    kill_at("submission_scenarios:look", data_folder, failpoint)
    _recovered(data_folder)
    assert _outcome(data_folder) == "accepted"


@pytest.mark.parametrize(
    ("failpoint", "text", "admissions"),
    [
        ("drafts.pending.before_commit", TEXT, 0),
        ("drafts.pending.after_commit", TEXT, 0),
        ("follow_up.before_admit", TEXT, 0),
        ("follow_up.after_admit", "", 1),
        ("drafts.clear.before_commit", "", 1),
        ("drafts.clear.after_commit", "", 1),
    ],
)
def test_a_follow_up_is_cleared_by_its_receipt_alone(
    data_folder: DataFolder, failpoint: str, text: str, admissions: int
) -> None:
    kill_at("submission_scenarios:follow_up", data_folder, failpoint)
    _recovered(data_folder)
    assert rows(
        data_folder.drafts_database, "SELECT json_extract(content_json, '$.text'), pending_submission_id FROM drafts"
    ) == [(text, "")]
    assert sum(_admissions(data_folder).values()) == admissions


def test_every_failpoint_of_a_send_is_passed_by_a_scenario(data_folder: DataFolder) -> None:
    passed: set[str] = set()
    for scenario in ("send", "fail_continue_cancel", "unknown_then_new", "follow_up"):
        passed |= passed_failpoints(f"submission_scenarios:{scenario}", data_folder)
    steps = (operations.RESERVE, operations.STARTING, operations.DISPATCHING, operations.ACCEPT, operations.PHASE)
    mine = {name for step in steps for name in (step.before, step.after)}
    mine |= {worker.BEFORE_ADMIT, worker.AFTER_ADMIT, follow_up.BEFORE_ADMIT, follow_up.AFTER_ADMIT, repository.CONVERT}
    assert mine - passed == set()
    assert json.loads((data_folder.root / LEDGER).read_text().splitlines()[0])["kind"] == "admission"
