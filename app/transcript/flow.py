"""All rows of a transcript with their pieces and heights, measured or estimated. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from app.transcript.blocks import Piece, extend_pieces, pieces_of
from app.transcript.heights import HeightIndex, text_weight
from app.transcript.metrics import estimate, frame_of
from app.transcript.rows import Row


class Place(NamedTuple):
    """One piece: the number of its row, and its own number in the row."""

    row: int
    piece: int


@dataclass(slots=True)
class _Entry:
    row: Row
    pieces: list[Piece]
    weights: list[tuple[int, int]]
    heights: list[int]


class Flow:
    """Rows in order. A height is an estimate until the piece has been laid out at the present column width."""

    def __init__(self, column: int) -> None:
        self._column = column
        self._entries: list[_Entry] = []
        self._index = HeightIndex()
        self._numbers: dict[str, int] = {}
        self._shift = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def total(self) -> int:
        """Height of everything."""
        return self._index.total

    @property
    def column(self) -> int:
        return self._column

    def row(self, number: int) -> Row:
        return self._entries[number].row

    def number(self, row_id: str) -> int | None:
        """The place of a row in the order, or None."""
        found = self._numbers.get(row_id)
        return None if found is None else found + self._shift

    def piece(self, place: Place) -> Piece:
        return self._entries[place.row].pieces[place.piece]

    def is_last(self, place: Place) -> bool:
        """Whether the piece ends its row."""
        return place.piece == len(self._entries[place.row].pieces) - 1

    def pieces(self, row: int) -> Sequence[Piece]:
        return self._entries[row].pieces

    # changes

    def set_rows(self, rows: Sequence[Row]) -> None:
        self._entries = [self._entry(row) for row in rows]
        self._numbers = {row.id: number for number, row in enumerate(rows)}
        self._shift = 0
        self._index.reset(sum(entry.heights) for entry in self._entries)

    def append(self, row: Row) -> None:
        entry = self._entry(row)
        self._numbers[row.id] = len(self._entries) - self._shift
        self._entries.append(entry)
        self._index.extend((sum(entry.heights),))

    def prepend(self, rows: Sequence[Row]) -> None:
        """Put older rows before the first one."""
        entries = [self._entry(row) for row in rows]
        self._shift += len(rows)
        for number, row in enumerate(rows):
            self._numbers[row.id] = number - self._shift
        self._entries[:0] = entries
        self._index.prepend(sum(entry.heights) for entry in entries)

    def replace(self, number: int, row: Row) -> None:
        """Put another version of a row in its place."""
        self._entries[number] = entry = self._entry(row)
        self._index.set(number, sum(entry.heights))

    def extend(self, number: int, row: Row) -> None:
        """Take a longer version of a row; only its last piece is read again."""
        entry = self._entries[number]
        entry.row = row
        before = list(entry.heights)
        changed = extend_pieces(entry.pieces, row.text)
        del entry.weights[changed:]
        del entry.heights[changed:]
        self._measure_roughly(entry)
        if len(entry.pieces) == len(before):
            # the open piece keeps what was measured until it is laid out again: less jumping of the scroll bar
            entry.heights[changed:] = before[changed:]
        self._index.set(number, sum(entry.heights))

    def set_column(self, column: int) -> None:
        """Another width: every height is an estimate again."""
        self._column = column
        for entry in self._entries:
            entry.heights.clear()
            self._measure_roughly(entry)
        self._index.reset(sum(entry.heights) for entry in self._entries)

    def set_height(self, place: Place, height: int) -> None:
        """A piece was laid out."""
        entry = self._entries[place.row]
        change = height - entry.heights[place.piece]
        if change:
            entry.heights[place.piece] = height
            self._index.set(place.row, self._index.height(place.row) + change)

    # geometry

    def top(self, place: Place) -> int:
        """Where a piece begins."""
        return self._index.top(place.row) + sum(self._entries[place.row].heights[: place.piece])

    def place_at(self, y: int) -> tuple[Place, int]:
        """The piece at a height, and how far below its top."""
        row, rest = self._index.row_at(y)
        heights = self._entries[row].heights
        for number, height in enumerate(heights):
            if rest < height:
                return Place(row, number), rest
            rest -= height
        return Place(row, len(heights) - 1), heights[-1]

    def after(self, place: Place) -> Place | None:
        if not self.is_last(place):
            return Place(place.row, place.piece + 1)
        return Place(place.row + 1, 0) if place.row + 1 < len(self._entries) else None

    def before(self, place: Place) -> Place | None:
        if place.piece:
            return Place(place.row, place.piece - 1)
        return Place(place.row - 1, len(self._entries[place.row - 1].pieces) - 1) if place.row else None

    def last(self) -> Place:
        return Place(len(self._entries) - 1, len(self._entries[-1].pieces) - 1)

    def _entry(self, row: Row) -> _Entry:
        entry = _Entry(row, pieces_of(row), [], [])
        self._measure_roughly(entry)
        return entry

    def _measure_roughly(self, entry: _Entry) -> None:
        """Estimate the heights that are missing, weighing a text once for all widths."""
        count = len(entry.pieces)
        for piece in entry.pieces[len(entry.weights) :]:
            text = entry.row.text[piece.start : piece.end]
            entry.weights.append((text_weight(text), text.count("\n")))
        for number in range(len(entry.heights), count):
            frame = frame_of(entry.row.kind, entry.pieces[number], number == 0, number == count - 1)
            entry.heights.append(estimate(frame, *entry.weights[number], self._column))
