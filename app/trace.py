"""Boot stages on a shared clock, for benchmarks and tests: one line a stage into ``INKFAST_BOOT_TRACE``."""

from __future__ import annotations

import os
import time

_FILE = os.environ.get("INKFAST_BOOT_TRACE", "")


def mark(stage: str) -> None:
    """Note that ``stage`` was reached at this monotonic second; nothing happens unless the variable is set."""
    if not _FILE:
        return
    with open(_FILE, "a", encoding="utf-8") as file:
        file.write(f"{stage} {time.monotonic():.6f}\n")
