"""Kill a real process at a named place and look at what it left (spec/quality.md section 2).

A scenario is an async function ``(folder: DataFolder) -> None`` in a module of ``tests/crash``; it is named
``module:function`` and run as ``python -m tests.crash.child module:function DATA_DIR`` with the failpoint in
its environment. It calls :func:`painted` after each thing that a person would have seen; those lines are what
must come back.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from runtime.base.folder import DataFolder

ROOT = Path(__file__).resolve().parents[2]
_MARK = "painted "


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended, and what it had shown until then."""

    status: int
    shown: list[Any]
    output: str
    errors: str

    @property
    def killed(self) -> bool:
        return self.status == -signal.SIGKILL

    @property
    def last(self) -> Any:
        """The newest thing that was shown; None if there was nothing."""
        return self.shown[-1] if self.shown else None


def painted(value: Any) -> None:
    """In a scenario: this is on the screen now."""
    sys.stdout.write(_MARK + json.dumps(value) + "\n")
    sys.stdout.flush()


def run_child(scenario: str, folder: DataFolder, *, failpoint: str = "", log: Path | None = None) -> Ended:
    """Run ``scenario`` to its end or its kill. ``failpoint`` may be ``name``, ``name@3`` or ``name:raise``."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INKFAST_")}
    if failpoint:
        environment["INKFAST_FAILPOINT"] = failpoint
    if log is not None:
        environment["INKFAST_FAILPOINT_LOG"] = os.fspath(log)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.crash.child", scenario, os.fspath(folder.root)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    shown = [json.loads(line.removeprefix(_MARK)) for line in done.stdout.splitlines() if line.startswith(_MARK)]
    return Ended(done.returncode, shown, done.stdout, done.stderr)


def kill_at(scenario: str, folder: DataFolder, failpoint: str) -> Ended:
    """Run until the kill; fails if the scenario never passes ``failpoint``."""
    ended = run_child(scenario, folder, failpoint=failpoint)
    assert ended.killed, f"{scenario} was not killed at {failpoint}: status {ended.status}\n{ended.errors}"
    return ended


def run_to_end(scenario: str, folder: DataFolder) -> Ended:
    """Run undisturbed."""
    ended = run_child(scenario, folder)
    assert ended.status == 0, f"{scenario} ended with {ended.status}\n{ended.errors}"
    return ended


def passed_failpoints(scenario: str, folder: DataFolder) -> set[str]:
    """The failpoints that an undisturbed run passes."""
    log = folder.root / "failpoints.log"
    ended = run_child(scenario, folder, log=log)
    assert ended.status == 0, f"{scenario} ended with {ended.status}\n{ended.errors}"
    return set(log.read_text(encoding="utf-8").split()) if log.exists() else set()


def damage(database: Path) -> list[str]:
    """I6: what ``integrity_check`` and ``foreign_key_check`` complain about; empty for a sound file."""
    if not database.exists():
        return []
    connection = apsw.Connection(os.fspath(database))
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        return found + [f"foreign key {row}" for row in connection.execute("PRAGMA foreign_key_check")]
    finally:
        connection.close()


def rows(database: Path, query: str, *values: str | int) -> list[tuple[Any, ...]]:
    """Read a closed database for a comparison."""
    connection = apsw.Connection(os.fspath(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return list(connection.execute(query, values))
    finally:
        connection.close()
