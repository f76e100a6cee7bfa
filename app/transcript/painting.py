"""How a row looks: bubble, code ground, label line, chip, selection, the caret of a running answer."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from app.theme import Theme
from app.transcript.metrics import CODE_HEAD, CODE_X, CODE_Y, LABEL
from app.transcript.rows import Row
from app.transcript.typesetter import FLAGS_LINE, SetPiece, chip_rect

_TONES = {"muted": ("sunken", "text_muted"), "warn": ("warn_soft", "warn"), "danger": ("danger_soft", "danger")}
_CARET = (7, 14)


class _Ground(NamedTuple):
    """A block of colour; its corners are round only where it ``opens`` and ``closes``."""

    rect: QRectF
    color: str
    radius: str
    opens: bool
    closes: bool
    border: str = ""


class RowPainter:
    """Paints laid-out pieces with the colours of one theme."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme

    def paint(self, painter: QPainter, row: Row, piece: SetPiece, column: int, span: tuple[int, int] | None) -> None:
        """Paint a piece at the painter's origin; ``span`` are the selected characters of the row."""
        if row.kind == "user":
            self._bubble(painter, piece, column)
        if piece.piece.block == "code":
            self._code_ground(painter, piece, column)
        if row.label and piece.frame.is_first and row.kind in ("assistant", "reasoning"):
            self._label(painter, row, piece, column)
        if piece.chip_width:
            self._chip(painter, row, piece)
        if span is not None:
            for rect in piece.selection_rects(span):
                painter.fillRect(rect, self.theme.color("selection"))
        muted = row.kind in ("notice", "reasoning", "ending")
        painter.setPen(self.theme.color("text_muted" if muted else "text"))
        piece.layout.draw(painter, QPointF(piece.left, piece.frame.above))

    def caret(self, painter: QPainter, piece: SetPiece) -> None:
        """The block behind the last character of an answer that is still coming."""
        at = piece.end_point()
        y = at.y() + (piece.frame.line - _CARET[1]) / 2
        painter.fillRect(QRectF(at.x() + 3, y, *_CARET), self.theme.color("accent"))

    def activity(self, painter: QPainter, text: str, rect: QRectF) -> None:
        """The line below the last row while nothing has arrived yet."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(self.theme.color("accent"), 2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        ring = QRectF(rect.left() + 1, rect.center().y() - 5, 10, 10)
        painter.drawArc(ring, 45 * 16, 270 * 16)
        painter.setFont(self.theme.font("small"))
        painter.setPen(self.theme.color("text_muted"))
        painter.drawText(rect.adjusted(20, 0, 0, 0), FLAGS_LINE, text)

    def _bubble(self, painter: QPainter, piece: SetPiece, column: int) -> None:
        frame = piece.frame
        top = frame.outer if frame.is_first else 0
        rect = QRectF(0, top, column, piece.height - top)
        self._ground(painter, _Ground(rect, "user_block", "bubble", frame.is_first, frame.is_last))

    def _code_ground(self, painter: QPainter, piece: SetPiece, column: int) -> None:
        first, last = piece.piece.first, piece.piece.last
        head = CODE_Y + (CODE_HEAD if piece.piece.language else 0) if first else 0
        inset, top = piece.frame.left - CODE_X, piece.frame.above - head
        lines = max(1, piece.layout.lineCount()) * piece.frame.line
        rect = QRectF(inset, top, column - 2 * inset, head + lines + (CODE_Y if last else 0))
        self._ground(painter, _Ground(rect, "code_ground", "card", first, last, "border"))
        if first and piece.piece.language:
            painter.setFont(self.theme.font("caption"))
            painter.setPen(self.theme.color("text_faint"))
            painter.drawText(QRectF(piece.left, top + 7, column / 2, CODE_HEAD - 4), FLAGS_LINE, piece.piece.language)

    def _ground(self, painter: QPainter, ground: _Ground) -> None:
        radius = self.theme.radii[ground.radius]
        whole = ground.rect.adjusted(0.5, 0.5, -0.5, -0.5)
        if not ground.opens:
            whole.setTop(ground.rect.top() - 2 * radius)
        if not ground.closes:
            whole.setBottom(ground.rect.bottom() + 2 * radius)
        path = QPainterPath()
        path.addRoundedRect(whole, radius, radius)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setClipRect(ground.rect, Qt.ClipOperation.IntersectClip)
        painter.setPen(QPen(self.theme.color(ground.border), 1) if ground.border else Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.color(ground.color))
        painter.drawPath(path)
        painter.restore()

    def _label(self, painter: QPainter, row: Row, piece: SetPiece, column: int) -> None:
        y = piece.frame.outer - LABEL
        font = self.theme.font("caption", QFont.Weight.Medium)
        painter.setFont(font)
        painter.setPen(self.theme.color("text_muted"))
        painter.drawText(QRectF(0, y, column, LABEL - 4), FLAGS_LINE, row.label)
        if row.note:
            begin = QFontMetricsF(font).horizontalAdvance(row.label) + 6
            plain = self.theme.font("caption")
            words = QFontMetricsF(plain).elidedText(f"· {row.note}", Qt.TextElideMode.ElideRight, column - begin)
            painter.setFont(plain)
            painter.setPen(self.theme.color("text_faint"))
            painter.drawText(QRectF(begin, y, column - begin, LABEL - 4), FLAGS_LINE, words)

    def _chip(self, painter: QPainter, row: Row, piece: SetPiece) -> None:
        ground, ink = _TONES[row.tone]
        rect = chip_rect(piece)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.theme.color(ground))
        painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
        painter.restore()
        painter.setFont(self.theme.font("caption", QFont.Weight.Medium))
        painter.setPen(self.theme.color(ink))
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, row.label)
