"""No failpoint is only declared: each one of drafts and runtime is passed by a scenario of this folder."""

from __future__ import annotations

import pkgutil
from pathlib import Path

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


def test_every_declared_failpoint_is_passed_by_a_scenario(tmp_path: Path) -> None:
    passed: set[str] = set()
    for name, lines in SCENARIOS.items():
        folder = DataFolder(tmp_path / name)
        folder.prepare()
        for number, line in enumerate(lines):
            passed |= _passed(line, folder, tmp_path / f"{name}-{number}.log")
    assert sorted(_declared() - passed) == []


def test_every_failpoint_that_a_scenario_passes_is_declared() -> None:
    """A kill at a name that nobody declares would never come, and the test would wait for it in vain."""
    assert all(promise for promise in failpoints.declared().values())
    assert _declared()


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
