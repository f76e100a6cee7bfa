"""What the composer tells outside: edits that always rebuild its text, whatever changed it."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QInputMethodEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.composer.document import ComposerDocument
from app.composer.editor import ComposerEditor
from app.composer.plain import plain, units
from drafts.fold import fold
from drafts.model import TextEdit


class Shadow:
    """The text as a listener rebuilds it from edits alone, in UTF-16 units."""

    def __init__(self, text: str = "") -> None:
        self.data = text.encode("utf-16-le")
        self.edits: list[TextEdit] = []

    def apply(self, edit: object) -> None:
        assert isinstance(edit, TextEdit)
        self.edits.append(edit)
        start, end = edit.position * 2, (edit.position + edit.removed) * 2
        assert end <= len(self.data), f"{edit} reaches beyond the text"
        self.data = self.data[:start] + edit.inserted.encode("utf-16-le") + self.data[end:]

    @property
    def text(self) -> str:
        return self.data.decode("utf-16-le")


@pytest.fixture
def editor(qtbot: QtBot) -> ComposerEditor:
    editor = ComposerEditor()
    qtbot.addWidget(editor)
    return editor


def _compose(editor: ComposerEditor, preedit: str) -> None:
    QApplication.sendEvent(editor, QInputMethodEvent(preedit, []))


def _commit(editor: ComposerEditor, text: str) -> None:
    event = QInputMethodEvent("", [])
    event.setCommitString(text)
    QApplication.sendEvent(editor, event)


def _paste(editor: ComposerEditor, text: str) -> None:
    mime = QMimeData()
    mime.setText(text)
    editor.insertFromMimeData(mime)


def _select(editor: ComposerEditor, start: int, end: int) -> None:
    """Select between two positions, never between the halves of a character (as no person can)."""
    cursor = editor.textCursor()
    for position, mode in ((start, QTextCursor.MoveMode.MoveAnchor), (end, QTextCursor.MoveMode.KeepAnchor)):
        cursor.setPosition(position, mode)
        character = editor.document().characterAt(position)
        if "\udc00" <= str(character) <= "\udfff" or not character:
            cursor.setPosition(max(0, position - 1), mode)
    editor.setTextCursor(cursor)


_TEXT = st.text(st.sampled_from("ab \n\t🌍é修\u0301\u2028\u2029\u00a0\x00\r"), max_size=12)
_POSITION = st.integers(0, 60)
_ACTION = st.one_of(
    st.tuples(st.just("type"), _TEXT),
    st.tuples(st.just("paste"), _TEXT),
    st.tuples(st.just("commit"), _TEXT),
    st.tuples(st.just("preedit"), st.sampled_from(["", "に", "にほ", "n"])),
    st.tuples(st.just("select"), _POSITION, _POSITION),
    st.tuples(st.sampled_from(["undo", "redo", "backspace", "delete", "cut_word", "select_all", "delete_block"])),
)


def _run(editor: ComposerEditor, action: tuple[object, ...]) -> None:
    name, *rest = action
    if name == "select":
        length = editor.shown.length
        first, second = (min(int(str(value)), length) for value in rest)
        _select(editor, first, second)
        return
    keys: dict[object, Callable[[], object]] = {
        "undo": editor.undo,
        "redo": editor.redo,
        "select_all": editor.selectAll,
        "backspace": lambda: QTest.keyClick(editor, Qt.Key.Key_Backspace),
        "delete": lambda: QTest.keyClick(editor, Qt.Key.Key_Delete),
        "cut_word": lambda: QTest.keyClick(editor, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier),
        "delete_block": lambda: QTest.keyClick(editor, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier),
        "type": lambda: editor.textCursor().insertText(plain(str(rest[0]))),
        "paste": lambda: _paste(editor, str(rest[0])),
        "commit": lambda: _commit(editor, str(rest[0])),
        "preedit": lambda: _compose(editor, str(rest[0])),
    }
    keys[name]()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=_TEXT, actions=st.lists(_ACTION, max_size=25))
def test_the_edits_alone_rebuild_the_text(
    editor: ComposerEditor, start: str, actions: list[tuple[object, ...]]
) -> None:
    document = ComposerDocument(start, parent=editor)
    shadow = Shadow(document.text())
    editor.show_document(document)
    document.edited.connect(shadow.apply)
    for action in actions:
        _run(editor, action)
        assert shadow.text == document.text(), action
        assert document.length == units(document.text())
    _compose(editor, "")
    document.edited.disconnect(shadow.apply)
    editor.show_document(ComposerDocument(parent=editor))
    document.deleteLater()


@pytest.mark.parametrize(
    ("start", "action", "edits"),
    [
        ("", ("type", "x"), [TextEdit(0, 0, "x")]),
        ("ab\ncd", ("paste", "1\r\n2\r3\x00"), [TextEdit(0, 0, "1\n2\n3")]),
        ("ab", ("select_all",), []),
        ("a\nb\nc", ("delete",), [TextEdit(0, 1, "")]),
    ],
)
def test_an_edit_is_no_larger_than_the_change(
    editor: ComposerEditor, start: str, action: tuple[object, ...], edits: list[TextEdit]
) -> None:
    shadow = Shadow(start)
    editor.show_document(ComposerDocument(start, parent=editor))
    editor.edited.connect(shadow.apply)
    _run(editor, action)
    assert shadow.edits == edits


def test_several_paragraphs_deleted_at_once_are_one_edit(editor: ComposerEditor) -> None:
    shadow = Shadow("one\ntwo\nthree")
    editor.show_document(ComposerDocument("one\ntwo\nthree", parent=editor))
    editor.edited.connect(shadow.apply)
    editor.selectAll()
    QTest.keyClick(editor, Qt.Key.Key_Delete)
    assert shadow.edits == [TextEdit(0, 13, "")]
    editor.undo()
    assert shadow.text == "one\ntwo\nthree"


def test_a_commit_in_a_long_paragraph_is_one_small_edit(editor: ComposerEditor) -> None:
    text = "word " * 1000
    shadow = Shadow(text)
    editor.show_document(ComposerDocument(text, caret=10, parent=editor))
    editor.edited.connect(shadow.apply)
    _compose(editor, "に")
    _compose(editor, "にほ")
    assert shadow.edits == []
    _commit(editor, "日本")
    assert shadow.edits == [TextEdit(10, 0, "日本")]


def test_the_caret_is_already_moved_when_an_edit_is_told(editor: ComposerEditor) -> None:
    carets: list[tuple[int, int]] = []
    editor.edited.connect(lambda _edit: carets.append(editor.caret_and_anchor()))
    QTest.keyClicks(editor, "ab")
    assert carets == [(1, 1), (2, 2)]


def test_caret_and_selection_are_told_once_per_move(editor: ComposerEditor) -> None:
    editor.show_document(ComposerDocument("abc", parent=editor))
    moves: list[tuple[int, int]] = []
    editor.caret_moved.connect(lambda caret, anchor: moves.append((caret, anchor)))
    QTest.keyClick(editor, Qt.Key.Key_Right)
    QTest.keyClick(editor, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    editor.selectAll()
    assert moves == [(1, 1), (2, 1), (3, 0)]


def test_text_that_a_composer_cannot_keep_comes_back_as_the_edit_that_mends_its_source() -> None:
    document = ComposerDocument()
    assert document.load("plain\ntext") is None
    assert document.load("a\r\nb\x00") == TextEdit(0, 5, "a\nb")
    assert document.text() == "a\nb"


def test_loading_is_silent_and_leaves_nothing_to_undo(editor: ComposerEditor) -> None:
    shadow = Shadow()
    document = ComposerDocument(parent=editor)
    editor.show_document(document)
    editor.edited.connect(shadow.apply)
    document.load("from the store", 4)
    editor.refresh()
    editor.undo()
    assert document.text() == "from the store"
    assert editor.caret_and_anchor() == (4, 4)
    assert shadow.edits == []


def test_rich_text_is_pasted_and_copied_as_plain_text(editor: ComposerEditor) -> None:
    mime = QMimeData()
    mime.setHtml("<b>bold</b>")
    mime.setText("bold")
    editor.insertFromMimeData(mime)
    assert editor.shown.text() == "bold"
    editor.selectAll()
    assert editor.createMimeDataFromSelection().formats() == ["text/plain"]


def test_a_no_break_space_survives(editor: ComposerEditor) -> None:
    shadow = Shadow()
    editor.edited.connect(shadow.apply)
    _paste(editor, "5\u00a0km")
    assert shadow.text == "5\u00a0km"
    assert editor.shown.text() == "5\u00a0km"


def test_a_key_in_five_megabytes_reads_no_more_than_the_key(editor: ComposerEditor) -> None:
    text = "a line of eighty characters that is repeated until the draft is very long.....\n" * 64_000
    document = ComposerDocument(text, caret=2_000_000, parent=editor)
    editor.resize(600, 200)
    editor.show_document(document)
    shadow: list[object] = []
    editor.edited.connect(shadow.append)

    def forbidden() -> str:
        raise AssertionError("read the whole text on a key")

    document.text = forbidden  # type: ignore[method-assign]
    gc.collect()
    QTest.keyClicks(editor, "abc")
    editor.undo()
    assert shadow[:3] == [TextEdit(2_000_000 + number, 0, key) for number, key in enumerate("abc")]


@pytest.mark.parametrize(
    ("reported", "edit"),
    [
        ((0, 7, 7), TextEdit(0, 6, "ab\ncde")),  # the closing separator of the document is counted
        ((3, 4, 4), TextEdit(3, 3, "cde")),
        ((1, 1, 3), TextEdit(0, 6, "ab\ncde")),  # impossible: the lengths do not add up
        ((9, 1, 1), TextEdit(0, 6, "ab\ncde")),
    ],
)
def test_a_wrong_report_of_qt_still_gives_an_edit_that_is_right(reported: tuple[int, int, int], edit: TextEdit) -> None:
    document = ComposerDocument("ab\ncde")
    told: list[object] = []
    document.edited.connect(told.append)
    document.document.contentsChange.emit(*reported)
    assert told == [edit]


@pytest.mark.parametrize("key", [Qt.Key.Key_Delete, Qt.Key.Key_Right, Qt.Key.Key_Backspace])
def test_an_editing_key_during_composition_never_cuts_a_character_in_half(qtbot: QtBot, key: Qt.Key) -> None:
    document = ComposerDocument("🌍🌍", 2, 2)
    editor = ComposerEditor()
    qtbot.addWidget(editor)
    editor.show_document(document)
    edits: list[TextEdit] = []
    editor.edited.connect(edits.append)
    QApplication.sendEvent(editor, QInputMethodEvent("に", []))
    QTest.keyClick(editor, key)
    assert document.text() == fold("🌍🌍", edits)
    assert document.text() in ("🌍", "🌍🌍")
