"""A measured figure beside its yardstick, and how figures are shown and stored (spec/quality.md section 1)."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import apsw

MIN_ROUNDS = 7


@dataclass(frozen=True, slots=True)
class Figure:
    """``ratio`` is ours over the yardstick (``at_least`` turns the goal around); times in ``unit``.

    ``goal`` 0 is a figure that is shown without a goal.
    """

    id: str
    what: str
    ours: float
    yardstick: float
    yardstick_what: str
    unit: str
    ratio: float
    goal: float
    rounds: int
    at_least: bool = False

    @property
    def met(self) -> bool | None:
        if not self.goal:
            return None
        return self.ratio >= self.goal if self.at_least else self.ratio <= self.goal


def median_ratio(ours: Sequence[float], yardstick: Sequence[float]) -> float:
    """The ratio of the medians: rounds are interleaved, so both saw the same machine."""
    return statistics.median(ours) / statistics.median(yardstick)


def percentile(values: Iterable[float], percent: float) -> float:
    """The value below which ``percent`` of them lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def machine() -> dict[str, str | float]:
    """What the figures depend on. Nothing that names a machine or a person."""
    return {
        "cores": os.cpu_count() or 0,
        "system": platform.system(),
        "python": platform.python_version(),
        "qt": version("PySide6-Essentials"),
        "sqlite": apsw.sqlite_lib_version(),
        "sqlite_of_python": sqlite3.sqlite_version,
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else 0,
    }


def table(figures: Sequence[Figure]) -> str:
    """Columns that fit a terminal."""
    head = ("#", "what", "ours", "yardstick", "ratio", "goal", "")
    rows = [head, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def store(path: Path, figures: Sequence[Figure]) -> None:
    """Write the JSON of a run; ``bench/latest.json`` is not committed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{**asdict(figure), "met": figure.met} for figure in figures]
    path.write_text(json.dumps({"machine": machine(), "figures": rows}, indent=2) + "\n", encoding="utf-8")


def _row(figure: Figure) -> tuple[str, ...]:
    sign = "≥" if figure.at_least else "≤"
    goal = f"{sign} {figure.goal:g} ×" if figure.goal else "–"
    verdict = {True: "met", False: "missed", None: ""}[figure.met]
    return (
        figure.id, figure.what, f"{figure.ours:.4g} {figure.unit}", f"{figure.yardstick:.4g} {figure.unit}",
        f"{figure.ratio:.2f} ×", goal, verdict,
    )  # fmt: skip
