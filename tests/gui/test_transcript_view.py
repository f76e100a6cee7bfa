"""The transcript on a screen: rows, streaming, following, selection, keys, and inert content."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QImage, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.icons import Icons
from app.theme import ThemeController
from app.transcript.jump import JumpButton
from app.transcript.rows import Row
from app.transcript.selection import Mark
from app.transcript.view import TranscriptView


def _rows(count: int, words: int = 30) -> list[Row]:
    return [Row(f"r{number}", "user" if number % 2 == 0 else "assistant", f"{number} " + "word " * words)
            for number in range(count)]


@pytest.fixture
def view(qtbot: QtBot, themes: ThemeController, icons: Icons) -> Iterator[TranscriptView]:
    host = QWidget()
    host.resize(900, 600)
    layout = QVBoxLayout(host)
    layout.setContentsMargins(0, 0, 0, 0)
    view = TranscriptView(themes, icons, host)
    layout.addWidget(view)
    qtbot.addWidget(host)
    with qtbot.waitExposed(host):
        host.show()
    host.activateWindow()
    view.setFocus()
    yield view


def _tops(view: TranscriptView) -> dict[str, int]:
    rows = view.rows()
    return {f"{rows[one.place.row].id}/{one.place.piece}": one.y for one in view.placed()}


def _picture(view: TranscriptView) -> QImage:
    return view.viewport().grab().toImage()


def _point_of(view: TranscriptView, row_id: str, offset: int) -> QPoint:
    """A point of the viewport where that character of a row is."""
    for placed in view.placed():
        piece = view._set(placed.place)
        if view.rows()[placed.place.row].id == row_id and piece.piece.start <= offset < max(1, piece.piece.end):
            rect = piece.selection_rects((offset, offset + 1))[0]
            return QPoint(round(view._left() + rect.left()) + 1, round(placed.y + rect.center().y()))
    raise AssertionError(f"{row_id} is not in view")


def _jump(view: TranscriptView) -> JumpButton:
    button = view.findChild(JumpButton)
    assert button is not None
    return button


# rows and following


def test_a_conversation_opens_at_its_tail(view: TranscriptView) -> None:
    view.set_rows(_rows(60))
    assert view.is_following
    assert "r59/0" in _tops(view)
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()
    assert not _jump(view).isVisible()


def test_new_rows_and_text_are_followed_only_at_the_tail(view: TranscriptView) -> None:
    view.set_rows(_rows(40))
    view.append_row(Row("new", "assistant", "", "streaming"))
    for start in range(0, 4000, 40):
        view.extend_row("new", start, "streamed text that keeps on coming here ")
    assert view.is_following
    assert any(name.startswith("new/") for name in _tops(view))
    view.scroll_by(-1)
    before = _tops(view)
    view.extend_row("new", 4000, "more " * 500)
    assert _tops(view) == before
    assert not view.is_following


def test_the_reading_position_never_moves_by_itself(view: TranscriptView) -> None:
    view.set_rows(_rows(80))
    view.scroll_by(-1500)
    before = _tops(view)
    view.append_row(Row("a", "user", "hello"))
    view.append_row(Row("b", "assistant", "", "streaming"))
    view.extend_row("b", 0, "text " * 400)
    view.replace_row(Row("r79", "assistant", "shorter"))
    view.set_activity("Answering · 0:01")
    view.prepend_rows([Row(f"old{number}", "user", "older " * 50) for number in range(100)])
    assert _tops(view) == before


def test_the_button_counts_new_rows_and_leads_back(view: TranscriptView) -> None:
    view.set_rows(_rows(40))
    view.scroll_by(-400)
    view.append_row(Row("a", "user", "x"))
    view.append_row(Row("b", "assistant", "y"))
    view.is_following  # noqa: B018 - arranges what is in view
    assert _jump(view).isVisible()
    assert _jump(view).text() == "Jump to latest · 2 new"
    _jump(view).click()
    assert view.is_following
    assert view.unseen == 0
    assert not _jump(view).isVisible()


def test_scrolling_back_down_follows_again(view: TranscriptView) -> None:
    view.set_rows(_rows(40))
    view.scroll_by(-300)
    assert not view.is_following
    view.scroll_by(300)
    assert view.is_following


def test_the_scroll_bar_reaches_both_ends(view: TranscriptView) -> None:
    view.set_rows(_rows(300))
    view.placed()
    view.verticalScrollBar().setValue(0)
    assert _tops(view)["r0/0"] == 0
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum())
    assert view.is_following


def test_older_rows_are_asked_for_once_near_the_top(view: TranscriptView, qtbot: QtBot) -> None:
    asked: list[bool] = []
    view.top_reached.connect(lambda: asked.append(True))
    view.set_rows(_rows(40))
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
    assert "u/0" in _tops(view)


def test_streamed_text_is_taken_once_by_its_offset(view: TranscriptView) -> None:
    view.set_rows([Row("r", "assistant", "", "streaming")])
    view.extend_row("r", 0, "ab")
    view.extend_row("r", 0, "ab")
    view.extend_row("r", 2, "c")
    view.extend_row("r", 99, "lost")
    view.extend_row("unknown", 0, "x")
    assert view.plain_text() == "abc"


def test_a_row_that_is_already_there_is_not_added_twice(view: TranscriptView) -> None:
    view.set_rows(_rows(2))
    view.append_row(Row("r1", "assistant", "settled"))
    assert [row.id for row in view.rows()] == ["r0", "r1"]
    assert view.rows()[1].text == "settled"


def test_only_pieces_in_view_are_laid_out(view: TranscriptView) -> None:
    view.set_rows(_rows(20_000))
    _picture(view)
    assert view._setter.kept < 40
    for value in range(0, view.verticalScrollBar().maximum(), view.verticalScrollBar().maximum() // 200):
        view.verticalScrollBar().setValue(value)
        view.placed()
    assert view._setter.kept <= 300


def test_streaming_lays_out_the_last_piece_only(view: TranscriptView) -> None:
    text = "a paragraph of the answer that is long enough to wrap around the column once or twice.\n" * 500
    view.set_rows([Row("r", "assistant", text, "streaming")])
    _picture(view)
    kept = {number: piece for (_, number), piece in view._setter._kept.items()}
    view.extend_row("r", len(text), "and more")
    _picture(view)
    again = {number: piece for (_, number), piece in view._setter._kept.items()}
    changed = [number for number in kept if again.get(number) is not kept[number]]
    assert changed == [max(kept)]


def test_five_megabytes_in_one_row_lay_out_what_is_seen(view: TranscriptView) -> None:
    view.set_rows([Row("r", "user", "0123456789 abcdef\n" * 280_000)])
    _picture(view)
    assert view._setter.kept < 10
    view.scroll_to_top()
    assert _tops(view)["r/0"] == 0


# look


def test_user_block_code_and_selection_wear_their_colours(view: TranscriptView, themes: ThemeController) -> None:
    view.set_rows([Row("u", "user", "hello"), Row("a", "assistant", "text\n\n```py\nx = 1\n```", label="Assistant")])
    colors = _colors(_picture(view))
    theme = themes.theme
    assert theme.color("user_block").rgb() in colors
    assert theme.color("code_ground").rgb() in colors
    assert theme.color("selection").rgb() not in colors
    view.select_all()
    assert theme.color("selection").rgb() in _colors(_picture(view))


def test_a_change_of_theme_repaints_and_keeps_the_place(view: TranscriptView, themes: ThemeController) -> None:
    view.set_rows(_rows(60))
    view.scroll_by(-700)
    before = _tops(view)
    themes.set_choice("dark")
    assert _tops(view) == before
    assert themes.theme.color("user_block").rgb() in _colors(_picture(view))


def test_endings_say_what_happened_in_words_and_colour(view: TranscriptView, themes: ThemeController) -> None:
    view.set_rows([Row("e", "ending", "The server failed.", label="failed", tone="danger")])
    assert themes.theme.color("danger_soft").rgb() in _colors(_picture(view))


def test_a_running_answer_shows_a_caret_and_a_finished_one_does_not(
    view: TranscriptView, themes: ThemeController
) -> None:
    view.set_rows([Row("a", "assistant", "text", "streaming")])
    assert themes.theme.color("accent").rgb() in _colors(_picture(view))
    view.replace_row(Row("a", "assistant", "text", "final"))
    assert themes.theme.color("accent").rgb() not in _colors(_picture(view))


def test_waiting_is_shown_below_the_last_row(view: TranscriptView, themes: ThemeController) -> None:
    view.set_rows([Row("u", "user", "question")])
    view.set_activity("Waiting for the answer · 0:14")
    assert themes.theme.color("accent").rgb() in _colors(_picture(view))
    view.set_activity(None)
    assert themes.theme.color("accent").rgb() not in _colors(_picture(view))


def test_the_column_is_no_wider_than_the_reading_measure(view: TranscriptView) -> None:
    view.window().resize(1600, 600)
    QTest.qWait(0)
    assert view._flow.column == 720
    view.window().resize(500, 600)
    QTest.qWait(0)
    assert 400 < view._flow.column <= view.viewport().width() - 32
    before = view._flow.column
    view.set_rows(_rows(100))
    view.placed()
    assert view._flow.column == before


def test_another_width_keeps_the_row_that_is_read(view: TranscriptView) -> None:
    view.set_rows(_rows(200, 80))
    view.scroll_by(-8000)
    first = next(iter(_tops(view)))
    view.window().resize(600, 600)
    QTest.qWait(0)
    assert next(iter(_tops(view))) == first


@pytest.mark.parametrize("text", ["<b>bold</b>", "<img src='file:///etc/passwd'>", "![x](http://127.0.0.1:9/p.png)"])
def test_markup_is_shown_as_the_text_it_is(view: TranscriptView, text: str) -> None:
    view.set_rows([Row("a", "assistant", text)])
    piece = view._set(view.placed()[0].place)
    assert piece.layout.text() == text


def test_chinese_emoji_and_combining_characters_are_selected_whole(view: TranscriptView) -> None:
    text = "修复🌍e\u0301 end"
    view.set_rows([Row("a", "assistant", text)])
    QTest.mouseMove(view.viewport(), QPoint(0, 0))
    _drag(view, _point_of(view, "a", 0), _point_of(view, "a", text.index("e\u0301")))
    assert view.selection.text() == "修复🌍"


# reading


def _drag(view: TranscriptView, start: QPoint, end: QPoint) -> None:
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view.viewport(), end)
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=end)


def test_text_is_selected_across_rows_and_copied(view: TranscriptView) -> None:
    view.set_rows([Row("u", "user", "first question"), Row("a", "assistant", "the answer")])
    _drag(view, _point_of(view, "u", 6), _point_of(view, "a", 4))
    assert view.selection.text() == "question\n\nthe "
    QTest.keySequence(view, QKeySequence("Ctrl+C"))
    assert QGuiApplication.clipboard().text() == "question\n\nthe "


def test_everything_is_selected_and_copied_with_its_fences(view: TranscriptView) -> None:
    view.set_rows([Row("u", "user", "q"), Row("a", "assistant", "see\n\n```py\nx\n```\n")])
    QTest.keySequence(view, QKeySequence("Ctrl+A"))
    QTest.keySequence(view, QKeySequence("Ctrl+C"))
    assert QGuiApplication.clipboard().text() == "q\n\nsee\n\n```py\nx\n```\n"


def test_a_double_click_takes_a_word_and_a_third_the_paragraph(view: TranscriptView) -> None:
    view.set_rows([Row("a", "assistant", "one line\nsecond line here")])
    point = _point_of(view, "a", 12)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert view.selection.text() == "second"
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert view.selection.text() == "second line here"
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=point)


def test_shift_click_extends(view: TranscriptView) -> None:
    view.set_rows([Row("a", "assistant", "one two three")])
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=_point_of(view, "a", 0))
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier,
                     _point_of(view, "a", 7))
    assert view.selection.text() == "one two"


def test_dragging_beyond_the_edge_scrolls(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_rows(_rows(60))
    view.placed()
    start = view.verticalScrollBar().value()
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, 300))
    QTest.mouseMove(view.viewport(), QPoint(300, -40))
    qtbot.waitUntil(lambda: view.verticalScrollBar().value() < start)
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(300, -40))
    assert not view.selection.is_empty


def test_the_menu_copies_the_selection_or_the_message(view: TranscriptView) -> None:
    view.set_rows([Row("u", "user", "whole message")])
    row = view.rows()[0]
    menu = view.menu_for(row)
    texts = {action.text(): action for action in menu.actions()}
    assert not texts["Copy"].isEnabled()
    texts["Copy message"].trigger()
    assert QGuiApplication.clipboard().text() == "whole message"
    view.selection.select(Mark("u", 0), Mark("u", 5))
    again = {action.text(): action for action in view.menu_for(row).actions()}
    again["Copy"].trigger()
    assert QGuiApplication.clipboard().text() == "whole"


def test_the_menu_opens_without_a_loop_of_its_own(view: TranscriptView) -> None:
    view.set_rows([Row("u", "user", "text")])
    QTest.keyClick(view, Qt.Key.Key_Menu)
    menus = [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QMenu) and widget.isVisible()]
    assert len(menus) == 1
    menus[0].close()


def test_keys_scroll(view: TranscriptView) -> None:
    view.set_rows(_rows(100))
    view.placed()
    bar = view.verticalScrollBar()

    def press(key: Qt.Key) -> int:
        before = bar.value()
        QTest.keyClick(view, key)
        view.placed()
        return bar.value() - before

    assert press(Qt.Key.Key_Up) == -40
    assert press(Qt.Key.Key_Down) == 40
    assert press(Qt.Key.Key_PageUp) < -400
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert _tops(view)["r0/0"] == 0
    assert press(Qt.Key.Key_PageDown) > 400
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.is_following


def test_the_wheel_scrolls(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_rows(_rows(100))
    view.placed()
    before = view.verticalScrollBar().value()
    center = QPointF(view.viewport().rect().center())
    QTest.wheelEvent(view.windowHandle() or view.window().windowHandle(), center.toPoint(), QPoint(0, 120))
    view.placed()
    assert view.verticalScrollBar().value() == before - 60
    assert not view.is_following


def test_copy_is_the_transcripts_while_it_has_the_focus(view: TranscriptView) -> None:
    fired: list[str] = []
    QShortcut(QKeySequence("Ctrl+C"), view.window()).activated.connect(lambda: fired.append("copy"))
    view.set_rows([Row("u", "user", "text")])
    view.select_all()
    QTest.keySequence(view, QKeySequence("Ctrl+C"))
    assert fired == []
    assert QGuiApplication.clipboard().text() == "text"


def test_it_has_a_name_and_takes_the_focus(view: TranscriptView) -> None:
    assert view.accessibleName() == "Conversation"
    assert view.focusPolicy() == Qt.FocusPolicy.StrongFocus
    view.set_rows(_rows(40))
    view.scroll_by(-100)
    view.placed()
    assert _jump(view).accessibleName()


def test_keyboard_focus_is_visible(view: TranscriptView, themes: ThemeController) -> None:
    focus = themes.theme.color("focus").rgb()
    assert focus not in _colors(_picture(view))
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    assert focus in _colors(_picture(view))


def _colors(image: QImage) -> set[int]:
    return {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}
