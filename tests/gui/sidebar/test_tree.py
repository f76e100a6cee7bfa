"""The project tree in the window: what opens, what stays, and what a keyboard and a screen reader get."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible, QColor, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.icons import Icons
from app.sidebar.row_list import RowList
from app.sidebar.rows import TreeRow
from app.sidebar.tree import ProjectTree
from app.theme import ThemeController

ROWS = [
    TreeRow("workspace", "tide", "tide", "tide-tables", "2"),
    TreeRow("draft", "tide", "tide", "compare the two", "14:01", "draft"),
    TreeRow("session", "s1", "tide", "Why is the harmonic fit off by an hour?", "now", "running"),
    TreeRow("session", "s2", "tide", "Port names", "2 h"),
    TreeRow("workspace", "global", "global", "Global", "1"),
    TreeRow("session", "s3", "global", "<b>请用简短的句子</b>", "12 Nov", "failed"),
]


class Heard:
    """Everything the tree asked for, in order."""

    def __init__(self, tree: ProjectTree) -> None:
        self.calls: list[tuple[str, ...]] = []
        tree.new_conversation_requested.connect(self._new)
        tree.draft_selected.connect(self._draft)
        tree.session_selected.connect(self._session)
        tree.rename_requested.connect(self._rename)
        tree.discard_draft_requested.connect(self._discard)
        tree.open_folder_requested.connect(self._folder)

    def _new(self, workspace: str) -> None:
        self.calls.append(("new", workspace))

    def _draft(self, workspace: str) -> None:
        self.calls.append(("draft", workspace))

    def _session(self, session: str) -> None:
        self.calls.append(("session", session))

    def _rename(self, session: str, title: str) -> None:
        self.calls.append(("rename", session, title))

    def _discard(self, workspace: str) -> None:
        self.calls.append(("discard", workspace))

    def _folder(self) -> None:
        self.calls.append(("folder",))


@pytest.fixture
def tree(themes: ThemeController, icons: Icons, qtbot: QtBot) -> Iterator[ProjectTree]:
    made = ProjectTree(themes, icons)
    qtbot.addWidget(made)
    made.resize(265, 500)
    made.set_rows(ROWS)
    made.show()
    yield made
    made.close()


def listed(tree: ProjectTree) -> RowList:
    return tree.findChildren(RowList)[0]


def click(qtbot: QtBot, tree: ProjectTree, row: int, at: QPoint | None = None) -> None:
    rows = listed(tree)
    spot = at or rows.visualRect(rows.model().index(row, 0)).center()
    qtbot.mouseMove(rows.viewport(), spot)
    qtbot.mouseClick(rows.viewport(), Qt.MouseButton.LeftButton, pos=spot)


def test_a_click_opens_a_draft_or_a_conversation(tree: ProjectTree, qtbot: QtBot) -> None:
    heard = Heard(tree)
    click(qtbot, tree, 1)
    click(qtbot, tree, 3)
    assert heard.calls == [("draft", "tide"), ("session", "s2")]


def test_a_click_on_a_workspace_opens_nothing_but_its_plus_begins_a_conversation_there(
    tree: ProjectTree, qtbot: QtBot
) -> None:
    heard = Heard(tree)
    click(qtbot, tree, 4)
    assert heard.calls == []
    rect = listed(tree).visualRect(listed(tree).model().index(4, 0))
    click(qtbot, tree, 4, QPoint(rect.right() - 14, rect.center().y()))
    assert heard.calls == [("new", "global")]


def test_arrow_keys_only_move_and_enter_opens(tree: ProjectTree, qtbot: QtBot) -> None:
    heard, rows = Heard(tree), listed(tree)
    rows.setFocus()
    for _ in range(3):
        qtbot.keyClick(rows, Qt.Key.Key_Down)
    assert heard.calls == []
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    assert len(heard.calls) == 1 and heard.calls[0][0] == "session"


def test_typing_a_title_moves_to_it(tree: ProjectTree, qtbot: QtBot) -> None:
    rows = listed(tree)
    rows.setFocus()
    qtbot.keyClicks(rows, "port")
    assert rows.currentIndex().data() == "Port names"


def test_new_rows_keep_what_is_open_and_emit_nothing(tree: ProjectTree) -> None:
    tree.set_open("session", "s2")
    heard = Heard(tree)
    tree.set_rows([ROWS[0], TreeRow("session", "s9", "tide", "newer", "now"), *ROWS[1:]])
    assert heard.calls == []
    row = tree.open_row()
    assert row is not None and row.id == "s2"
    assert [index.data() for index in listed(tree).selectionModel().selectedIndexes()] == ["Port names"]


def test_clicking_does_not_pretend_that_something_is_open(tree: ProjectTree, qtbot: QtBot) -> None:
    tree.set_open("session", "s1")
    click(qtbot, tree, 3)
    assert [index.row() for index in listed(tree).selectionModel().selectedIndexes()] == [2]


def test_new_rows_above_do_not_move_what_is_being_looked_at(tree: ProjectTree) -> None:
    many = [TreeRow("session", f"m{n}", "global", f"title {n}", "1 h") for n in range(300)]
    tree.set_rows([*ROWS, *many])
    rows = listed(tree)
    rows.verticalScrollBar().setValue(1000)
    seen = rows.indexAt(QPoint(4, 0)).data(), rows.visualRect(rows.indexAt(QPoint(4, 0))).top()
    newer = [TreeRow("session", f"x{n}", "tide", f"newer {n}", "now") for n in range(3)]
    tree.set_rows([ROWS[0], *newer, *ROWS[1:], *many])
    assert (rows.indexAt(QPoint(4, 0)).data(), rows.visualRect(rows.indexAt(QPoint(4, 0))).top()) == seen


def test_at_the_top_new_rows_appear_at_the_top(tree: ProjectTree) -> None:
    many = [TreeRow("session", f"m{n}", "global", f"title {n}", "1 h") for n in range(300)]
    tree.set_rows([*ROWS, *many])
    tree.set_rows([ROWS[0], TreeRow("session", "x", "tide", "newest", "now"), *ROWS[1:], *many])
    assert listed(tree).verticalScrollBar().value() == 0


def test_the_new_button_means_the_workspace_of_what_is_open(tree: ProjectTree, qtbot: QtBot) -> None:
    heard = Heard(tree)
    new = next(button for button in tree.findChildren(QAbstractButton) if button.text() == "New conversation")
    qtbot.mouseClick(new, Qt.MouseButton.LeftButton)
    tree.set_open("session", "s1")
    qtbot.mouseClick(new, Qt.MouseButton.LeftButton)
    tree.set_open("draft", "empty-workspace")
    qtbot.mouseClick(new, Qt.MouseButton.LeftButton)
    assert heard.calls == [("new", "global"), ("new", "tide"), ("new", "empty-workspace")]


def test_a_title_is_edited_in_place_and_only_announced(tree: ProjectTree, qtbot: QtBot) -> None:
    heard, rows = Heard(tree), listed(tree)
    tree.set_open("session", "s2")
    tree.start_rename()
    editor = rows.findChildren(QLineEdit)[0]
    editor.setText("  Harbour\nnames ")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bool(heard.calls))
    assert heard.calls == [("rename", "s2", "Harbour names")]
    assert rows.model().index(3, 0).data() == "Port names"


def test_rows_that_arrive_while_a_title_is_edited_do_not_take_the_typed_title(tree: ProjectTree, qtbot: QtBot) -> None:
    heard, rows = Heard(tree), listed(tree)
    tree.set_open("session", "s2")
    tree.start_rename()
    rows.findChildren(QLineEdit)[0].setText("Harbour names")
    tree.set_rows([ROWS[0], TreeRow("session", "s9", "tide", "newer", "now"), *ROWS[1:]])
    qtbot.keyClick(rows.findChildren(QLineEdit)[0], Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: rows.model().index(1, 0).data() == "newer")
    assert heard.calls == [("rename", "s2", "Harbour names")]


def test_only_conversations_can_be_renamed(tree: ProjectTree, qtbot: QtBot) -> None:
    rows = listed(tree)
    for row in (0, 1):
        rows.setCurrentIndex(rows.model().index(row, 0))
        qtbot.keyClick(rows, Qt.Key.Key_F2)
    assert rows.findChildren(QLineEdit) == []


def test_the_menu_of_a_row_opens_renames_copies_and_discards(tree: ProjectTree, qtbot: QtBot) -> None:
    heard, rows = Heard(tree), listed(tree)
    for row, chosen in ((1, "Discard draft…"), (2, "Open"), (2, "Copy title"), (4, "New conversation here")):
        rows.menu_asked.emit(rows.model().index(row, 0), tree.mapToGlobal(QPoint(20, 20)))
        menu = tree.findChildren(QMenu)[-1]
        next(action for action in menu.actions() if action.text() == chosen).trigger()
        menu.close()
        menu.deleteLater()
        qtbot.waitUntil(lambda menu=menu: menu not in tree.findChildren(QMenu))  # type: ignore[misc]
    assert heard.calls == [("discard", "tide"), ("session", "s1"), ("new", "global")]
    assert QGuiApplication.clipboard().text() == "Why is the harmonic fit off by an hour?"


def test_no_plain_key_deletes_anything(tree: ProjectTree, qtbot: QtBot) -> None:
    heard, rows = Heard(tree), listed(tree)
    rows.setCurrentIndex(rows.model().index(1, 0))
    for key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace, Qt.Key.Key_D):
        qtbot.keyClick(rows, key, Qt.KeyboardModifier.ControlModifier)
        qtbot.keyClick(rows, key)
    assert heard.calls == []


def test_a_screen_reader_gets_kind_title_and_state_and_no_id(tree: ProjectTree) -> None:
    spoken = QAccessible.queryAccessibleInterface(listed(tree))
    assert spoken.text(QAccessible.Text.Name) == "Conversations"
    names = [spoken.child(n).text(QAccessible.Text.Name) for n in range(spoken.childCount())]
    assert "Conversation, Why is the harmonic fit off by an hour?, running, now" in names
    assert not any("s1" in name or "s3" in name for name in names)


def test_a_title_is_never_read_as_markup(tree: ProjectTree) -> None:
    tip = listed(tree).model().index(5, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "<b>" not in tip and "&lt;b&gt;" in tip


def test_every_control_has_a_name(tree: ProjectTree) -> None:
    for button in tree.findChildren(QAbstractButton):
        assert button.accessibleName(), button
    assert tree.pane().accessibleName()


def test_five_thousand_conversations_are_shown_at_once(tree: ProjectTree) -> None:
    rows = [TreeRow("session", f"s{n}", "global", f"A title of usual length, number {n}", "1 h") for n in range(5000)]
    spent = []
    for turn in range(3):
        begun = time.perf_counter()
        tree.set_rows(rows[turn:])
        tree.grab()
        spent.append(time.perf_counter() - begun)
    assert min(spent) < 0.1  # 30 ms on a quiet machine


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_paint_the_open_row_in_their_own_colour(
    tree: ProjectTree, themes: ThemeController, scheme: str
) -> None:
    themes.set_choice(scheme)  # type: ignore[arg-type]
    tree.set_open("session", "s2")
    rows = listed(tree)
    image = rows.viewport().grab().toImage()
    rect = rows.visualRect(rows.model().index(3, 0))
    ratio = image.devicePixelRatio()
    color = image.pixelColor(int((rect.right() - 60) * ratio), int((rect.top() + 4) * ratio))
    assert color == QColor(themes.theme.colors["selected"])
