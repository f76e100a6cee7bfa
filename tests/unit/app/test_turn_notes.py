"""How a turn ended is said in words, and never more than is known."""

from __future__ import annotations

import pytest

from app.turn_notes import older_not_sent, progress_text, turn_note
from runtime.sessions.model import TurnState


def test_a_complete_answer_needs_no_note() -> None:
    assert turn_note("completed", "stop") is None
    assert turn_note("completed", "completed") is None
    assert turn_note("running") is None


@pytest.mark.parametrize("state", [state for state in TurnState if state.is_terminal and state != "completed"])
def test_every_other_end_has_a_note(state: TurnState) -> None:
    note = turn_note(state)
    assert note is not None and note.label and note.text


def test_an_answer_without_finish_mark_and_one_cut_by_length_say_so() -> None:
    unmarked, cut = turn_note("completed", "no_finish_mark"), turn_note("completed", "length")
    assert unmarked is not None and unmarked.label == "ended without finish mark"
    assert cut is not None and "length limit" in cut.text


def test_a_turn_that_never_reached_the_model_says_so() -> None:
    note = turn_note("interrupted", error_code="not_started")
    assert note is not None and note.label == "not started"


def test_the_servers_own_words_are_quoted_in_one_line_and_cut() -> None:
    note = turn_note("failed", error_code="server_error", said="template\nerror: roles " + "x" * 400)
    assert note is not None and "The server said: “template error: roles" in note.text and note.text.endswith("…”")


def test_left_out_messages_are_counted() -> None:
    assert older_not_sent(1) == "1 older message not sent"
    assert older_not_sent(12) == "12 older messages not sent"


def test_waiting_shows_the_time_that_passed() -> None:
    assert progress_text("answering", 14.9) == "Answering · 0:14"
    assert progress_text("something_new", 75) == "Waiting for the answer · 1:15"
