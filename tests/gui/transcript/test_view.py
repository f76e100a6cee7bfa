"""The transcript on a screen: rows, streaming, following, selection, keys, and inert content."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.theme import ThemeController
from app.transcript.rows import Row
from app.transcript.view import TranscriptView
from tests.gui.transcript.kit import colors, drag, jump, picture, point_of, rows, tops

# rows and following


def test_a_conversation_opens_at_its_tail(view: TranscriptView) -> None:
    view.set_rows(rows(60))
    assert view.is_following
    assert "r59/0" in tops(view)
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()
    assert not jump(view).isVisible()


def test_new_rows_and_text_are_followed_only_at_the_tail(view: TranscriptView) -> None:
    view.set_rows(rows(40))
    view.append_row(Row("new", "assistant", "", "streaming"))
    for start in range(0, 4000, 40):
        view.extend_row("new", start, "streamed text that keeps on coming here ")
    assert view.is_following
    assert any(name.startswith("new/") for name in tops(view))
    view.scroll_by(-1)
    before = tops(view)
    view.extend_row("new", 4000, "more " * 500)
    assert tops(view) == before
    assert not view.is_following


def test_the_reading_position_never_moves_by_itself(view: TranscriptView) -> None:
    view.set_rows(rows(80))
    view.scroll_by(-1500)
    before = tops(view)
    view.append_row(Row("a", "user", "hello"))
    view.append_row(Row("b", "assistant", "", "streaming"))
    view.extend_row("b", 0, "text " * 400)
    view.replace_row(Row("r79", "assistant", "shorter"))
    view.set_activity("Answering · 0:01")
    view.prepend_rows([Row(f"old{number}", "user", "older " * 50) for number in range(100)])
    assert tops(view) == before


def test_the_button_counts_new_rows_and_leads_back(view: TranscriptView) -> None:
    view.set_rows(rows(40))
    view.scroll_by(-400)
    view.append_row(Row("a", "user", "x"))
    view.append_row(Row("b", "assistant", "y"))
    view.is_following  # noqa: B018 - arranges what is in view
    assert jump(view).isVisible()
    assert jump(view).text() == "Jump to latest · 2 new"
    jump(view).click()
    assert view.is_following
    assert view.unseen == 0
    assert not jump(view).isVisible()


def test_scrolling_back_down_follows_again(view: TranscriptView) -> None:
    view.set_rows(rows(40))
    view.scroll_by(-300)
    assert not view.is_following
    view.scroll_by(300)
    assert view.is_following


def test_the_scroll_bar_reaches_both_ends(view: TranscriptView) -> None:
    view.set_rows(rows(300))
    view.placed()
    view.verticalScrollBar().setValue(0)
    assert tops(view)["r0/0"] == 0
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    assert view.is_following


def test_older_rows_are_asked_for_once_near_the_top(view: TranscriptView, qtbot: QtBot) -> None:
    asked: list[bool] = []
    view.top_reached.connect(lambda: asked.append(True))
    view.set_rows(rows(40))
    assert view.is_following
    QTest.qWait(0)
    assert asked == []
    view.scroll_to_top()
    view.placed()
    view.scroll_by(10)
    view.placed()
    qtbot.waitUntil(lambda: asked == [True])
    view.prepend_rows([Row("old", "user", "older")])
    view.scroll_to_top()
    view.placed()
    qtbot.waitUntil(lambda: asked == [True, True])


def test_a_tail_that_does_not_fill_the_view_asks_for_older_rows(view: TranscriptView, qtbot: QtBot) -> None:
    with qtbot.waitSignal(view.top_reached):
        view.set_rows([Row("u", "user", "the only one that was loaded")])
    assert view.is_following


def test_rows_given_in_answer_to_the_wish_keep_the_tail(view: TranscriptView, qtbot: QtBot) -> None:
    view.top_reached.connect(lambda: view.prepend_rows([Row(f"old{n}", "user", "older " * 40) for n in range(30)]))
    view.set_rows([Row("u", "user", "newest")])
    qtbot.waitUntil(lambda: len(view.rows()) == 31)
    assert view.is_following
    assert "u/0" in tops(view)


def test_streamed_text_is_taken_once_by_its_offset(view: TranscriptView) -> None:
    view.set_rows([Row("r", "assistant", "", "streaming")])
    view.extend_row("r", 0, "ab")
    view.extend_row("r", 0, "ab")
    view.extend_row("r", 2, "c")
    view.extend_row("r", 99, "lost")
    view.extend_row("unknown", 0, "x")
    assert view.plain_text() == "abc"


def test_a_row_that_is_already_there_is_not_added_twice(view: TranscriptView) -> None:
    view.set_rows(rows(2))
    view.append_row(Row("r1", "assistant", "settled"))
    assert [row.id for row in view.rows()] == ["r0", "r1"]
    assert view.rows()[1].text == "settled"


def test_only_pieces_in_view_are_laid_out(view: TranscriptView) -> None:
    view.set_rows(rows(20_000))
    picture(view)
    assert view._setter.kept < 40
    for value in range(0, view.verticalScrollBar().maximum(), view.verticalScrollBar().maximum() // 200):
        view.verticalScrollBar().setValue(value)
        view.placed()
    assert view._setter.kept <= 300


def test_streaming_lays_out_the_last_piece_only(view: TranscriptView) -> None:
    text = "a paragraph of the answer that is long enough to wrap around the column once or twice.\n" * 500
    view.set_rows([Row("r", "assistant", text, "streaming")])
    picture(view)
    kept = {number: piece for (_, number), piece in view._setter._kept.items()}
    view.extend_row("r", len(text), "and more")
    picture(view)
    again = {number: piece for (_, number), piece in view._setter._kept.items()}
    changed = [number for number in kept if again.get(number) is not kept[number]]
    assert changed == [max(kept)]


def test_five_megabytes_in_one_row_lay_out_what_is_seen(view: TranscriptView) -> None:
    view.set_rows([Row("r", "user", "0123456789 abcdef\n" * 280_000)])
    picture(view)
    assert view._setter.kept < 10
    view.scroll_to_top()
    assert tops(view)["r/0"] == 0


# look


def test_user_block_code_and_selection_wear_their_colours(view: TranscriptView, themes: ThemeController) -> None:
    view.set_rows([Row("u", "user", "hello"), Row("a", "assistant", "text\n\n```py\nx = 1\n```", label="Assistant")])
    seen = colors(picture(view))
    theme = themes.theme
    assert theme.color("user_block").rgb() in seen
    assert theme.color("code_ground").rgb() in seen
    assert theme.color("selection").rgb() not in seen
    view.select_all()
    assert theme.color("selection").rgb() in colors(picture(view))


def test_a_change_of_theme_repaints_and_keeps_the_place(view: TranscriptView, themes: ThemeController) -> None:
    view.set_rows(rows(60))
    view.scroll_by(-700)
    before = tops(view)
    themes.set_choice("dark")
    assert tops(view) == before
    assert themes.theme.color("user_block").rgb() in colors(picture(view))


def test_endings_say_what_happened_in_words_and_colour(view: TranscriptView, themes: ThemeController) -> None:
    view.set_rows([Row("e", "ending", "The server failed.", label="failed", tone="danger")])
    assert themes.theme.color("danger_soft").rgb() in colors(picture(view))


def test_a_running_answer_shows_a_caret_and_a_finished_one_does_not(
    view: TranscriptView, themes: ThemeController
) -> None:
    view.set_rows([Row("a", "assistant", "text", "streaming")])
    assert themes.theme.color("accent").rgb() in colors(picture(view))
    view.replace_row(Row("a", "assistant", "text", "final"))
    assert themes.theme.color("accent").rgb() not in colors(picture(view))


def test_waiting_is_shown_below_the_last_row(view: TranscriptView, themes: ThemeController) -> None:
    view.set_rows([Row("u", "user", "question")])
    view.set_activity("Waiting for the answer · 0:14")
    assert themes.theme.color("accent").rgb() in colors(picture(view))
    view.set_activity(None)
    assert themes.theme.color("accent").rgb() not in colors(picture(view))


def test_the_column_is_no_wider_than_the_reading_measure(view: TranscriptView) -> None:
    view.window().resize(1600, 600)
    QTest.qWait(0)
    assert view._flow.column == 720
    view.window().resize(500, 600)
    QTest.qWait(0)
    assert 400 < view._flow.column <= view.viewport().width() - 32
    before = view._flow.column
    view.set_rows(rows(100))
    view.placed()
    assert view._flow.column == before


def test_another_width_keeps_the_row_that_is_read(view: TranscriptView) -> None:
    view.set_rows(rows(200, 80))
    view.scroll_by(-8000)
    first = next(iter(tops(view)))
    view.window().resize(600, 600)
    QTest.qWait(0)
    assert next(iter(tops(view))) == first


@pytest.mark.parametrize("text", ["<b>bold</b>", "<img src='file:///etc/passwd'>", "![x](http://127.0.0.1:9/p.png)"])
def test_markup_is_shown_as_the_text_it_is(view: TranscriptView, text: str) -> None:
    view.set_rows([Row("a", "assistant", text)])
    piece = view._set(view.placed()[0].place)
    assert piece.layout.text() == text


def test_chinese_emoji_and_combining_characters_are_selected_whole(view: TranscriptView) -> None:
    text = "修复🌍e\u0301 end"
    view.set_rows([Row("a", "assistant", text)])
    QTest.mouseMove(view.viewport(), QPoint(0, 0))
    drag(view, point_of(view, "a", 0), point_of(view, "a", text.index("e\u0301")))
    assert view.selection.text() == "修复🌍"


# reading
