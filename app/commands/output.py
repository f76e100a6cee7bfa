"""What commands print: one JSON object, or plain lines that fit a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime


def print_json(value: Mapping[str, object]) -> None:
    """One JSON object on the standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True, indent=2) + "\n")


def print_lines(lines: Iterable[str]) -> None:
    """Plain lines; what the terminal cannot show is replaced, never an error."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        sys.stdout.write(line.encode(encoding, "replace").decode(encoding) + "\n")


def iso(milliseconds: int) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
