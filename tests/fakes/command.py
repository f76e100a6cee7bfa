"""``inkfast COMMAND`` as a real process: what it printed, and how it ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.program import ROOT

# A suite that runs in the background has SIGINT ignored, which its children inherit.
_LISTENING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from app.__main__ import main
main()
"""


@dataclass(frozen=True, slots=True)
class Result:
    """``out`` and ``err`` as the bytes were written, read as UTF-8."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Shell:
    """Runs commands on one data folder, without a display."""

    def __init__(self, data: Path) -> None:
        self.data = data
        hidden = {"DISPLAY", "WAYLAND_DISPLAY", "INKFAST_HOME"}
        self._environment = {name: value for name, value in os.environ.items() if name not in hidden}

    def run(self, *arguments: str, given: bytes = b"", environment: Mapping[str, str] | None = None) -> Result:
        """Run to the end; no output of any command ever shows a traceback."""
        done = subprocess.run(
            self._line(arguments),
            cwd=ROOT,
            env={**self._environment, **(environment or {})},
            timeout=100,
            check=False,
            capture_output=True,
            input=given,
        )
        return _result(done.returncode, done.stdout, done.stderr)

    def start(self, *arguments: str) -> Running:
        """Begin a command whose output is read as it comes."""
        return Running(
            subprocess.Popen(
                [sys.executable, "-c", _LISTENING, *self._line(arguments)[3:]],
                cwd=ROOT,
                env=self._environment,
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        )

    def _line(self, arguments: tuple[str, ...]) -> list[str]:
        return [sys.executable, "-m", "app", "--data-dir", os.fspath(self.data), *arguments]


class Running:
    """A command that has not ended yet."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def first_output(self) -> str:
        """Wait for the first bytes of the answer."""
        assert self.process.stdout is not None
        return self.process.stdout.read(1).decode(errors="replace")

    def end(self, number: int | None = None) -> Result:
        """Send a signal, if one is given, and wait for the end."""
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=100)
        return _result(self.process.returncode, out, err)


def _result(status: int, out: bytes, err: bytes) -> Result:
    result = Result(status, out.decode(errors="replace"), err.decode(errors="replace"))
    assert "Traceback" not in result.err and "Exception ignored" not in result.err, result.err
    return result
