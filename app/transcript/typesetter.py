"""Pieces of text set in lines with Qt: laid out once, painted often, asked where a click fell."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QTextLayout, QTextOption

from app.theme import Theme
from app.transcript.blocks import Piece
from app.transcript.metrics import SMALL_LINE, Frame, frame_of
from app.transcript.rows import Row

_KEPT = 300
_AS_SHOWN = str.maketrans({"\n": "\u2028", "\u2029": "\u2028", "\r": "\u200b"})
_CHIP_PADDING, _CHIP_GAP = 8, 8


@dataclass(slots=True)
class SetPiece:
    """A piece in lines. Positions inside are pixels from the piece's own top left corner."""

    piece: Piece
    frame: Frame
    text: str
    layout: QTextLayout
    height: int
    left: float
    chip_width: float

    def offset_at(self, point: QPointF) -> int:
        """The character of the row nearest to a point."""
        y = point.y() - self.frame.above
        number = max(0, min(int(y // self.frame.line), self.layout.lineCount() - 1))
        if y < 0 or not self.layout.lineCount():
            return self.piece.start
        if y >= self.layout.lineCount() * self.frame.line:
            return self.piece.end
        line = self.layout.lineAt(number)
        cursor = line.xToCursor(point.x() - self.left)
        ends_here = line.textStart() + line.textLength()
        if cursor >= ends_here and number + 1 < self.layout.lineCount() and cursor > line.textStart():
            cursor = ends_here - 1  # behind the last character of a wrapped line is still this line
        return self.piece.start + _characters(self.text, cursor)

    def word_at(self, offset: int) -> tuple[int, int]:
        """The word around a character of the row."""
        text, place = self.text, max(0, min(offset - self.piece.start, len(self.text)))
        start = end = place
        while start > 0 and _is_word(text[start - 1]):
            start -= 1
        while end < len(text) and _is_word(text[end]):
            end += 1
        if start == end and end < len(text):
            end += 1
        return self.piece.start + start, self.piece.start + end

    def line_around(self, offset: int) -> tuple[int, int]:
        """The paragraph around a character of the row."""
        place = max(0, min(offset - self.piece.start, len(self.text)))
        start = self.text.rfind("\n", 0, place) + 1
        end = self.text.find("\n", place)
        return self.piece.start + start, self.piece.start + (len(self.text) if end < 0 else end)

    def selection_rects(self, span: tuple[int, int]) -> list[QRectF]:
        """Where the characters ``span`` of the row are, line by line."""
        first = _units_of(self.text, max(0, span[0] - self.piece.start))
        last = _units_of(self.text, max(0, span[1] - self.piece.start))
        rects: list[QRectF] = []
        for number in range(self.layout.lineCount()):
            line = self.layout.lineAt(number)
            start, end = line.textStart(), line.textStart() + line.textLength()
            if last <= start or first >= end:
                continue
            left = line.cursorToX(max(first, start))[0]  # type: ignore[index]
            right = line.cursorToX(min(last, end))[0]  # type: ignore[index]
            y = self.frame.above + number * self.frame.line
            wide = max(abs(right - left), 4.0)
            rects.append(QRectF(self.left + min(left, right), y, wide, self.frame.line))
        return rects

    def end_point(self) -> QPointF:
        """The top left corner of a caret behind the last character."""
        count = self.layout.lineCount()
        if not count:
            return QPointF(self.left, self.frame.above)
        line = self.layout.lineAt(count - 1)
        x = line.cursorToX(line.textStart() + line.textLength())[0]  # type: ignore[index]
        return QPointF(self.left + x, self.frame.above + (count - 1) * self.frame.line)


class Typesetter:
    """Sets pieces for one theme and column width, and keeps the newest few hundred."""

    def __init__(self, theme: Theme, column: int) -> None:
        self._kept: OrderedDict[tuple[str, int], SetPiece] = OrderedDict()
        self._column = column
        self._take(theme)

    def set_column(self, column: int) -> None:
        self._column = column
        self._kept.clear()

    def set_theme(self, theme: Theme) -> None:
        """Colours are looked up while painting; only fonts bind a layout."""
        self._take(theme)
        self._kept.clear()

    def forget(self, row_id: str) -> None:
        """A row was replaced."""
        for key in [key for key in self._kept if key[0] == row_id]:
            del self._kept[key]

    def clear(self) -> None:
        self._kept.clear()

    @property
    def kept(self) -> int:
        """How many laid-out pieces are in memory."""
        return len(self._kept)

    def set(self, row: Row, number: int, piece: Piece, is_last: bool) -> SetPiece:
        """The piece in lines, from memory if it has not changed."""
        key = (row.id, number)
        frame = frame_of(row.kind, piece, number == 0, is_last)
        kept = self._kept.get(key)
        if kept is None or kept.piece != piece or kept.frame != frame:
            kept = self._kept[key] = self._lay_out(row, piece, frame)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return kept

    def _lay_out(self, row: Row, piece: Piece, frame: Frame) -> SetPiece:
        text = row.text[piece.start : piece.end]
        chip = self._chip_width(row.label) if row.kind in ("ending", "error") else 0.0
        code = piece.block == "code"
        font = self._code if code else self._small if frame.line == SMALL_LINE else self._prose
        layout = QTextLayout(text.translate(_AS_SHOWN), font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTabStopDistance(self._tab if code else 4 * self._tab)
        layout.setTextOption(option)
        layout.setCacheEnabled(True)
        left = frame.left + chip
        width = max(40.0, self._column - left - frame.right)
        metrics = QFontMetricsF(font)
        rise = (frame.line - metrics.height()) / 2
        layout.beginLayout()
        count = 0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(width)
            # the pitch is fixed: a line with a taller fallback font is centred on the same base line
            line.setPosition(QPointF(0, count * frame.line + rise + metrics.ascent() - line.ascent()))
            count += 1
        layout.endLayout()
        height = frame.above + max(1, count) * frame.line + frame.below
        return SetPiece(piece, frame, text, layout, height, left, chip)

    def _chip_width(self, label: str) -> float:
        if not label:
            return 0.0
        return QFontMetricsF(self._label).horizontalAdvance(label) + 2 * _CHIP_PADDING + _CHIP_GAP

    def _take(self, theme: Theme) -> None:
        self._prose = theme.font("reading")
        self._code = theme.font("code")
        self._small = theme.font("small")
        self._label = theme.font("caption", QFont.Weight.Medium)
        self._tab = QFontMetricsF(self._code).horizontalAdvance(" ") * 4


def chip_rect(piece: SetPiece) -> QRectF:
    """Where the chip of an ending or error row stands."""
    return QRectF(0, piece.frame.above - 1, piece.chip_width - _CHIP_GAP, SMALL_LINE + 1)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _units_of(text: str, characters: int) -> int:
    before = text[:characters]
    return len(before) if before.isascii() else len(before.encode("utf-16-le", "surrogatepass")) // 2


def _characters(text: str, code_units: int) -> int:
    if text.isascii():
        return min(code_units, len(text))
    return len(text.encode("utf-16-le", "surrogatepass")[: 2 * code_units].decode("utf-16-le", "ignore"))


FLAGS_LINE = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
