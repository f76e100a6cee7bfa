"""Distances of the transcript in pixels, and what a piece will take before it is laid out. No Qt."""

from __future__ import annotations

from typing import NamedTuple

from app.transcript.blocks import Piece
from app.transcript.heights import estimated_lines
from app.transcript.rows import RowKind

PROSE_SIZE, CODE_SIZE, SMALL_SIZE, LABEL_SIZE = 14, 13, 12, 11
PROSE_LINE, CODE_LINE, SMALL_LINE = 22, 19, 18
LABEL = 22
BUBBLE_X, BUBBLE_Y = 16, 12
CODE_X, CODE_Y = 14, 10
CODE_HEAD = 20
SIDE = 16
BOTTOM = 20
ACTIVITY = 34
_BLOCK_GAP = 8
_GAPS: dict[RowKind, int] = {"user": 24, "assistant": 16, "reasoning": 16, "notice": 12, "error": 12, "ending": 10}
_WIDTH_OF_PROSE, _WIDTH_OF_CODE, _WIDTH_OF_SMALL = 7.2, 7.8, 6.3


class Frame(NamedTuple):
    """The room around a piece's lines: what lies above and below them and at the sides, in pixels.

    ``outer`` is the part of ``above`` that lies outside of a bubble. ``is_first`` and ``is_last`` say that the piece
    begins, ends its row.
    """

    outer: int
    above: int
    below: int
    left: int
    right: int
    line: int
    is_first: bool
    is_last: bool


def frame_of(kind: RowKind, piece: Piece, is_first: bool, is_last: bool) -> Frame:
    """The frame of a piece of a row of ``kind``."""
    outer = _GAPS[kind] if is_first else _BLOCK_GAP if piece.first else 0
    above, below, side = outer, 0, 0
    if is_first and kind in ("assistant", "reasoning"):
        outer += LABEL
        above += LABEL
    if kind == "user":
        side = BUBBLE_X
        above += BUBBLE_Y if is_first else 0
        below += BUBBLE_Y if is_last else 0
    if piece.block == "code":
        side += CODE_X
        above += (CODE_Y + (CODE_HEAD if piece.language else 0)) if piece.first else 0
        below += CODE_Y if piece.last else 0
    return Frame(outer, above, below, side, side, line_height(kind, piece), is_first, is_last)


def line_height(kind: RowKind, piece: Piece) -> int:
    if piece.block == "code":
        return CODE_LINE
    return PROSE_LINE if kind in ("user", "assistant") else SMALL_LINE


def estimate(frame: Frame, weight: int, line_ends: int, column: int) -> int:
    """Height of a piece whose text has ``weight`` Latin characters and ``line_ends`` line breaks."""
    advance = {PROSE_LINE: _WIDTH_OF_PROSE, CODE_LINE: _WIDTH_OF_CODE}.get(frame.line, _WIDTH_OF_SMALL)
    per_line = max(8, int((column - frame.left - frame.right) / advance))
    return frame.above + frame.below + frame.line * estimated_lines(weight, line_ends, per_line)
