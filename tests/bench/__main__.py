"""``python -m tests.bench [--only B10] [--rounds N]``: speed against yardsticks of the same run.

Writes a table to the terminal and ``bench/latest.json``. No figure is a test: machines are noisy, ratios less so.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench import first_send, items, saving, start
from tests.bench.figures import MIN_ROUNDS, Figure, machine, store, table

LATEST = Path(__file__).resolve().parents[2] / "bench" / "latest.json"
Benchmark = Callable[[Path, int], list[Figure]]
BENCHMARKS: dict[str, Benchmark] = {
    "B1": start.run,
    "B2": start.run,
    "B10": saving.run,
    "B11": items.run,
    "B17": first_send.run,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was chosen; the exit status says only whether it ran."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", action="append", choices=sorted(BENCHMARKS), help="may be repeated")
    parser.add_argument("--rounds", type=int, default=MIN_ROUNDS, metavar="N", help="interleaved rounds (7)")
    parser.add_argument("--output", type=Path, default=LATEST, metavar="FILE", help="where the JSON goes")
    options = parser.parse_args(arguments)
    chosen = options.only or list(BENCHMARKS)
    figures: list[Figure] = []
    for benchmark in dict.fromkeys(BENCHMARKS[name] for name in chosen):
        with tempfile.TemporaryDirectory(prefix="inkfast-bench-") as folder:
            figures += benchmark(Path(folder), options.rounds)
    figures.sort(key=lambda figure: int(figure.id[1:]))
    store(options.output, figures)
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    print(table(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
