"""Air between the lines of the composer, which Qt's plain text layout does not offer.

WORKAROUND(https://doc.qt.io/qt-6/qplaintextdocumentlayout.html): the layout ignores line heights of block formats;
its lines may be moved apart after it has placed them, and everything else in QPlainTextEdit reads their positions.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QTextBlock, QTextDocument
from PySide6.QtWidgets import QPlainTextDocumentLayout

_MOST_LINES = 400


class SpacedLayout(QPlainTextDocumentLayout):
    """Plain text layout with ``extra`` pixels a line. A paragraph of more than 400 lines stays dense: moving
    its lines would cost more than the key that changed it."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.extra = 0.0

    def blockBoundingRect(self, block: QTextBlock) -> QRectF:
        natural = super().blockBoundingRect(block)
        layout = block.layout()
        count = layout.lineCount()
        if not self.extra or not 0 < count <= _MOST_LINES:
            return natural
        if layout.lineAt(0).y() == 0:
            for number in range(count):
                line = layout.lineAt(number)
                line.setPosition(QPointF(line.x(), line.y() + (number + 0.5) * self.extra))
        last = layout.lineAt(count - 1)
        return QRectF(natural.x(), 0, natural.width(), last.y() + last.height() + self.extra / 2)
