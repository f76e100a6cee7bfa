"""Reading with mouse and keyboard: selecting within and across rows, copying, paging."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QAction, QContextMenuEvent, QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.icons import Icons
from app.theme import ThemeController
from app.transcript.area import TranscriptArea
from app.transcript.rows import Row
from app.transcript.selection import Mark

_LINE = 40
_DRAG_TICK_MS = 30


class TranscriptView(TranscriptArea):
    """A :class:`TranscriptArea` that can be read: its selection, keys and menu."""

    def __init__(self, themes: ThemeController, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(themes, icons, parent)
        self._dragging = False
        self._pointer = QPointF()
        self._last_double = QPointF(-100, -100)
        self._clicks = QTimer(self)
        self._clicks.setSingleShot(True)
        self._drag = QTimer(self)
        self._drag.setInterval(_DRAG_TICK_MS)
        self._drag.timeout.connect(self._drag_on)

    def copy(self) -> None:
        """Put the selected text on the clipboard."""
        text = self.selection.text()
        if text:
            QGuiApplication.clipboard().setText(text)

    def select_all(self) -> None:
        """Select every row that is loaded."""
        self.selection.select_all()
        self.viewport().update()

    def menu_for(self, row: Row | None) -> QMenu:
        """The context menu at a row."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = QAction(self.tr("Copy"), menu)
        copy.setShortcut(QKeySequence.StandardKey.Copy)
        copy.setEnabled(not self.selection.is_empty)
        copy.triggered.connect(self.copy)
        message = QAction(self.tr("Copy message"), menu)
        message.setEnabled(row is not None and bool(row.text))
        message.setData(row.text if row is not None else "")
        everything = QAction(self.tr("Select all"), menu)
        everything.setShortcut(QKeySequence.StandardKey.SelectAll)
        everything.triggered.connect(self.select_all)
        menu.triggered.connect(self._copy_data)
        menu.addActions([copy, message, everything])
        return menu

    def _copy_data(self, action: QAction) -> None:
        if action.data():
            QGuiApplication.clipboard().setText(str(action.data()))

    def _drag_on(self) -> None:
        """Scroll while the pointer is held beyond an edge, and take the selection along."""
        y, height = self._pointer.y(), self.viewport().height()
        beyond = y if y < 0 else y - height if y > height else 0
        if beyond:
            self.scroll_by(round(beyond))
        self._take_selection()

    def _take_selection(self) -> None:
        mark = self.mark_at(self._pointer)
        if mark is not None:
            self.selection.move(mark)
            self.viewport().update()

    def _select_around(self, point: QPointF, paragraph: bool) -> None:
        mark, found = self.mark_at(point), self.piece_at(point)
        if mark is None or found is None:
            return
        row, piece = found
        start, end = piece.line_around(mark.offset) if paragraph else piece.word_at(mark.offset)
        self.selection.select(Mark(row.id, start), Mark(row.id, end))
        self.viewport().update()

    # Qt

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        point = event.position()
        near = (point - self._last_double).manhattanLength() < QApplication.startDragDistance()
        if self._clicks.isActive() and near:
            self._select_around(point, paragraph=True)
            return
        mark = self.mark_at(point)
        if mark is None:
            return
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.selection.move(mark)
        else:
            self.selection.start(mark)
        self._dragging, self._pointer = True, point
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self._dragging:
            return
        self._pointer = event.position()
        if 0 <= self._pointer.y() <= self.viewport().height():
            self._drag.stop()
        elif not self._drag.isActive():
            self._drag.start()
        self._take_selection()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragging = False
        self._drag.stop()
        clipboard = QGuiApplication.clipboard()
        if clipboard.supportsSelection() and not self.selection.is_empty:
            clipboard.setText(self.selection.text(), clipboard.Mode.Selection)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._last_double = event.position()
            self._clicks.start(QApplication.doubleClickInterval())
            self._select_around(event.position(), paragraph=False)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        point = QPointF(self.viewport().mapFromGlobal(event.globalPos()))
        found = self.piece_at(point)
        self.menu_for(found[0] if found is not None else None).popup(event.globalPos())

    def event(self, event: QEvent) -> bool:
        """Copy and select-all mean this text while it has the focus, whatever shortcuts the program has."""
        ours = (QKeySequence.StandardKey.Copy, QKeySequence.StandardKey.SelectAll)
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and any(event.matches(key) for key in ours)
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        page = max(_LINE, self.viewport().height() - _LINE)
        steps = {
            Qt.Key.Key_Up: -_LINE, Qt.Key.Key_Down: _LINE, Qt.Key.Key_PageUp: -page, Qt.Key.Key_PageDown: page,
            Qt.Key.Key_Space: page,
        }  # fmt: skip
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() in steps:
            self.scroll_by(steps[Qt.Key(event.key())])
        elif event.key() == Qt.Key.Key_Home:
            self.scroll_to_top()
        elif event.key() == Qt.Key.Key_End:
            self.jump_to_latest()
        elif event.key() == Qt.Key.Key_Menu:
            self.menu_for(None).popup(self.mapToGlobal(QPoint(self.width() // 2, self.height() // 2)))
        else:
            super().keyPressEvent(event)
