"""The yardstick of B10 and B11: a file that is appended to and synced, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path


class BareLog:
    """Appends bytes and waits until the disk has them."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._sync = getattr(os, "fdatasync", os.fsync)

    def append(self, data: bytes) -> float:
        """Seconds from the call to the confirmation."""
        begun = time.perf_counter()
        os.write(self._descriptor, data)
        self._sync(self._descriptor)
        return time.perf_counter() - begun

    def close(self) -> None:
        os.close(self._descriptor)
