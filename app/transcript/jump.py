"""The way back to the newest text, with how much of it has not been seen."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.icons import Icons


class JumpButton(QPushButton):
    """Floats above the lower edge while the view is not at the tail."""

    def __init__(self, icons: Icons, parent: QWidget) -> None:
        super().__init__(self.tr("Jump to latest"), parent)
        self.setProperty("role", "floating")
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setVisible(False)
        icons.bind(self, "arrow-down", "accent", 16)

    def show_count(self, count: int, visible: bool) -> None:
        """``count`` new rows; without any the button only shows the way."""
        text = self.tr("Jump to latest · {count} new").format(count=count) if count else self.tr("Jump to latest")
        if text != self.text():
            self.setText(text)
        self.setAccessibleName(text)
        if visible != self.isVisible():
            self.setVisible(visible)
