"""The real program as a child process, watched through its boot trace and its data folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import apsw

ROOT = Path(__file__).resolve().parents[2]


def wait_for(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Poll another process; the only place where a test may wait for real time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:.0f} s: {what}")
        time.sleep(0.02)


class Program:
    """``inkfast`` with a window on a display, or any of its commands."""

    def __init__(self, data: Path, environment: Mapping[str, str], *arguments: str) -> None:
        self.data = data
        self._trace = data.parent / f"trace-{time.monotonic_ns()}.log"
        self._errors = self._trace.with_suffix(".stderr")
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "app", "--data-dir", os.fspath(data), *arguments],
                cwd=ROOT,
                env={**environment, "INKFAST_BOOT_TRACE": os.fspath(self._trace)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def stages(self) -> dict[str, float]:
        """Boot stages reached so far with their monotonic seconds."""
        if not self._trace.exists():
            return {}
        rows = [line.split() for line in self._trace.read_text().splitlines()]
        return {row[0]: float(row[1]) for row in rows if len(row) == 2}

    def wait_stage(self, stage: str, seconds: float = 60.0) -> None:
        def reached() -> bool:
            if self.process.poll() is not None and stage not in self.stages():
                raise AssertionError(f"ended with {self.process.returncode} before {stage}: {self.errors()}")
            return stage in self.stages()

        wait_for(reached, f"boot stage {stage}", seconds)

    def errors(self) -> str:
        return self._errors.read_text(errors="replace")

    def kill(self) -> None:
        """SIGKILL, as a crash or the system would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=30)

    def quit(self) -> int:
        """SIGTERM: the same orderly shutdown as the close button."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


def rows(path: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    """Read another process's database without writing to it."""
    if not path.exists():
        return []
    connection = apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.set_busy_timeout(5_000)
        return [tuple(row) for row in connection.execute(sql, values)]  # type: ignore[arg-type]
    finally:
        connection.close()
