"""The project tree: workspaces, their drafts and conversations, and the way to a new one.

Moving with the keyboard only moves; Enter, Space or a click opens. What is open is set by the window, so a
list that is refreshed from the stores never opens anything by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.icons import Icons
from app.sidebar.delegate import RowDelegate
from app.sidebar.model import TreeModel
from app.sidebar.row_list import RowList
from app.sidebar.rows import RowKind, TreeRow
from app.theme import ThemeController

_GLOBAL = "global"


class ProjectTree(QWidget):
    """Header with "New conversation" and "Open folder…", the list below."""

    new_conversation_requested = Signal(str)
    """Workspace id."""
    draft_selected = Signal(str)
    """Workspace id, or ``<workspace id>/<slot>`` for a parallel draft."""
    session_selected = Signal(str)
    open_folder_requested = Signal()
    rename_requested = Signal(str, str)
    """Session id and new title."""
    discard_draft_requested = Signal(str)
    """As ``draft_selected``."""

    def __init__(self, themes: ThemeController, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "window")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._open: tuple[RowKind, str] | None = None
        self._waiting: Sequence[TreeRow] | None = None
        self._model = TreeModel(self)
        self._delegate = RowDelegate(themes, icons, self)
        self._list = RowList(self._model, self._delegate, self)
        self._new = QPushButton("New conversation")
        self._folder = QPushButton()
        self._lay_out(icons)
        self._connect(themes)

    def set_rows(self, rows: Sequence[TreeRow]) -> None:
        """Show ``rows``. Selection, keyboard place and scroll stay; nothing is emitted.

        While a title is being edited the rows wait, so that the typed title is not lost.
        """
        if self._list.is_editing:
            self._waiting = list(rows)
            return
        current = self._model.row(self._list.currentIndex())
        anchor, offset = self._anchor()
        self._model.replace(rows)
        if current is not None:
            self._move_to(self._model.find(current.key))
        self._list.mark_open(self._model.find(self._open) if self._open else QModelIndex())
        self._restore_scroll(anchor, offset)

    def set_open(self, kind: RowKind | None, row_id: str = "") -> None:
        """What the window shows: ("draft", workspace id), ("session", session id) or None. Emits nothing."""
        self._open = None if kind is None else (kind, row_id)
        index = self._model.find(self._open) if self._open else QModelIndex()
        self._list.mark_open(index)
        if index.isValid():
            self._move_to(index)
            self._list.scrollTo(index)

    def open_row(self) -> TreeRow | None:
        """The row that is shown as open."""
        return self._model.row(self._model.find(self._open)) if self._open else None

    def current_workspace(self) -> str:
        """The workspace that "New conversation" means: that of what is open, else the global one."""
        row = self.open_row()
        if row is not None:
            return row.workspace_id
        return self._open[1].partition("/")[0] if self._open and self._open[0] == "draft" else _GLOBAL

    def pane(self) -> QWidget:
        """The widget that F6 goes to."""
        return self._list

    def start_rename(self) -> None:
        """Edit the title of the open conversation in place."""
        row = self.open_row()
        if row is not None:
            self.edit_row(row)

    def activate(self, row: TreeRow) -> None:
        """Ask for what a click on ``row`` asks for."""
        signals = {
            "workspace": self.new_conversation_requested,
            "draft": self.draft_selected,
            "session": self.session_selected,
        }
        signals[row.kind].emit(row.id)

    def edit_row(self, row: TreeRow) -> None:
        """Edit the title of a conversation in place."""
        index = self._model.find(row.key)
        if index.isValid() and index.flags() & Qt.ItemFlag.ItemIsEditable:
            self._list.scrollTo(index)
            self._list.edit(index)

    def _lay_out(self, icons: Icons) -> None:
        icons.bind(self._new, "plus", "accent_text", 16)
        self._new.setProperty("role", "primary")
        self._new.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._new.setAccessibleName("New conversation")
        self._new.setToolTip("New conversation (Ctrl+N)")
        icons.bind(self._folder, "folder", "text")
        self._folder.setFixedWidth(42)
        self._folder.setAccessibleName("Open folder as workspace")
        self._folder.setToolTip("Open a folder as workspace (Ctrl+O)")
        head = QHBoxLayout()
        head.setContentsMargins(4, 0, 4, 0)
        head.setSpacing(8)
        head.addWidget(self._new)
        head.addWidget(self._folder)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 12, 8, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self._list)

    def _connect(self, themes: ThemeController) -> None:
        self._new.clicked.connect(self._new_clicked)
        self._folder.clicked.connect(self.open_folder_requested)
        self._list.opened.connect(self._opened)
        self._list.menu_asked.connect(self._show_menu)
        self._list.editing_ended.connect(self._editing_ended, Qt.ConnectionType.QueuedConnection)
        self._model.renamed.connect(self.rename_requested)
        themes.changed.connect(self._repaint)

    def _repaint(self, _theme: object) -> None:
        self._list.viewport().update()

    def _new_clicked(self) -> None:
        self.new_conversation_requested.emit(self.current_workspace())

    def _opened(self, index: QModelIndex) -> None:
        row = self._model.row(index)
        if row is not None:
            self.activate(row)

    def _show_menu(self, index: QModelIndex, at: QPoint) -> None:
        row = self._model.row(index)
        if row is not None:
            self._list.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
            RowMenu(self, row).popup(at)

    def _editing_ended(self) -> None:
        if self._waiting is not None and not self._list.is_editing:
            rows, self._waiting = self._waiting, None
            self.set_rows(rows)

    def _move_to(self, index: QModelIndex) -> None:
        if index.isValid():
            self._list.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)

    def _anchor(self) -> tuple[tuple[RowKind, str] | None, int]:
        """The first visible row and how far it is scrolled; None at the very top, which stays the top."""
        if self._list.verticalScrollBar().value() == 0:
            return None, 0
        index = self._list.indexAt(QPoint(4, 0))
        row = self._model.row(index)
        return (row.key, self._list.visualRect(index).top()) if row is not None else (None, 0)

    def _restore_scroll(self, anchor: tuple[RowKind, str] | None, offset: int) -> None:
        bar = self._list.verticalScrollBar()
        if anchor is None:
            if bar.value():
                bar.setValue(0)
            return
        index = self._model.find(anchor)
        if index.isValid():
            self._list.doItemsLayout()
            bar.setValue(bar.value() + self._list.visualRect(index).top() - offset)


class RowMenu(QMenu):
    """What can be done with one row. Every entry is also reachable by keyboard or a menu of the window."""

    def __init__(self, tree: ProjectTree, row: TreeRow) -> None:
        super().__init__(tree)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._tree = tree
        self._row = row
        if row.kind == "workspace":
            self.addAction("New conversation here", self._open)
            self.addAction("Copy name", self._copy)
            return
        self.addAction("Open", self._open)
        if row.kind == "session":
            self.addAction("Rename", self._rename).setShortcut(Qt.Key.Key_F2)
        self.addAction("Copy title" if row.kind == "session" else "Copy first line", self._copy)
        if row.kind == "draft":
            self.addSeparator()
            self.addAction("Discard draft…", self._discard)

    def _open(self) -> None:
        self._tree.activate(self._row)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._row.title)

    def _rename(self) -> None:
        self._tree.edit_row(self._row)

    def _discard(self) -> None:
        self._tree.discard_draft_requested.emit(self._row.id)
