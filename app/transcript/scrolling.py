"""What of a transcript is in view: anchored at a piece and a pixel in it, or at the tail. No Qt.

Measuring a piece may prove its estimate wrong. Because the view hangs on a piece and not on a height from the top,
what a person reads does not move then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from app.transcript.flow import Flow, Place


class Placed(NamedTuple):
    """A piece in view and its top, in pixels from the top of the view."""

    place: Place
    y: int
    height: int


class Scrolling:
    """The position in a :class:`Flow`. ``measure`` lays a piece out and returns its height."""

    def __init__(self, flow: Flow, measure: Callable[[Place], int]) -> None:
        self._flow = flow
        self._measure = measure
        self._place = Place(0, 0)
        self._pixel = 0
        self.following = True
        self.height = 0
        self.tail = 0
        """Room below the last row that belongs to the tail."""

    @property
    def spot(self) -> tuple[Place, int]:
        """The piece at the top of the view and how much of it lies above."""
        return self._place, self._pixel

    @property
    def value(self) -> int:
        """Height of everything above the view."""
        return self._flow.top(self._place) + self._pixel if len(self._flow) else 0

    @property
    def maximum(self) -> int:
        return max(0, self._flow.total + self.tail - self.height)

    @property
    def near_top(self) -> bool:
        """Whether less than one view of rows lies above."""
        return not len(self._flow) or self.value < self.height

    def reset(self) -> None:
        """Begin at the tail."""
        self._place, self._pixel, self.following = Place(0, 0), 0, True

    def rows_came_before(self, count: int) -> None:
        """Older rows were put in front: the reading position stays."""
        self._place = Place(self._place.row + count, self._place.piece)

    def arrange(self) -> list[Placed]:
        """Measure what is in view and say where it lies."""
        if not len(self._flow):
            return []
        self._place, self._pixel = self._from_tail() if self.following else self._settled()
        placed = self._fill()
        if not self.following and self._ends_above_the_bottom(placed):
            self._place, self._pixel = self._from_tail()
            placed = self._fill()
            self.following = True
        return placed

    def scroll_by(self, pixels: int) -> None:
        """Move the view down by ``pixels``; any upward move stops following."""
        if pixels < 0:
            self.following = False
        self._pixel += pixels

    def scroll_to(self, value: int) -> None:
        """Put the height ``value`` at the top of the view."""
        if len(self._flow):
            self.following = value >= self.maximum
            self._place, self._pixel = self._flow.place_at(value)

    def show_row(self, row: int) -> None:
        """Put the begin of a row at the top."""
        self.following = False
        self._place, self._pixel = Place(row, 0), 0

    def _settled(self) -> tuple[Place, int]:
        """The anchor with its pixel inside its piece."""
        flow, place, pixel = self._flow, self._place, self._pixel
        if place.row >= len(flow):
            place = flow.last()
        elif place.piece >= len(flow.pieces(place.row)):
            place = Place(place.row, len(flow.pieces(place.row)) - 1)
        while pixel < 0:
            before = flow.before(place)
            if before is None:
                return place, 0
            place = before
            pixel += self._measure(place)
        while pixel >= (height := self._measure(place)):
            after = flow.after(place)
            if after is None:
                return place, height
            place, pixel = after, pixel - height
        return place, pixel

    def _from_tail(self) -> tuple[Place, int]:
        room = self.height - self.tail
        place: Place | None = self._flow.last()
        while place is not None:
            room -= self._measure(place)
            if room <= 0:
                return place, -room
            place = self._flow.before(place)
        return Place(0, 0), 0

    def _fill(self) -> list[Placed]:
        placed: list[Placed] = []
        place: Place | None = self._place
        y = -self._pixel
        while place is not None and y < self.height:
            height = self._measure(place)
            placed.append(Placed(place, y, height))
            y += height
            place = self._flow.after(place)
        return placed

    def _ends_above_the_bottom(self, placed: list[Placed]) -> bool:
        if not placed:
            return True
        last = placed[-1]
        return last.place == self._flow.last() and last.y + last.height + self.tail <= self.height
