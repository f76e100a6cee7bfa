"""Items and turns as rows."""

from __future__ import annotations

from app.transcript.rows import Row, ending_row, row_of, rows_of
from runtime.base.handover import JsonObject
from runtime.sessions.model import Item, ItemKind, ItemState, Turn, TurnState


def _item(
    seq: int,
    kind: ItemKind,
    text: str = "",
    turn: str = "t1",
    state: ItemState = "final",
    data: JsonObject | None = None,
) -> Item:
    data = data or {}
    return Item(f"i{seq}", "s", seq, turn, kind, state, text, data, "", 1, 1000 + seq)


def _turn(turn_id: str, state: TurnState, **members: str) -> Turn:
    return Turn(
        turn_id,
        "s",
        "sub",
        state,
        members.get("error_code", ""),
        members.get("error", ""),
        "owner",
        members.get("finish_reason", ""),
        1,
        2,
    )


def test_user_and_assistant_items_become_rows_in_order() -> None:
    rows = rows_of([_item(1, "user", "hi"), _item(2, "assistant", "hello")], (), "smollm2")
    assert [(row.id, row.kind, row.text) for row in rows] == [("i1", "user", "hi"), ("i2", "assistant", "hello")]
    assert rows[1].label == "Assistant"
    assert rows[1].note == "reported model: smollm2"


def test_no_model_is_claimed_that_was_not_reported() -> None:
    assert row_of(_item(1, "assistant", "x")).note == ""
    assert row_of(_item(1, "user", "x"), "smollm2").note == ""


def test_an_ending_stands_once_behind_the_last_item_of_its_turn() -> None:
    items = [_item(1, "user", "a"), _item(2, "assistant", "part", state="interrupted"), _item(3, "user", "b", "t2")]
    rows = rows_of(items, [_turn("t1", TurnState.INTERRUPTED), _turn("t2", TurnState.COMPLETED)])
    assert [row.id for row in rows] == ["i1", "i2", "ending:t1", "i3"]
    assert rows[2].label == "interrupted"
    assert rows[2].tone == "warn"


def test_each_bad_ending_is_said_in_words() -> None:
    for state in (TurnState.INTERRUPTED, TurnState.FAILED, TurnState.CANCELLED, TurnState.UNKNOWN, TurnState.TIMED_OUT):
        row = ending_row(_turn("t", state, error_code="host_crashed"))
        assert row is not None and row.label and row.text


def test_running_and_complete_turns_have_no_ending() -> None:
    assert ending_row(_turn("t", TurnState.RUNNING)) is None
    assert ending_row(_turn("t", TurnState.COMPLETED, finish_reason="stop")) is None


def test_a_notice_is_a_sentence() -> None:
    assert row_of(_item(1, "notice", data={"code": "older_not_sent", "count": 12})).text == "12 older messages not sent"
    assert row_of(_item(1, "notice", data={"code": "content_missing"})).text
    assert row_of(_item(1, "plan", "as it came")).kind == "notice"


def test_an_error_item_is_red_in_words() -> None:
    row = row_of(_item(1, "error", "it broke"))
    assert (row.kind, row.label, row.tone) == ("error", "failed", "danger")


def test_extending_is_idempotent_by_offset() -> None:
    row = Row("r", "assistant", "hel", "streaming")
    longer = row.extended(3, "lo")
    assert longer is not None and longer.text == "hello"
    assert longer.extended(3, "lo") is None
    assert longer.extended(0, "hello") is None
    assert longer.extended(9, "gap") is None
    overlap = longer.extended(4, "o!")
    assert overlap is not None and overlap.text == "hello!"
