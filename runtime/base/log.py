"""Logs without content: ids, codes, phases, durations and counts, as JSON lines (spec/drafts.md section 11).

What a person typed cannot get in by mistake: of a message only the constant template is written, never its
arguments; of the extra fields only those named here, and only if they look like an id or a number; of an
exception its type, code and places, never its text. Other packages' messages are dropped for their place.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import cast

from runtime.base.redaction import redact
from runtime.base.traces import describe

OURS = ("app", "drafts", "runtime", "__main__")
FIELDS = frozenset(
    {
        "draft", "operation", "session", "turn", "submission", "request", "workspace", "writer", "owner", "lease",
        "item", "topic", "slot", "task", "step", "stage", "host", "server", "model", "engine", "pid", "signal",
        "status", "code", "error", "phase", "state", "outcome", "kind", "surface", "errno", "sqlite", "version",
        "revision", "sequence", "attempt", "count", "counts", "total", "dropped", "size", "bytes", "ms", "seconds",
        "drafts", "journals", "kept_apart", "postponed",
    }
)  # fmt: skip
_PLAIN = re.compile(r"^[A-Za-z0-9_.:@+/-]{1,160}$")
_MEGABYTE = 1_000_000
_FILES = 5


class ContentFreeFormatter(logging.Formatter):
    """One record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
        }
        if record.name.partition(".")[0] in OURS:
            line["message"] = redact(str(record.msg))
        else:
            line["at"] = f"{record.module}:{record.lineno}"
        for name in FIELDS & record.__dict__.keys():
            line[name] = _plain(record.__dict__[name])
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = describe(record.exc_info[1])
        return json.dumps(line, ensure_ascii=True)


def configure(folder: Path, level: int = logging.INFO, name: str = "inkfast") -> Callable[[], None]:
    """Write the root logger to ``folder/<name>.log`` (0600, five files of 1 MB); returns how to stop.

    A log that cannot be opened or written (disk full, read-only) never stops the program. Of several processes
    with the same ``name`` each line is whole, but a rotation by one may cost the other old lines.
    """
    root = logging.getLogger()
    handler: logging.Handler
    try:
        handler = _PrivateFileHandler(folder / f"{name}.log", maxBytes=_MEGABYTE, backupCount=_FILES, encoding="utf-8")
    except OSError:
        handler = logging.StreamHandler(sys.stderr)
        handler.setLevel(logging.WARNING)
    handler.setFormatter(ContentFreeFormatter())
    previous = root.level
    root.addHandler(handler)
    root.setLevel(level)

    def stop() -> None:
        root.removeHandler(handler)
        root.setLevel(previous)
        handler.close()

    return stop


class _PrivateFileHandler(RotatingFileHandler):
    """Mode before content, and silence when the disk is in the way."""

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
        return TextIOWrapper(os.fdopen(descriptor, "ab"), encoding=self.encoding, errors=self.errors)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard library's name
        """Nothing: there is nowhere left to report to."""


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        counts = cast("Mapping[object, object]", value)
        return {str(_plain(word)): number for word, number in counts.items() if isinstance(number, int | float)}
    text = str(value)
    return text if _PLAIN.match(text) and redact(text) == text else "[dropped]"
