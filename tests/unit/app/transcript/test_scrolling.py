"""Anchor and tail, against rows whose measured heights differ from their estimates."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from app.transcript.flow import Flow, Place
from app.transcript.rows import Row
from app.transcript.scrolling import Placed, Scrolling

HEIGHT = 600


class Bench:
    """A flow with invented true heights, and the scrolling over it."""

    def __init__(self, count: int, true_height: Callable[[str], int] = lambda _row: 100) -> None:
        self.flow = Flow(720)
        self.true_height = true_height
        self.measured: list[str] = []
        self.flow.set_rows([_row(number) for number in range(count)])
        self.scrolling = Scrolling(self.flow, self._measure)
        self.scrolling.height = HEIGHT

    def _measure(self, place: Place) -> int:
        name = self.flow.row(place.row).id
        self.measured.append(name)
        height = self.true_height(name)
        self.flow.set_height(place, height)
        return height

    def seen(self) -> dict[str, int]:
        """Rows in view by their top."""
        placed: list[Placed] = self.scrolling.arrange()
        return {self.flow.row(one.place.row).id: one.y for one in placed}


def _row(number: int) -> Row:
    return Row(f"r{number}", "user", "text " * (number % 60))


def test_it_begins_at_the_tail() -> None:
    bench = Bench(50)
    assert bench.seen()["r49"] == HEIGHT - 100
    assert bench.scrolling.following


def test_a_short_conversation_begins_at_the_top() -> None:
    bench = Bench(2)
    assert bench.seen() == {"r0": 0, "r1": 100}


def test_only_what_is_in_view_is_measured() -> None:
    bench = Bench(5000)
    bench.seen()
    assert len(set(bench.measured)) <= 8


def test_any_upward_move_stops_following_and_the_bottom_starts_it_again() -> None:
    bench = Bench(50)
    bench.seen()
    bench.scrolling.scroll_by(-1)
    assert bench.seen()["r49"] == HEIGHT - 99
    assert not bench.scrolling.following
    bench.scrolling.scroll_by(1)
    bench.seen()
    assert bench.scrolling.following


def test_new_rows_do_not_move_what_is_read() -> None:
    bench = Bench(50)
    bench.seen()
    bench.scrolling.scroll_by(-1000)
    before = bench.seen()
    bench.flow.append(_row(50))
    assert bench.seen() == before
    assert not bench.scrolling.following


def test_new_rows_are_followed_at_the_tail() -> None:
    bench = Bench(50)
    bench.seen()
    bench.flow.append(_row(50))
    assert bench.seen()["r50"] == HEIGHT - 100


def test_older_rows_in_front_do_not_move_what_is_read() -> None:
    bench = Bench(50)
    bench.scrolling.show_row(3)
    before = bench.seen()
    bench.flow.prepend([Row(f"old{number}", "user", "x") for number in range(200)])
    bench.scrolling.rows_came_before(200)
    assert bench.seen() == before


def test_the_top_is_reached_exactly_and_not_passed() -> None:
    bench = Bench(50)
    bench.seen()
    bench.scrolling.scroll_by(-1_000_000)
    assert bench.seen()["r0"] == 0


def test_a_shrunken_row_does_not_leave_a_hole_at_the_bottom() -> None:
    bench = Bench(10)
    bench.seen()
    bench.scrolling.scroll_by(-50)
    bench.seen()
    bench.true_height = lambda _row: 60
    assert bench.seen()["r9"] == HEIGHT - 60


def test_room_of_the_tail_stays_below_the_last_row() -> None:
    bench = Bench(50)
    bench.scrolling.tail = 40
    assert bench.seen()["r49"] == HEIGHT - 140


@given(st.lists(st.one_of(st.integers(-900, 900), st.just("jump"), st.just("append")), max_size=30), st.integers(1, 80))
def test_a_move_moves_the_view_by_just_that_much(moves: list[int | str], count: int) -> None:
    heights: dict[str, int] = {}

    def uneven(row: str) -> int:
        return heights.setdefault(row, 20 + int(row[1:]) * 37 % 300)

    bench = Bench(count, uneven)
    bench.seen()
    for move in moves:
        before = bench.seen()
        if move == "append":
            bench.flow.append(Row(f"n{len(bench.flow)}", "user", "x"))
        elif move == "jump":
            bench.scrolling.scroll_to(bench.scrolling.maximum // 2)
        else:
            bench.scrolling.scroll_by(int(move))
        after = bench.seen()
        tops = list(after.values())
        assert tops and tops[0] <= 0
        if isinstance(move, int):
            shifts = {before[row] - after[row] for row in before.keys() & after.keys()}
            assert len(shifts) <= 1
            assert all(abs(shift) <= abs(move) for shift in shifts)
