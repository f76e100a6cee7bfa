"""Measured programs as child processes, in the environment of an installed program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def environment(folder: Path, given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """``given``, with compiled modules kept in ``folder``, as an installation keeps them."""
    inherited = {name: value for name, value in given.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONPYCACHEPREFIX": os.fspath(folder / "compiled")}


def told(module: str, arguments: list[str], variables: Mapping[str, str]) -> Any:
    """Run ``python -m module`` and return the JSON of its last line."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, env=dict(variables), capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{module} ended with {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])
