"""Where each row lies, for any number of rows, without laying any of them out. No Qt.

Heights are whole pixels, kept in chunks with their sums: setting one, adding at either end and finding the row at a
height touch one chunk and the short list of sums.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_CHUNK = 512
_WIDE = "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\U0001f300-\U0001faff]"


@cache
def _wide() -> re.Pattern[str]:
    """Compiled when the first text needs it: that takes as long as laying out a screen."""
    return re.compile(_WIDE)


def text_weight(text: str) -> int:
    """Length of a text in Latin characters: a Chinese, Japanese or Korean one counts double."""
    return len(text) if text.isascii() else len(text) + len(_wide().findall(text))


def estimated_lines(weight: int, line_ends: int, per_line: int) -> int:
    """Lines of a text of ``weight`` with ``line_ends`` line breaks where ``per_line`` characters fit; linear."""
    return 1 + line_ends + max(0, weight - line_ends * per_line // 2) // max(1, per_line)


class HeightIndex:
    """The heights of rows 0 … n-1 and their running sums."""

    def __init__(self) -> None:
        self._chunks: list[list[int]] = []
        self._sums: list[int] = []
        self._count = 0
        self._total = 0

    def __len__(self) -> int:
        return self._count

    @property
    def total(self) -> int:
        """Height of all rows together."""
        return self._total

    def reset(self, heights: Iterable[int]) -> None:
        """Forget everything and take these heights."""
        self._chunks, self._sums, self._count, self._total = [], [], 0, 0
        self.extend(heights)

    def extend(self, heights: Iterable[int]) -> None:
        """Add rows at the end."""
        for height in heights:
            if not self._chunks or len(self._chunks[-1]) >= _CHUNK:
                self._chunks.append([])
                self._sums.append(0)
            self._chunks[-1].append(height)
            self._sums[-1] += height
            self._count += 1
            self._total += height

    def prepend(self, heights: Iterable[int]) -> None:
        """Add rows before the first one, in their own order."""
        fresh = list(heights)
        chunks = [fresh[start : start + _CHUNK] for start in range(0, len(fresh), _CHUNK)]
        self._chunks[:0] = chunks
        self._sums[:0] = [sum(chunk) for chunk in chunks]
        self._count += len(fresh)
        self._total += sum(fresh)

    def height(self, row: int) -> int:
        chunk, place = self._find(row)
        return self._chunks[chunk][place]

    def set(self, row: int, height: int) -> int:
        """Give a row its height; returns the difference."""
        chunk, place = self._find(row)
        change = height - self._chunks[chunk][place]
        if change:
            self._chunks[chunk][place] = height
            self._sums[chunk] += change
            self._total += change
        return change

    def top(self, row: int) -> int:
        """Where a row begins; ``top(len)`` is the total."""
        if row >= self._count:
            return self._total
        chunk, place = self._find(row)
        return sum(self._sums[:chunk]) + sum(self._chunks[chunk][:place])

    def row_at(self, y: int) -> tuple[int, int]:
        """The row at a height and how far below its top; heights outside are taken to the nearest end."""
        if not self._count:
            return 0, 0
        y = max(0, min(y, self._total - 1))
        row = 0
        for chunk, total in zip(self._chunks, self._sums, strict=True):
            if y < total:
                for height in chunk:
                    if y < height:
                        return row, y
                    y -= height
                    row += 1
            y -= total
            row += len(chunk)
        return self._count - 1, self.height(self._count - 1)

    def _find(self, row: int) -> tuple[int, int]:
        if not 0 <= row < self._count:
            raise IndexError(row)
        for number, chunk in enumerate(self._chunks):
            if row < len(chunk):
                return number, row
            row -= len(chunk)
        raise IndexError(row)
