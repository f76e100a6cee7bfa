"""Promise 1 and 2 of spec/drafts.md, measured: SIGKILL at every failpoint of drafts, then look."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.base import failpoints
from runtime.base.folder import DataFolder
from tests.crash.harness import damage, kill_at, passed_failpoints, rows, run_to_end

ORDINARY = [
    "journal.append.before_commit",
    "journal.append.after_commit",
    "journal.append.before_commit@7",
    "journal.append.after_commit@12",
    "journal.cut.before_commit",
    "journal.cut.after_commit",
    "drafts.insert.before_commit",
    "drafts.insert.after_commit",
    "drafts.insert.before_commit@2",
    "drafts.insert.after_commit@2",
    "drafts.save.before_commit",
    "drafts.save.after_commit",
    "drafts.save.before_commit@2",
    "drafts.save.after_commit@2",
    "drafts.restore.before_commit",
    "drafts.restore.after_commit",
    "drafts.restore.before_commit@2",
    "drafts.restore.after_commit@2",
]


def _state(folder: DataFolder) -> dict[str, Any]:
    """Everything that must not change any more: rows, copies, earlier versions, journals."""
    database = folder.drafts_database
    return {
        "drafts": rows(
            database,
            "SELECT id, surface, key, revision, content_json, settings_json, status, "
            "pending_submission_id FROM drafts ORDER BY id",
        ),
        "conflicts": rows(database, "SELECT * FROM conflicts ORDER BY id"),
        "revisions": rows(database, "SELECT * FROM revisions ORDER BY draft_id, revision"),
        # An empty one holds nothing; it is left for a minute, for its writer may just have made it.
        "journals": sorted(path.name for path in folder.draft_journal.iterdir() if path.stat().st_size),
    }


def _texts(folder: DataFolder) -> dict[str, str]:
    return dict(
        rows(
            folder.drafts_database,
            "SELECT key, json_extract(content_json, '$.text') FROM drafts WHERE status = 'active' ORDER BY created_at",
        )
    )


def _recovered_once_and_for_all(folder: DataFolder) -> None:
    """I6 and I7."""
    run_to_end("draft_scenarios:look", folder)
    after = _state(folder)
    assert damage(folder.drafts_database) == []
    assert after["journals"] == []
    for _again in range(2):
        run_to_end("draft_scenarios:look", folder)
        assert _state(folder) == after


@pytest.mark.parametrize("failpoint", ORDINARY)
def test_everything_painted_comes_back(data_folder: DataFolder, failpoint: str) -> None:
    ended = kill_at("draft_scenarios:write", data_folder, failpoint)
    _recovered_once_and_for_all(data_folder)
    found = _texts(data_folder)
    for key, text in (ended.last or {}).items():
        written = found.get(key, "")
        # A key whose record was written but not yet painted may be there as well.
        assert written == text or (len(written) > len(text) and written.startswith(text)), key


@pytest.mark.parametrize("where", ["before_commit", "after_commit"])
@pytest.mark.parametrize("failpoint", ["drafts.fold", "journal.remove"])
def test_a_kill_during_recovery_loses_nothing_either(data_folder: DataFolder, failpoint: str, where: str) -> None:
    ended = kill_at("draft_scenarios:write", data_folder, "drafts.save.after_commit@2")
    kill_at("draft_scenarios:look", data_folder, f"{failpoint}.{where}")
    _recovered_once_and_for_all(data_folder)
    assert _texts(data_folder) == ended.last


@pytest.mark.parametrize(
    "failpoint",
    [
        "drafts.pending.before_commit",
        "drafts.pending.after_commit",
        "drafts.clear.before_commit",
        "drafts.clear.after_commit",
    ],
)
def test_a_follow_up_is_there_with_its_pending_id_or_both_are_gone(data_folder: DataFolder, failpoint: str) -> None:
    kill_at("draft_scenarios:send_follow_up", data_folder, failpoint)
    _recovered_once_and_for_all(data_folder)
    [(text, pending)] = rows(
        data_folder.drafts_database, "SELECT json_extract(content_json, '$.text'), pending_submission_id FROM drafts"
    )
    expected = {"drafts.pending.before_commit": ("go on", ""), "drafts.clear.after_commit": ("", "")}
    assert (text, pending) == expected.get(failpoint, ("go on", "sub-1"))


@pytest.mark.parametrize(
    ("failpoint", "status"), [("drafts.discard.before_commit", "active"), ("drafts.discard.after_commit", "discarded")]
)
def test_a_draft_is_discarded_or_it_is_not(data_folder: DataFolder, failpoint: str, status: str) -> None:
    kill_at("draft_scenarios:give_up", data_folder, failpoint)
    _recovered_once_and_for_all(data_folder)
    assert rows(data_folder.drafts_database, "SELECT status, json_extract(content_json, '$.text') FROM drafts") == [
        (status, "never mind")
    ]


@pytest.mark.parametrize(
    "failpoint",
    [
        "drafts.conflict.before_commit",
        "drafts.conflict.after_commit",
        "drafts.drop_conflict.before_commit",
        "drafts.drop_conflict.after_commit",
    ],
)
def test_both_sides_of_a_collision_are_kept(data_folder: DataFolder, failpoint: str) -> None:
    kill_at("draft_scenarios:collide", data_folder, failpoint)
    _recovered_once_and_for_all(data_folder)
    stored: set[str] = set()
    for table in ("drafts", "conflicts", "revisions"):
        stored |= {
            text
            for (text,) in rows(
                data_folder.drafts_database, f"SELECT json_extract(content_json, '$.text') FROM {table}"
            )
        }
    assert {"base mine", "base theirs"} <= stored


def test_every_failpoint_of_the_store_is_passed_by_a_scenario(data_folder: DataFolder) -> None:
    passed: set[str] = set()
    for scenario in ("write", "send_follow_up", "give_up", "collide"):
        passed |= passed_failpoints(f"draft_scenarios:{scenario}", data_folder)
    kill_at("draft_scenarios:write", data_folder, "drafts.save.after_commit")
    passed |= passed_failpoints("draft_scenarios:look", data_folder)
    mine = {name for name in failpoints.declared() if name.startswith(("journal.", "drafts."))}
    elsewhere = {"drafts.convert"}  # in the transaction that accepts an operation
    assert {name for name in mine - passed - elsewhere if _of_the_store(name)} == set()


def _of_the_store(name: str) -> bool:
    return name.rpartition(".")[0] in {
        "journal.append",
        "journal.cut",
        "journal.remove",
        "drafts.insert",
        "drafts.save",
        "drafts.conflict",
        "drafts.fold",
        "drafts.pending",
        "drafts.clear",
        "drafts.discard",
        "drafts.restore",
        "drafts.drop_conflict",
    }
