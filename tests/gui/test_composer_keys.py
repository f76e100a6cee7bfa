"""Keys in the composer: sending, new lines, input methods, editing shortcuts, and one document per draft."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QShortcut,
    QTextCursor,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.composer.document import ComposerDocument
from app.composer.editor import ComposerEditor
from drafts.model import TextEdit

_NONE = Qt.KeyboardModifier.NoModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_CTRL = Qt.KeyboardModifier.ControlModifier
_PAD = Qt.KeyboardModifier.KeypadModifier


class Requests:
    """Counts what an editor asked for."""

    def __init__(self, editor: ComposerEditor) -> None:
        self.sends: list[str] = []
        self.steers = 0
        self._editor = editor
        editor.send_requested.connect(self._sent)
        editor.steer_requested.connect(self._steered)

    def _sent(self) -> None:
        self.sends.append(self._editor.shown.text())

    def _steered(self) -> None:
        self.steers += 1


@pytest.fixture
def editor(qtbot: QtBot) -> Iterator[ComposerEditor]:
    host = QWidget()
    layout = QVBoxLayout(host)
    editor = ComposerEditor(host)
    layout.addWidget(editor)
    qtbot.addWidget(host)
    with qtbot.waitExposed(host):
        host.show()
    host.activateWindow()
    editor.setFocus()
    yield editor


def _compose(editor: ComposerEditor, preedit: str) -> None:
    QApplication.sendEvent(editor, QInputMethodEvent(preedit, []))


def _commit(editor: ComposerEditor, text: str) -> None:
    event = QInputMethodEvent("", [])
    event.setCommitString(text)
    QApplication.sendEvent(editor, event)


@pytest.mark.parametrize(
    ("key", "modifiers", "sends", "steers", "text"),
    [
        (Qt.Key.Key_Return, _NONE, 1, 0, "hi"),
        (Qt.Key.Key_Enter, _PAD, 1, 0, "hi"),
        (Qt.Key.Key_Return, _SHIFT, 0, 0, "hi\n"),
        (Qt.Key.Key_Enter, _SHIFT | _PAD, 0, 0, "hi\n"),
        (Qt.Key.Key_Return, _CTRL, 0, 1, "hi"),
        (Qt.Key.Key_Enter, _CTRL | _PAD, 0, 1, "hi"),
    ],
)  # fmt: skip
def test_return_sends_shift_breaks_the_line_and_control_steers(
    editor: ComposerEditor, key: Qt.Key, modifiers: Qt.KeyboardModifier, sends: int, steers: int, text: str
) -> None:
    requests = Requests(editor)
    QTest.keyClicks(editor, "hi")
    QTest.keyClick(editor, key, modifiers)
    assert (len(requests.sends), requests.steers, editor.shown.text()) == (sends, steers, text)


def test_S01_a_held_return_sends_once(editor: ComposerEditor) -> None:
    requests = Requests(editor)
    QTest.keyClicks(editor, "x")
    QTest.keyPress(editor, Qt.Key.Key_Return)
    for _ in range(30):
        event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, _NONE, "\r", True)
        QApplication.sendEvent(editor, event)
    assert requests.sends == ["x"]


def test_K01_return_belongs_to_the_input_method_while_it_composes(editor: ComposerEditor, qtbot: QtBot) -> None:
    requests = Requests(editor)
    _compose(editor, "にほんご")
    assert editor.is_composing
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert requests.sends == []
    assert editor.shown.text() == ""
    _commit(editor, "日本語")
    qtbot.waitUntil(lambda: not editor.is_composing)
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert requests.sends == ["日本語"]


def test_K01_commit_and_return_in_one_turn_of_the_loop_do_not_send(editor: ComposerEditor) -> None:
    requests = Requests(editor)
    _compose(editor, "にほんご")
    _commit(editor, "日本語")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert requests.sends == []
    assert editor.shown.text() == "日本語"


def test_K01_preedit_is_never_an_edit(editor: ComposerEditor) -> None:
    edits: list[object] = []
    editor.show_document(ComposerDocument("before after", caret=7, parent=editor))
    editor.edited.connect(edits.append)
    _compose(editor, "に")
    _compose(editor, "にほん")
    _compose(editor, "")
    assert edits == []
    assert editor.shown.text() == "before after"


def test_a_character_committed_without_composing_can_be_sent_at_once(editor: ComposerEditor) -> None:
    requests = Requests(editor)
    _commit(editor, "é")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    assert requests.sends == ["é"]


def test_composing_replaces_the_selection_and_undo_brings_it_back(editor: ComposerEditor) -> None:
    editor.show_document(ComposerDocument("old text", caret=3, anchor=0, parent=editor))
    _compose(editor, "n")
    _commit(editor, "新")
    assert editor.shown.text() == "新 text"
    while editor.document().isUndoAvailable():
        editor.undo()
    assert editor.shown.text() == "old text"


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("Ctrl+Z", ""), ("Ctrl+A", "one two"), ("Ctrl+C", "one two"), ("Ctrl+X", "one two"),
        ("Backspace", "one tw"), ("Home", "one two"), ("End", "one two"), ("Ctrl+Backspace", "one "),
    ],
)  # fmt: skip
def test_K05_editing_keys_act_on_the_text_and_never_on_the_program(
    editor: ComposerEditor, keys: str, text: str
) -> None:
    fired: list[str] = []
    shortcut = QShortcut(QKeySequence(keys), editor.window())
    shortcut.activated.connect(lambda: fired.append(keys))
    QTest.keyClicks(editor, "one two")
    QTest.keySequence(editor, QKeySequence(keys))
    assert fired == []
    assert editor.shown.text() == text


@pytest.mark.parametrize("redo", ["Ctrl+Y", "Ctrl+Shift+Z"])
def test_K05_both_redo_keys_redo(editor: ComposerEditor, redo: str) -> None:
    fired: list[str] = []
    QShortcut(QKeySequence(redo), editor.window()).activated.connect(lambda: fired.append(redo))
    QTest.keyClicks(editor, "x")
    QTest.keySequence(editor, QKeySequence("Ctrl+Z"))
    assert editor.shown.text() == ""
    QTest.keySequence(editor, QKeySequence(redo))
    assert editor.shown.text() == "x"
    assert fired == []


def test_K05_cut_and_paste_are_text_actions(editor: ComposerEditor) -> None:
    fired: list[str] = []
    QShortcut(QKeySequence("Ctrl+V"), editor.window()).activated.connect(lambda: fired.append("paste"))
    QTest.keyClicks(editor, "text")
    for keys in ("Ctrl+A", "Ctrl+X", "Ctrl+V", "Ctrl+V"):
        QTest.keySequence(editor, QKeySequence(keys))
    assert editor.shown.text() == "texttext"
    assert fired == []


def test_D01_each_draft_has_its_own_text_caret_and_selection(editor: ComposerEditor) -> None:
    first, second = ComposerDocument(parent=editor), ComposerDocument(parent=editor)
    editor.show_document(first)
    QTest.keyClicks(editor, "alpha-1")
    cursor = editor.textCursor()
    cursor.setPosition(5)
    cursor.setPosition(3, QTextCursor.MoveMode.KeepAnchor)
    editor.setTextCursor(cursor)
    editor.show_document(second)
    assert editor.shown.text() == ""
    QTest.keyClicks(editor, "beta-2")
    editor.show_document(first)
    assert editor.shown.text() == "alpha-1"
    assert editor.caret_and_anchor() == (3, 5)
    editor.show_document(second)
    assert editor.shown.text() == "beta-2"


def test_D01_each_draft_keeps_its_scroll_position(editor: ComposerEditor) -> None:
    editor.set_height_limit(100)
    long_one = ComposerDocument("\n".join(str(number) for number in range(200)), parent=editor)
    other = ComposerDocument("short", parent=editor)
    editor.show_document(long_one)
    editor.verticalScrollBar().setValue(70)
    editor.show_document(other)
    editor.show_document(long_one)
    assert editor.verticalScrollBar().value() == 70


def test_D19_undo_stays_in_its_own_draft(editor: ComposerEditor) -> None:
    first, second = ComposerDocument(parent=editor), ComposerDocument(parent=editor)
    editor.show_document(first)
    QTest.keyClicks(editor, "typed in one")
    editor.show_document(second)
    for _ in range(10):
        QTest.keySequence(editor, QKeySequence("Ctrl+Z"))
    assert second.text() == ""
    editor.show_document(first)
    assert first.text() == "typed in one"
    QTest.keySequence(editor, QKeySequence("Ctrl+Z"))
    assert first.text() == ""


def test_edits_after_a_switch_are_told_for_the_shown_draft_only(editor: ComposerEditor) -> None:
    first, second = ComposerDocument(parent=editor), ComposerDocument(parent=editor)
    told: list[str] = []
    first.edited.connect(lambda _edit: told.append("first"))
    second.edited.connect(lambda _edit: told.append("second"))
    editor.edited.connect(lambda _edit: told.append("editor"))
    editor.show_document(first)
    editor.show_document(second)
    QTest.keyClicks(editor, "x")
    assert sorted(told) == ["editor", "second"]


def test_a_locked_text_can_be_selected_and_not_changed(editor: ComposerEditor) -> None:
    editor.show_document(ComposerDocument("held", parent=editor))
    editor.set_locked(True)
    QTest.keyClicks(editor, "x")
    QTest.keyClick(editor, Qt.Key.Key_Return, _SHIFT)
    QTest.keySequence(editor, QKeySequence("Ctrl+A"))
    assert editor.shown.text() == "held"
    assert editor.textCursor().selectedText() == "held"
    editor.set_locked(False)
    QTest.keyClicks(editor, "free")
    assert editor.shown.text() == "free"


def test_locking_drops_a_preedit_without_saving_it(editor: ComposerEditor) -> None:
    _compose(editor, "にほ")
    editor.set_locked(True)
    assert not editor.is_composing
    assert editor.shown.text() == ""


def test_a_press_inside_the_selection_places_the_caret_and_drags_nothing(editor: ComposerEditor) -> None:
    editor.show_document(ComposerDocument("many words", caret=10, anchor=0, parent=editor))
    QTest.mousePress(editor.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, 8))
    assert not editor.textCursor().hasSelection()
    QTest.mouseRelease(editor.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, 8))


def test_text_dropped_from_outside_is_plain_and_lands_where_it_fell(editor: ComposerEditor) -> None:
    edits: list[object] = []
    editor.show_document(ComposerDocument("ab", parent=editor))
    editor.edited.connect(edits.append)
    mime = QMimeData()
    mime.setHtml("<b>x</b>")
    mime.setText("x\r\ny")
    end = QPointF(editor.viewport().width() - 5, 8)
    held = Qt.MouseButton.LeftButton
    enter = QDragEnterEvent(end.toPoint(), Qt.DropAction.CopyAction, mime, held, _NONE)
    QApplication.sendEvent(editor.viewport(), enter)
    QApplication.sendEvent(editor.viewport(), QDropEvent(end, Qt.DropAction.CopyAction, mime, held, _NONE))
    assert editor.shown.text() == "abx\ny"
    assert edits == [TextEdit(2, 0, "x\ny")]


def test_tab_leaves_the_editor(editor: ComposerEditor) -> None:
    other = QWidget(editor.window())
    other.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    other.show()
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert not editor.hasFocus()
    assert editor.shown.text() == ""


def test_it_grows_with_its_text_up_to_the_limit(editor: ComposerEditor) -> None:
    editor.set_height_limit(200)
    small = editor.height()
    for _ in range(4):
        QTest.keyClick(editor, Qt.Key.Key_Return, _SHIFT)
    grown = editor.height()
    assert small < grown < 200
    for _ in range(40):
        QTest.keyClick(editor, Qt.Key.Key_Return, _SHIFT)
    assert editor.maximumHeight() == 200
    editor.selectAll()
    QTest.keyClick(editor, Qt.Key.Key_Delete)
    assert editor.maximumHeight() == small


def test_a_wrapped_line_counts_as_two(editor: ComposerEditor) -> None:
    editor.set_height_limit(400)
    before = editor.maximumHeight()
    QTest.keyClicks(editor, "many words that go on " * 30)
    assert editor.maximumHeight() > before


def test_the_context_menu_opens_without_a_loop_of_its_own(editor: ComposerEditor, qtbot: QtBot) -> None:
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.RightButton, pos=QPoint(5, 5))
    event_position = editor.mapToGlobal(QPoint(5, 5))
    editor.open_menu(QPoint(5, 5), event_position)
    menu = next(widget for widget in QApplication.topLevelWidgets() if isinstance(widget, QMenu) and widget.isVisible())
    assert menu.actions()
    menu.close()
