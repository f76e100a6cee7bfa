"""B1 and B2: from starting the process to the last conversation's tail painted and the composer focused.

The program says when it is there (``painted`` in its boot trace, after the window was exposed and drawn); the
monotonic clock is the same in all processes. A start as an icon does it: no arguments, the usual data folder. Each
program is killed once it has painted, and what it left in the journal folder is removed before the next start.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from tests.bench import bare_qt
from tests.bench.children import ROOT, environment
from tests.bench.conversations import Filled, empty, full
from tests.bench.figures import Figure, median_ratio
from tests.fakes.display import Display, missing_tools

PAINTED_GOAL, FULL_GOAL = 1.6, 1.1
_LIMIT_SECONDS = 60.0


def run(folder: Path, rounds: int) -> list[Figure]:
    """B1 and B2 from the same interleaved starts. Needs a display server of its own."""
    if missing_tools():
        raise RuntimeError(f"B1 and B2 need {', '.join(missing_tools())}")
    homes = {name: folder / name for name in ("full", "empty")}
    folders = {"full": full(homes["full"] / "Inkfast"), "empty": empty(homes["empty"] / "Inkfast")}
    took: dict[str, list[float]] = {"bare": [], "full": [], "empty": []}
    with Display() as display:
        variables = environment(folder, display.environment())
        for turn in range(rounds + 1):  # the first one warms up
            measured = {"bare": bare_qt.took(variables)}
            measured |= {name: painted(filled, homes[name], variables) for name, filled in folders.items()}
            if turn:
                for name, seconds in measured.items():
                    took[name].append(seconds * 1e3)
    bare, loaded, light = took["bare"], took["full"], took["empty"]
    return [
        Figure("B1", "start to tail painted, 200,000 items", statistics.median(loaded), statistics.median(bare),
               "a process that imports PySide6.QtWidgets", "ms", median_ratio(loaded, bare), PAINTED_GOAL, rounds),
        Figure("B2", "the same, against an empty folder", statistics.median(loaded), statistics.median(light),
               "start with an empty folder", "ms", median_ratio(loaded, light), FULL_GOAL, rounds),
    ]  # fmt: skip


def painted(filled: Filled, home: Path, variables: Mapping[str, str]) -> float:
    """Seconds from starting the program to its first paint."""
    trace = home / "trace.log"
    trace.unlink(missing_ok=True)
    own = {"XDG_DATA_HOME": os.fspath(home), "INKFAST_BOOT_TRACE": os.fspath(trace)}
    begun = time.monotonic()
    program = subprocess.Popen(
        [sys.executable, "-m", "app"], cwd=ROOT, env={**variables, **own},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        return _reached(trace, "painted", program) - begun
    finally:
        program.kill()
        program.communicate()
        shutil.rmtree(filled.folder.draft_journal)


def _reached(trace: Path, stage: str, program: subprocess.Popen[bytes]) -> float:
    """The monotonic second of a stage."""
    deadline = time.monotonic() + _LIMIT_SECONDS
    while time.monotonic() < deadline:
        if trace.exists():
            for line in trace.read_text().splitlines():
                if line.startswith(stage + " "):
                    return float(line.split()[1])
        if program.poll() is not None:
            said = program.stderr.read() if program.stderr else b""
            raise RuntimeError(f"the program ended before {stage}: {said!r}")
        time.sleep(0.02)
    raise RuntimeError(f"the program did not reach {stage}")
