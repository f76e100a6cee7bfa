"""Questions name what is lost, suggest the harmless answer and take dismissal for it."""

from __future__ import annotations

import pytest

from app.questions import Question, discard_question, send_as_new_question, unsaved_question

ASKED = [
    discard_question("compare the two", 214),
    send_as_new_question(),
    unsaved_question(["a"], "disk_full"),
]


@pytest.mark.parametrize("question", ASKED)
def test_the_suggested_answer_is_never_the_one_that_loses_something(question: Question) -> None:
    roles = {choice.id: choice.role for choice in question.choices}
    assert list(roles.values()).count("primary") == 1
    assert roles.get(question.dismissed, "") != "danger"


def test_discarding_names_what_is_lost() -> None:
    assert "“compare the two”" in ASKED[0].text and "214 characters" in ASKED[0].text
    assert "1 attachment" in discard_question("", 0, 1).text
    assert "12,000 characters and 2 attachments" in discard_question("x", 12_000, 2).text


def test_sending_as_new_warns_that_it_may_run_twice() -> None:
    assert "twice" in ASKED[1].text and "not known" in ASKED[1].text


def test_a_vetoed_close_names_the_drafts_and_offers_all_four_ways() -> None:
    question = unsaved_question(["a", "b", "c", "d", "e"], "disk_full")
    assert "The disk is full." in question.text and "“a”, “b”, “c” and 2 more" in question.text
    assert [choice.id for choice in question.choices] == ["retry", "keep_editing", "save_copy", "quit_anyway"]
    assert question.dismissed == "keep_editing"
