"""Selected text within and across rows."""

from __future__ import annotations

from app.transcript.flow import Flow
from app.transcript.rows import Row
from app.transcript.selection import Mark, Selection


def _selection() -> tuple[Flow, Selection]:
    flow = Flow(720)
    flow.set_rows([Row("a", "user", "first row"), Row("b", "assistant", "second"), Row("c", "user", "third row")])
    return flow, Selection(flow)


def test_within_a_row_either_way() -> None:
    _, selection = _selection()
    selection.start(Mark("a", 6))
    selection.move(Mark("a", 9))
    assert selection.text() == "row"
    selection.move(Mark("a", 0))
    assert selection.text() == "first "


def test_across_rows_upwards_and_downwards() -> None:
    _, selection = _selection()
    selection.select(Mark("c", 5), Mark("a", 6))
    assert selection.text() == "row\n\nsecond\n\nthird"
    assert selection.span_in(1) == (0, 6)
    assert selection.span_in(2) == (0, 5)


def test_a_click_selects_nothing() -> None:
    _, selection = _selection()
    selection.start(Mark("a", 3))
    assert selection.is_empty
    assert selection.text() == ""


def test_all_rows() -> None:
    _, selection = _selection()
    selection.select_all()
    assert selection.text() == "first row\n\nsecond\n\nthird row"


def test_older_rows_in_front_do_not_change_what_is_selected() -> None:
    flow, selection = _selection()
    selection.select(Mark("b", 0), Mark("c", 5))
    flow.prepend([Row("old", "user", "older")])
    assert selection.text() == "second\n\nthird"


def test_a_selection_whose_row_has_gone_is_empty() -> None:
    flow, selection = _selection()
    selection.select(Mark("b", 0), Mark("c", 5))
    flow.set_rows([Row("z", "user", "other")])
    assert selection.is_empty
    assert selection.span_in(0) is None
