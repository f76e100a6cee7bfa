"""B17: the first send on a cold program, against the engine's own start and first token; then a second send."""

from __future__ import annotations

import os
import statistics
from pathlib import Path

from tests.bench.children import environment, told
from tests.bench.figures import Figure, median_ratio

FIRST_GOAL, SECOND_GOAL = 3.0, 1.2
TEXTS = ["Name three colours of the sea.", "Name three kinds of clouds."]


def run(folder: Path, rounds: int) -> list[Figure]:
    """First send, second send, and the second against the warm engine's own first token."""
    variables = environment(folder)
    ours: list[dict[str, float]] = []
    bare: list[dict[str, float]] = []
    for turn in range(rounds + 1):  # the first one warms up
        data = folder / f"data-{turn}"
        mine = told("tests.bench.cold_program", [os.fspath(data), *TEXTS], variables)
        yard = told("tests.bench.bare_engine", [os.fspath(data / "models"), *TEXTS], variables)
        if turn:
            ours.append(mine)
            bare.append(yard)
    start = "engine's start and first token"
    firsts, seconds = _milliseconds(ours, "first"), _milliseconds(ours, "second")
    cold, warm = _milliseconds(bare, "first"), _milliseconds(bare, "second")
    return [
        _figure("first send to first token", firsts, cold, (start, FIRST_GOAL)),
        _figure("second send to first token", seconds, cold, (start, SECOND_GOAL)),
        _figure("second send, engine warm", seconds, warm, ("warm engine's first token", 0)),
    ]


def _milliseconds(rounds: list[dict[str, float]], key: str) -> list[float]:
    return [one[key] * 1e3 for one in rounds]


def _figure(what: str, mine: list[float], yard: list[float], terms: tuple[str, float]) -> Figure:
    return Figure(
        id="B17", what=what, ours=statistics.median(mine), yardstick=statistics.median(yard), yardstick_what=terms[0],
        unit="ms", ratio=median_ratio(mine, yard), goal=terms[1], rounds=len(mine),
    )  # fmt: skip
