"""What is selected in a transcript: from one character of a row to one of the same or another row. No Qt."""

from __future__ import annotations

from typing import NamedTuple

from app.transcript.flow import Flow


class Mark(NamedTuple):
    """A position: characters into the text of a row."""

    row_id: str
    offset: int


class Selection:
    """An anchor and a head; rows are named by id, so that rows added around them change nothing."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._anchor: Mark | None = None
        self._head: Mark | None = None

    def clear(self) -> None:
        self._anchor = self._head = None

    def start(self, mark: Mark) -> None:
        self._anchor = self._head = mark

    def move(self, mark: Mark) -> None:
        """Take the selection to ``mark``."""
        self._anchor = self._anchor or mark
        self._head = mark

    def select(self, first: Mark, last: Mark) -> None:
        self._anchor, self._head = first, last

    def select_all(self) -> None:
        if len(self._flow):
            last = self._flow.row(len(self._flow) - 1)
            self.select(Mark(self._flow.row(0).id, 0), Mark(last.id, len(last.text)))

    @property
    def is_empty(self) -> bool:
        return self._ends() is None

    def span_in(self, row: int) -> tuple[int, int] | None:
        """The selected characters of a row."""
        ends = self._ends()
        if ends is None:
            return None
        (first_row, first), (last_row, last) = ends
        if not first_row <= row <= last_row:
            return None
        start = first if row == first_row else 0
        end = last if row == last_row else len(self._flow.row(row).text)
        return (start, end) if end > start else None

    def text(self) -> str:
        """The selected text; rows are parted by a blank line."""
        ends = self._ends()
        if ends is None:
            return ""
        parts: list[str] = []
        for row in range(ends[0][0], ends[1][0] + 1):
            span = self.span_in(row)
            if span is not None:
                parts.append(self._flow.row(row).text[span[0] : span[1]])
        return "\n\n".join(parts)

    def _ends(self) -> tuple[tuple[int, int], tuple[int, int]] | None:
        if self._anchor is None or self._head is None or self._anchor == self._head:
            return None
        numbers = self._flow.number(self._anchor.row_id), self._flow.number(self._head.row_id)
        if numbers[0] is None or numbers[1] is None:
            return None
        first, last = sorted(((numbers[0], self._anchor.offset), (numbers[1], self._head.offset)))
        return first, last
