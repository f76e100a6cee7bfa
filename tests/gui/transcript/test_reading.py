"""The transcript on a screen: selecting, copying, keys."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.theme import ThemeController
from app.transcript.rows import Row
from app.transcript.selection import Mark
from app.transcript.view import TranscriptView
from tests.gui.transcript.kit import colors, drag, jump, picture, point_of, rows, tops


def test_text_is_selected_across_rows_and_copied(view: TranscriptView) -> None:
    view.set_rows([Row("u", "user", "first question"), Row("a", "assistant", "the answer")])
    drag(view, point_of(view, "u", 6), point_of(view, "a", 4))
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
    point = point_of(view, "a", 12)
    QTest.mouseDClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert view.selection.text() == "second"
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert view.selection.text() == "second line here"
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=point)


def test_shift_click_extends(view: TranscriptView) -> None:
    view.set_rows([Row("a", "assistant", "one two three")])
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point_of(view, "a", 0))
    QTest.mouseClick(
        view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, point_of(view, "a", 7)
    )
    assert view.selection.text() == "one two"


def test_dragging_beyond_the_edge_scrolls(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_rows(rows(60))
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
    view.set_rows(rows(100))
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
    assert tops(view)["r0/0"] == 0
    assert press(Qt.Key.Key_PageDown) > 400
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.is_following


def test_the_wheel_scrolls(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_rows(rows(100))
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
    view.set_rows(rows(40))
    view.scroll_by(-100)
    view.placed()
    assert jump(view).accessibleName()


def test_keyboard_focus_is_visible(view: TranscriptView, themes: ThemeController) -> None:
    focus = themes.theme.color("focus").rgb()
    assert focus not in colors(picture(view))
    view.clearFocus()
    view.setFocus(Qt.FocusReason.TabFocusReason)
    assert focus in colors(picture(view))
