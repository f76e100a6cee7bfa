"""The card around the composer: the strongest border of the window, with a ring while it has the focus."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget

from app.theme import Theme

RING = 3
"""Width of the soft ring outside the border; the card keeps this much free on every side."""


class ComposerCard(QFrame):
    """Self-painted: a style sheet has no outer ring. Follows the focus of one child."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._target: QWidget | None = None

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def follow(self, target: QWidget) -> None:
        """Show the ring while ``target`` has the focus, and focus it on a click beside it."""
        self._target = target
        self.setFocusProxy(target)
        target.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._target and event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._target is not None:
            self._target.setFocus(Qt.FocusReason.MouseFocusReason)
        event.accept()

    def paintEvent(self, event: QPaintEvent) -> None:
        focused = self._target is not None and self._target.hasFocus()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        radius = self._theme.radii["card"]
        if focused:
            ring = QRectF(self.rect()).adjusted(RING / 2, RING / 2, -RING / 2, -RING / 2)
            painter.setPen(QPen(self._theme.color("ring"), RING))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(ring, radius + RING / 2, radius + RING / 2)
        border: QColor = self._theme.color("focus" if focused else "border_strong")
        painter.setPen(QPen(border, 1.25 if focused else 1))
        painter.setBrush(self._theme.color("surface"))
        inner = QRectF(self.rect()).adjusted(RING - 0.5, RING - 0.5, 0.5 - RING, 0.5 - RING)
        painter.drawRoundedRect(inner, radius, radius)
