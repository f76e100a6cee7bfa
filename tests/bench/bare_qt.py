"""The yardstick of B1: a process that imports Qt's widgets and ends."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping


def took(variables: Mapping[str, str]) -> float:
    """Seconds from starting the process to its end."""
    begun = time.monotonic()
    subprocess.run([sys.executable, "-c", "import PySide6.QtWidgets"], env=dict(variables), check=True)
    return time.monotonic() - begun
