"""Two small windows that only tell something: the list of shortcuts and what this program is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

_IN_THE_COMPOSER = (
    ("Enter", "Send, unless an input method is composing"),
    ("Shift+Enter", "New line"),
)
_IN_THE_LIST = (
    ("Enter", "Open the conversation"),
    ("F2", "Rename the conversation"),
)


class _Notice(QDialog):
    """A title, something in the middle, and a button that closes it."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(24, 20, 24, 20)
        self.column.setSpacing(8)
        self.column.addWidget(_label(title, "title"))

    def end_with_close(self) -> None:
        close = QPushButton("Close")
        close.setAccessibleName("Close")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        self.column.addSpacing(8)
        self.column.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)


class ShortcutsDialog(_Notice):
    """What each key does, in the window, the composer and the list."""

    def __init__(self, lines: Sequence[tuple[str, str]], parent: QWidget) -> None:
        super().__init__("Shortcuts", parent)
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(3)
        row = 0
        groups = (("Everywhere", lines), ("While writing", _IN_THE_COMPOSER), ("In the list", _IN_THE_LIST))
        for heading, entries in groups:
            grid.addWidget(_label(heading, "section"), row, 0, 1, 2)
            grid.setRowMinimumHeight(row, 24)
            for offset, (keys, words) in enumerate(entries, row + 1):
                grid.addWidget(_label(keys, "code"), offset, 0)
                grid.addWidget(_label(words, "body"), offset, 1)
            row += len(entries) + 1
        self.column.addLayout(grid)
        self.end_with_close()


class AboutDialog(_Notice):
    """Name, version, licences."""

    def __init__(self, version: str, parent: QWidget) -> None:
        super().__init__("Inkfast", parent)
        self.column.addWidget(_label(f"Version {version}", "muted"))
        self.column.addWidget(_label("Local conversations with models that keep every word.", ""))
        self.column.addWidget(
            _label(
                "MIT licence. Uses Qt and PySide6 (LGPL), SQLite, llama.cpp (MIT), "
                "Inter and JetBrains Mono (OFL), Lucide icons (ISC).",
                "small",
            )
        )
        self.end_with_close()
        self.setMaximumWidth(460)


def _label(text: str, role: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(role in ("small", ""))
    if role:
        label.setProperty("role", role)
    return label
