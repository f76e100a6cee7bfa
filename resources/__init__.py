"""Data that ships with the program: fonts, icons, theme. No code but the way to a file."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).resolve().parent


def path(name: str) -> Path:
    """Absolute path of the resource ``name`` (``"theme/tokens.json"``); the file need not exist."""
    return _ROOT / name
