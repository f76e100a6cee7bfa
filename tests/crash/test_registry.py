"""No failpoint is only declared: each one of drafts and runtime is passed by a scenario of this folder."""

from __future__ import annotations

import pkgutil
from pathlib import Path

import pytest

import drafts
import runtime
from runtime.base import failpoints
from runtime.base.folder import DataFolder
from runtime.base.loading import load_now
from tests.crash.harness import kill_at, run_child

# In this order, in one folder each: what a start finds to do is what the line before it left.
SCENARIOS = {
    "drafts": (
        "draft_scenarios:write", "draft_scenarios:send_follow_up", "draft_scenarios:give_up",
        "draft_scenarios:collide", "draft_scenarios:write drafts.save.after_commit", "draft_scenarios:look",
    ),
    "submission": (
        "submission_scenarios:fail_continue_cancel", "submission_scenarios:unknown_then_new",
        "submission_scenarios:follow_up",
    ),
    "sessions": (
        "session_scenarios:converse", "session_scenarios:stream_three titles.set.after_commit",
        "session_scenarios:look",
    ),
    "storage": ("storage_scenarios:change_settings", "storage_scenarios:keep_blob"),
}  # fmt: skip


@pytest.fixture(scope="module")
def passed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Every name that was hit in a run of all scenarios."""
    found: set[str] = set()
    for name, lines in SCENARIOS.items():
        root = tmp_path_factory.mktemp(name)
        folder = DataFolder(root / "data")
        folder.prepare()
        for number, line in enumerate(lines):
            found |= _passed(line, folder, root / f"{number}.log")
    return found


def test_every_declared_failpoint_is_passed_by_a_scenario(passed: set[str]) -> None:
    assert sorted(_declared() - passed) == []


def test_no_failpoint_is_passed_that_nobody_declares(passed: set[str]) -> None:
    """A name that is only hit has no promise, and no test would know that it must kill there."""
    assert sorted(passed - _declared()) == []


def _passed(line: str, folder: DataFolder, log: Path) -> set[str]:
    scenario, _, failpoint = line.partition(" ")
    if failpoint:
        kill_at(scenario, folder, failpoint)
        return set()
    ended = run_child(scenario, folder, log=log)
    assert ended.status == 0, f"{scenario} ended with {ended.status}\n{ended.errors}"
    return set(log.read_text(encoding="utf-8").split())


def _declared() -> set[str]:
    """Declared by any module below ``drafts`` and ``runtime``, whoever imports it."""
    for package in (drafts, runtime):
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not module.name.endswith("__main__"):
                load_now(module.name)
    return {name for name in failpoints.declared() if not name.startswith("tests.")}
