"""Rows, pieces and heights in one order."""

from __future__ import annotations

from app.transcript.flow import Flow, Place
from app.transcript.rows import Row

_LONG = "\n".join("a line of the long answer" for _ in range(1000))


def _walk(flow: Flow) -> list[Place]:
    place: Place | None = Place(0, 0)
    places: list[Place] = []
    while place is not None:
        places.append(place)
        place = flow.after(place)
    return places


def _flow() -> Flow:
    flow = Flow(720)
    flow.set_rows([Row("a", "user", "hi"), Row("b", "assistant", _LONG), Row("c", "ending", "over")])
    return flow


def test_walking_forth_and_back_meets_the_same_pieces() -> None:
    flow = _flow()
    forth = _walk(flow)
    place: Place | None = flow.last()
    back: list[Place] = []
    while place is not None:
        back.append(place)
        place = flow.before(place)
    assert forth == back[::-1]
    assert len(forth) > 5


def test_the_total_is_the_sum_of_what_was_measured_and_estimated() -> None:
    flow = _flow()
    for place in _walk(flow):
        flow.set_height(place, 50)
    assert flow.total == 50 * len(_walk(flow))
    assert flow.top(flow.last()) == flow.total - 50
    assert flow.place_at(120) == (_walk(flow)[2], 20)


def test_numbers_follow_rows_put_in_front() -> None:
    flow = _flow()
    flow.prepend([Row("x", "user", "1"), Row("y", "user", "2")])
    flow.prepend([Row("w", "user", "0")])
    flow.append(Row("d", "user", "4"))
    names = ["w", "x", "y", "a", "b", "c", "d"]
    assert [flow.number(name) for name in names] == list(range(7))
    assert [flow.row(number).id for number in range(7)] == names
    assert flow.number("nobody") is None


def test_a_streamed_row_is_the_same_as_one_read_at_once() -> None:
    flow = Flow(720)
    row = Row("r", "assistant", "", "streaming")
    flow.set_rows([row])
    for start in range(0, len(_LONG), 37):
        longer = row.extended(start, _LONG[start : start + 37])
        assert longer is not None
        row = longer
        flow.extend(0, row)
    whole = Flow(720)
    whole.set_rows([row])
    assert list(flow.pieces(0)) == list(whole.pieces(0))
    flow.set_column(500)
    whole.set_column(500)
    assert flow.total == whole.total


def test_another_width_makes_every_height_an_estimate_again() -> None:
    flow = _flow()
    wide = flow.total
    flow.set_column(300)
    assert flow.total >= wide
    flow.set_column(720)
    assert flow.total == wide
