"""A column in the middle of a page, never wider than the reading measure."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

MEASURE = 720
SIDE = 16


class Column(QWidget):
    """Put widgets into :attr:`box`; the column centres itself and keeps a margin at the sides."""

    def __init__(self, spacing: int = 12, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        inner = QWidget()
        inner.setMaximumWidth(MEASURE)
        inner.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.box = QVBoxLayout(inner)
        self.box.setContentsMargins(0, 0, 0, 0)
        self.box.setSpacing(spacing)
        row = QHBoxLayout(self)
        row.setContentsMargins(SIDE, 0, SIDE, 0)
        row.setSpacing(0)
        row.addStretch(1)
        row.addWidget(inner, 1000)
        row.addStretch(1)

    def measure(self) -> int:
        """The width of what stands in the column, in pixels."""
        return max(1, min(MEASURE, self.width() - 2 * SIDE))
