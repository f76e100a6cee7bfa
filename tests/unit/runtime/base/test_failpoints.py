"""Failpoints cost nothing unless armed, and then kill or fail exactly where they say."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.base import failpoints

PROGRAM = """
from runtime.base import failpoints
SAVE = failpoints.step("save", "whole or not")
for number in range(3):
    failpoints.hit(SAVE.before)
    print("commit", number, flush=True)
    failpoints.hit(SAVE.after)
"""


def _run(**environment: str) -> tuple[int, list[str], str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_unarmed_points_are_passed() -> None:
    assert _run(INKFAST_FAILPOINT="") == (0, ["commit 0", "commit 1", "commit 2"], "")
    assert _run(INKFAST_FAILPOINT="another.point")[0] == 0


@pytest.mark.parametrize(
    ("armed", "printed"),
    [("save.before_commit", 0), ("save.after_commit", 1), ("save.before_commit@3", 2), ("save.after_commit@3", 3)],
)
def test_an_armed_point_kills_there(armed: str, printed: int) -> None:
    status, lines, _ = _run(INKFAST_FAILPOINT=armed)
    assert status == -signal.SIGKILL
    assert len(lines) == printed


def test_a_point_may_fail_instead() -> None:
    status, lines, errors = _run(INKFAST_FAILPOINT="save.before_commit@2:raise")
    assert (status, lines) == (1, ["commit 0"])
    assert "failpoint save.before_commit" in errors


def test_what_is_passed_can_be_listed(tmp_path: Path) -> None:
    _run(INKFAST_FAILPOINT_LOG=str(tmp_path / "hits"))
    assert (tmp_path / "hits").read_text(encoding="utf-8").split() == ["save.before_commit", "save.after_commit"]


def test_a_name_is_declared_once() -> None:
    name = failpoints.declare("tests.declared_once", "nothing")
    assert failpoints.declared()[name] == "nothing"
    with pytest.raises(ValueError, match="declared twice"):
        failpoints.declare("tests.declared_once", "nothing")
