"""The last lines of a child's log, bounded and free of the key and of folder names."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from runtime.base.redaction import redact

_LINES = 200
_LINE_CHARACTERS = 400
_TAIL_LINES = 8


class LogTail:
    """A ring of log lines. ``replacements`` maps what must not be kept (key, paths) to what stands for it."""

    def __init__(self, replacements: Mapping[str, str]) -> None:
        self._lines: deque[str] = deque(maxlen=_LINES)
        # longest first: a model's path is replaced before the home folder that it lies in
        self._replacements = sorted(replacements.items(), key=lambda pair: -len(pair[0]))

    def add(self, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip()
        for secret, stand_in in self._replacements:
            if secret:
                text = text.replace(secret, stand_in)
        if text:
            self._lines.append(redact(text[:_LINE_CHARACTERS]))

    def lines(self) -> list[str]:
        return list(self._lines)

    def tail(self) -> str:
        """The newest few lines, for an error's details."""
        return "\n".join(list(self._lines)[-_TAIL_LINES:])
