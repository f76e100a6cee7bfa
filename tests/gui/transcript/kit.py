"""What tests of the transcript look at: rows, places, pictures."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest

from app.transcript.jump import JumpButton
from app.transcript.rows import Row
from app.transcript.view import TranscriptView


def rows(count: int, words: int = 30) -> list[Row]:
    return [
        Row(f"r{number}", "user" if number % 2 == 0 else "assistant", f"{number} " + "word " * words)
        for number in range(count)
    ]


def tops(view: TranscriptView) -> dict[str, int]:
    rows = view.rows()
    return {f"{rows[one.place.row].id}/{one.place.piece}": one.y for one in view.placed()}


def picture(view: TranscriptView) -> QImage:
    return view.viewport().grab().toImage()


def point_of(view: TranscriptView, row_id: str, offset: int) -> QPoint:
    """A point of the viewport where that character of a row is."""
    for placed in view.placed():
        piece = view._set(placed.place)
        if view.rows()[placed.place.row].id == row_id and piece.piece.start <= offset < max(1, piece.piece.end):
            rect = piece.selection_rects((offset, offset + 1))[0]
            return QPoint(round(view._left() + rect.left()) + 1, round(placed.y + rect.center().y()))
    raise AssertionError(f"{row_id} is not in view")


def jump(view: TranscriptView) -> JumpButton:
    button = view.findChild(JumpButton)
    assert button is not None
    return button


def colors(image: QImage) -> set[int]:
    return {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}


def drag(view: TranscriptView, start: QPoint, end: QPoint) -> None:
    QTest.mousePress(view.viewport(), Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(view.viewport(), end)
    QTest.mouseRelease(view.viewport(), Qt.MouseButton.LeftButton, pos=end)
