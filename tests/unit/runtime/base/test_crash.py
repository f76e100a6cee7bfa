"""A leftover file is the crash report of the last run; reports hold no content and stay local."""

from __future__ import annotations

import faulthandler
import json
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.base.crash import KEPT, CrashGuard
from tests.fakes.clock import FakeClock

SECRET_TEXT = "my diary entry"
CHILD = """
import sys
from pathlib import Path
from runtime.base.clock import SystemClock
from runtime.base.crash import CrashGuard

guard = CrashGuard.arm(Path(sys.argv[1]), SystemClock())
{then}
"""


@pytest.fixture(autouse=True)
def _keep_faulthandler() -> Iterator[None]:
    """pytest has its own; give it back."""
    enabled = faulthandler.is_enabled()
    yield
    if enabled:
        faulthandler.enable()


def _run(folder: Path, then: str) -> int:
    code = CHILD.format(then=then)
    return subprocess.run([sys.executable, "-c", code, str(folder)], capture_output=True, check=False).returncode


def _next(folder: Path) -> CrashGuard:
    guard = CrashGuard.arm(folder, FakeClock())
    guard.disarm()
    return guard


def test_a_clean_end_leaves_nothing_behind(tmp_path: Path) -> None:
    assert _run(tmp_path, "guard.started(); guard.disarm(); guard.disarm()") == 0
    assert list(tmp_path.iterdir()) == []
    assert _next(tmp_path).last_run.ended == "clean"


def test_a_killed_process_is_told_from_a_crashed_one(tmp_path: Path) -> None:
    assert _run(tmp_path, "import os; os.kill(os.getpid(), 9)") != 0
    last = _next(tmp_path).last_run
    assert (last.ended, last.report) == ("killed", None)


def test_a_crash_leaves_its_report(tmp_path: Path) -> None:
    assert _run(tmp_path, "import ctypes; ctypes.string_at(0)") != 0
    last = _next(tmp_path).last_run
    assert last.ended == "crashed"
    assert last.report is not None
    assert "Segmentation fault" in last.report.read_text(encoding="utf-8")
    assert _next(tmp_path).last_run.ended == "clean"


def test_starts_that_fail_in_a_row_are_counted(tmp_path: Path) -> None:
    kill = "import os; os.kill(os.getpid(), 9)"
    _run(tmp_path, kill)
    _run(tmp_path, kill)
    assert _next(tmp_path).last_run.failed_starts == 2
    _run(tmp_path, f"guard.started(); {kill}")
    assert _next(tmp_path).last_run.failed_starts == 0


def test_a_bug_report_holds_places_and_no_texts(tmp_path: Path) -> None:
    guard = CrashGuard.arm(tmp_path, FakeClock())
    seen: list[BaseException] = []
    try:
        raise ValueError(SECRET_TEXT)
    except ValueError as error:
        guard.excepthook(lambda _kind, value, _places: seen.append(value))(ValueError, error, error.__traceback__)
    guard.disarm()
    (report,) = tmp_path.glob("bug-*.json")
    text = report.read_text(encoding="utf-8")
    assert SECRET_TEXT not in text
    assert json.loads(text)["error"]["type"] == "ValueError"
    assert "test_crash.py" in text
    assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert len(seen) == 1


def test_a_full_disk_does_not_hide_the_bug(tmp_path: Path) -> None:
    guard = CrashGuard.arm(tmp_path, FakeClock())
    guard.disarm()
    tmp_path.rmdir()
    assert guard.record(ValueError(SECRET_TEXT)) is None


async def test_only_the_newest_reports_are_kept(tmp_path: Path) -> None:
    clock = FakeClock()
    guard = CrashGuard.arm(tmp_path, clock)
    for _ in range(KEPT + 5):
        await clock.advance(1)
        guard.record(ValueError())
    guard.disarm()
    reports = sorted(tmp_path.glob("bug-*.json"))
    assert len(reports) == KEPT
    assert str(clock.now_ms()) in reports[-1].name
