"""Paints one row of the project tree and edits a title in place."""

from __future__ import annotations

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from app.icons import Icons
from app.sidebar.model import ROW_ROLE
from app.sidebar.rows import Mark, TreeRow
from app.theme import Theme, ThemeController

ROW_HEIGHT = 30
_SIDE = 8
_MARK_WIDTH = 15
_GAP = 8
_PLUS = 16
_INSET = 1
_DRAFT_PREFIX = "Draft: "
_Index = QModelIndex | QPersistentModelIndex
_MARK_COLORS: dict[Mark, str] = {
    "draft": "accent",
    "unsaved": "accent",
    "running": "accent",
    "conflict": "warn",
    "interrupted": "warn",
    "unknown": "warn",
    "error": "danger",
    "failed": "danger",
}


class RowDelegate(QStyledItemDelegate):
    """Fixed height; ground, mark, title and note come from the tokens of the theme in force."""

    def __init__(self, themes: ThemeController, icons: Icons, parent: QObject) -> None:
        super().__init__(parent)
        self._icons = icons
        self._wear(themes.theme)
        themes.changed.connect(self._wear)

    def plus_rect(self, row: QRect) -> QRect:
        """Where the "new conversation here" sign of a workspace row is."""
        return QRect(row.right() - _SIDE - _PLUS - 4, row.top(), _PLUS + 8, row.height())

    def _wear(self, theme: Theme) -> None:
        self._theme = theme
        self._title_font = theme.font("body")
        self._draft_font = theme.font("body")
        self._draft_font.setItalic(True)
        self._note_font = theme.font("caption")
        self._section_font = theme.font("caption", QFont.Weight.DemiBold)

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        state, theme = option.state, self._theme  # type: ignore[attr-defined]  # the stubs lack the fields
        rect = QRectF(option.rect).adjusted(_INSET, 0.5, -_INSET, -0.5)  # type: ignore[attr-defined]
        radius = theme.radii["control"]
        painter.setPen(Qt.PenStyle.NoPen)
        if state & QStyle.StateFlag.State_Selected:
            painter.setBrush(theme.color("selected"))
            painter.drawRoundedRect(rect, radius, radius)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(theme.color("hover"))
            painter.drawRoundedRect(rect, radius, radius)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.color("focus"), 2))
            painter.drawRoundedRect(rect.adjusted(1, 1, -1, -1), radius, radius)

    def _paint_workspace(self, painter: QPainter, rect: QRect, row: TreeRow, hovered: bool) -> None:
        theme = self._theme
        inner = rect.adjusted(_SIDE, 4, -_SIDE, 0)
        if hovered:
            spot = self.plus_rect(rect)
            scale = painter.device().devicePixelRatio()
            pixmap = self._icons.pixmap("plus", "text_muted", _PLUS, scale)
            painter.drawPixmap(QPoint(spot.left() + 4, inner.center().y() - _PLUS // 2 + 1), pixmap)
        note = "" if hovered else row.note if row.available else "not available"
        used = self._paint_note(painter, inner, note, theme.color("text_muted"), self._section_font)
        inner.setRight(inner.right() - max(used, _PLUS + _GAP if hovered else 0))
        painter.setPen(theme.color("text_muted"))
        self._paint_elided(painter, inner, row.title, self._section_font)

    def _paint_entry(self, painter: QPainter, rect: QRect, row: TreeRow) -> None:
        theme = self._theme
        inner = rect.adjusted(_SIDE, 0, -_SIDE, 0)
        self._paint_mark(painter, QPointF(inner.left() + 3.5, inner.center().y() + 0.5), row.mark)
        inner.setLeft(inner.left() + _MARK_WIDTH)
        urgent = row.mark in ("error", "failed", "conflict", "interrupted", "unknown")
        color = theme.color(_MARK_COLORS[row.mark] if urgent else "text_muted")
        inner.setRight(inner.right() - self._paint_note(painter, inner, row.note, color, self._note_font))
        draft = row.kind == "draft"
        painter.setPen(theme.color("text_muted" if draft else "text"))
        text = (_DRAFT_PREFIX + row.title if row.title else "Draft") if draft else row.title
        self._paint_elided(painter, inner, text, self._draft_font if draft else self._title_font)

    def _paint_note(self, painter: QPainter, rect: QRect, note: str, color: QColor, font: QFont) -> int:
        """Paint the text at the right; returns the width that it takes with its gap."""
        if not note:
            return 0
        painter.setFont(font)
        painter.setPen(color)
        painter.drawText(rect, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, note)
        return QFontMetrics(font).horizontalAdvance(note) + _GAP

    def _paint_elided(self, painter: QPainter, rect: QRect, text: str, font: QFont) -> None:
        painter.setFont(font)
        elided = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, elided)

    def _paint_mark(self, painter: QPainter, centre: QPointF, mark: Mark) -> None:
        """A ring is a saved draft, a dot an unsaved one or a state that wants attention, an arc is running."""
        if not mark:
            return
        color = self._theme.color(_MARK_COLORS[mark])
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if mark == "running":
            painter.setPen(QPen(color, 2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawArc(QRectF(centre.x() - 3.5, centre.y() - 3.5, 7, 7), 50 * 16, 260 * 16)
        elif mark == "draft":
            painter.setPen(QPen(color, 1.6))
            painter.drawEllipse(centre, 2.7, 2.7)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(centre, 3.5, 3.5)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row: TreeRow | None = index.data(ROW_ROLE)
        if row is None:
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter, option)
        rect: QRect = option.rect  # type: ignore[attr-defined]
        if row.kind == "workspace":
            hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)  # type: ignore[attr-defined]
            self._paint_workspace(painter, rect, row, hovered)
        else:
            self._paint_entry(painter, rect, row)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(120, ROW_HEIGHT)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: _Index) -> QWidget:
        editor = QLineEdit(parent)
        editor.setAccessibleName("Title of the conversation")
        editor.setMaxLength(200)
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:
        rect: QRect = option.rect  # type: ignore[attr-defined]
        editor.setGeometry(rect.adjusted(_SIDE + _MARK_WIDTH - 10, 0, -2, 0))

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: _Index
    ) -> bool:
        """The whole title, but only where it is cut."""
        row: TreeRow | None = index.data(ROW_ROLE)
        if event.type() == QEvent.Type.ToolTip and row is not None:
            rect: QRect = option.rect  # type: ignore[attr-defined]
            taken = 2 * _SIDE + _MARK_WIDTH + QFontMetrics(self._note_font).horizontalAdvance(row.note) + _GAP
            wanted = QFontMetrics(self._title_font).horizontalAdvance(_DRAFT_PREFIX + row.title)
            if wanted <= rect.width() - taken:
                QToolTip.hideText()
                return True
        return super().helpEvent(event, view, option, index)
