"""The list widget of the project tree: what a key, a click and a menu request mean."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from app.sidebar.delegate import RowDelegate
from app.sidebar.model import TreeModel

_Index = QModelIndex | QPersistentModelIndex


class RowList(QListView):
    """A list whose selection means "this is open": only :meth:`mark_open` changes it."""

    opened = Signal(QModelIndex)
    menu_asked = Signal(QModelIndex, QPoint)
    """Index and global position."""

    editing_ended = Signal()

    def __init__(self, model: TreeModel, delegate: RowDelegate, parent: QWidget) -> None:
        super().__init__(parent)
        self._row_delegate = delegate
        self.setModel(model)
        self.setItemDelegate(delegate)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setAccessibleName("Conversations")
        self.verticalScrollBar().setAccessibleName("Scroll conversations")

    @property
    def is_editing(self) -> bool:
        return self.state() == QAbstractItemView.State.EditingState

    def mark_open(self, index: QModelIndex) -> None:
        """Show ``index`` as the open one; invalid: none."""
        command = (
            QItemSelectionModel.SelectionFlag.ClearAndSelect
            if index.isValid()
            else QItemSelectionModel.SelectionFlag.Clear
        )
        self.selectionModel().select(index, command)

    def selectionCommand(self, index: _Index, event: QEvent | None = None) -> QItemSelectionModel.SelectionFlag:
        return QItemSelectionModel.SelectionFlag.NoUpdate

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and index.isValid() and index == self.currentIndex():
            selectable = index.flags() & Qt.ItemFlag.ItemIsSelectable
            spot = self._row_delegate.plus_rect(self.visualRect(index))
            if selectable or spot.contains(event.position().toPoint()):
                self.opened.emit(index)

    def event(self, event: QEvent) -> bool:
        """F2 renames the row at the keyboard here; elsewhere in the window the conversation that is open."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_F2
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.is_editing:  # Return in the title editor comes up here after it has been used there
            return
        index = self.currentIndex()
        if index.isValid() and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.opened.emit(index)
        elif event.key() == Qt.Key.Key_F2:
            if index.flags() & Qt.ItemFlag.ItemIsEditable:
                self.edit(index)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if by_keyboard else self.indexAt(event.pos())
        if not index.isValid():
            return
        at = self.visualRect(index).center() if by_keyboard else event.pos()
        self.menu_asked.emit(index, self.viewport().mapToGlobal(at))

    def closeEditor(self, editor: QWidget, hint: RowDelegate.EndEditHint) -> None:
        super().closeEditor(editor, hint)
        self.editing_ended.emit()
