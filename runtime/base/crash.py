"""Crash reports that stay local: a file that is still there at the next start *is* the report of the last run.

One process per data folder has the window, so one name is enough. The file is opened for ``faulthandler`` at the
start and removed by a clean end: left behind empty it means that the process was killed, with text in it that it
crashed. Reports hold types, codes and places, never texts (spec/shell.md section 6).
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal

from runtime.base.clock import Clock
from runtime.base.traces import describe

KEPT = 10
Ended = Literal["clean", "killed", "crashed"]


@dataclass(frozen=True, slots=True)
class LastRun:
    """How the run before this one ended, and its report if it crashed.

    ``failed_starts`` counts the starts in a row, just before this one, that never reached :meth:`CrashGuard.started`.
    """

    ended: Ended
    report: Path | None
    failed_starts: int


class CrashGuard:
    """Made by :meth:`arm` once the process owns the data folder, ended by :meth:`disarm` on a clean exit."""

    def __init__(self, folder: Path, clock: Clock, last_run: LastRun, file: BinaryIO) -> None:
        self._folder = folder
        self._clock = clock
        self._file = file
        self.last_run = last_run

    @staticmethod
    def arm(folder: Path, clock: Clock) -> CrashGuard:
        """Look at what the last run left in ``folder``, then watch this one. Raises OSError if it is unusable."""
        running = folder / "running"
        ended, report = _collect(folder, running, clock)
        last_run = LastRun(ended, report, _starts(folder))
        _write(folder / "starting", str(last_run.failed_starts + 1).encode())
        file = os.fdopen(os.open(running, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb")
        faulthandler.enable(file, all_threads=True)
        _prune(folder)
        return CrashGuard(folder, clock, last_run, file)

    def started(self) -> None:
        """The window is usable: this start counts as a good one."""
        (self._folder / "starting").unlink(missing_ok=True)

    def disarm(self) -> None:
        """A clean end leaves nothing behind. Harmless when repeated."""
        if self._file.closed:
            return
        faulthandler.disable()
        self._file.close()
        (self._folder / "running").unlink(missing_ok=True)
        self.started()

    def record(self, error: BaseException) -> Path | None:
        """Write a content-free report of a bug that did not end the process; None if the disk is in the way."""
        report = {
            "time_ms": self._clock.now_ms(),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "error": describe(error),
        }
        path = self._folder / f"bug-{self._clock.now_ms()}-{os.getpid()}.json"
        try:
            _write(path, json.dumps(report, indent=1).encode())
            _prune(self._folder)
        except OSError:
            return None
        return path

    def excepthook(
        self, then: Callable[[type[BaseException], BaseException, TracebackType | None], object] = sys.__excepthook__
    ) -> Callable[[type[BaseException], BaseException, TracebackType | None], None]:
        """A hook for ``sys.excepthook`` that records the bug and goes on with ``then``."""

        def hook(kind: type[BaseException], error: BaseException, places: TracebackType | None) -> None:
            if not issubclass(kind, KeyboardInterrupt):
                self.record(error)
            then(kind, error, places)

        return hook


def _collect(folder: Path, running: Path, clock: Clock) -> tuple[Ended, Path | None]:
    if not running.exists():
        return "clean", None
    if running.stat().st_size == 0:
        return "killed", None
    report = folder / f"crash-{clock.now_ms()}.txt"
    os.replace(running, report)
    return "crashed", report


def _starts(folder: Path) -> int:
    try:
        return int((folder / "starting").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0


def _write(path: Path, data: bytes) -> None:
    with open(os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
        file.write(data)


def _prune(folder: Path) -> None:
    """Keep the newest reports."""
    reports = [*folder.glob("crash-*.txt"), *folder.glob("bug-*.json")]
    reports.sort(key=lambda path: path.name.split("-", 1)[1])
    for path in reports[:-KEPT]:
        with contextlib.suppress(OSError):
            path.unlink()
