"""What the first paint needs of the settings, without pydantic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

_THEMES = ("system", "light", "dark")


def peek_theme(path: Path) -> str:
    """``system``, ``light`` or ``dark``; ``system`` for a file that is missing or cannot be understood."""
    try:
        found: object = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return _THEMES[0]
    theme = cast("dict[str, Any]", found).get("theme") if isinstance(found, dict) else None
    return theme if theme in _THEMES else _THEMES[0]
