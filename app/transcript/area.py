"""The transcript of a conversation: painted by itself, so that a hundred thousand rows cost what ten do.

Selection, the keyboard and the context menu live in :mod:`app.transcript.view`; here are rows, painting and
scrolling. Text is plain: nothing in it is ever interpreted as markup or loaded from anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.icons import Icons
from app.theme import Theme, ThemeController
from app.transcript.flow import Flow, Place
from app.transcript.jump import JumpButton
from app.transcript.metrics import ACTIVITY, BOTTOM, SIDE
from app.transcript.painting import RowPainter
from app.transcript.rows import Row
from app.transcript.scrolling import Placed, Scrolling
from app.transcript.selection import Mark, Selection
from app.transcript.typesetter import SetPiece, Typesetter

_KEYBOARD_REASONS = (
    Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason,
)  # fmt: skip


class TranscriptArea(QAbstractScrollArea):
    """Rows in a column of at most the reading measure; follows the tail only while at the tail."""

    top_reached = Signal()
    """Less than one view of rows is left above: older ones are wanted. Once until rows come or the rows change."""
    following_changed = Signal(bool)
    _top_near = Signal()

    def __init__(self, themes: ThemeController, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme = themes.theme
        self._measure_max = theme.measure
        self._flow = Flow(theme.measure)
        self._setter = Typesetter(theme, theme.measure)
        self._scrolling = Scrolling(self._flow, self._measure)
        self._painter = RowPainter(theme)
        self.selection = Selection(self._flow)
        self._placed: list[Placed] = []
        self._stale = True
        self._moving_bar = False
        self._top_told = False
        self._was_following = True
        self._activity = ""
        self._unseen = 0
        self._ring = False
        self._jump = JumpButton(icons, self)
        self._jump.clicked.connect(self.jump_to_latest)
        self._dress()
        themes.changed.connect(self._theme_changed)
        # queued: whoever answers with rows must not change them in the middle of a paint
        self._top_near.connect(self.top_reached, Qt.ConnectionType.QueuedConnection)
        self.verticalScrollBar().valueChanged.connect(self._bar_moved)

    # rows

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Show another conversation at its tail."""
        self._flow.set_rows(rows)
        self._setter.clear()
        self.selection.clear()
        self._scrolling.reset()
        self._top_told = False
        self._unseen = 0
        self._activity = ""
        self._changed()

    def append_row(self, row: Row) -> None:
        """Add a row at the end; one that is already there is replaced."""
        if self._flow.number(row.id) is not None:
            self.replace_row(row)
            return
        self._flow.append(row)
        if not self._scrolling.following:
            self._unseen += 1
        self._changed()

    def extend_row(self, row_id: str, offset: int, text: str) -> None:
        """Add streamed text; ``offset`` is the length in characters before it, so a repeated chunk changes nothing."""
        number = self._flow.number(row_id)
        longer = self._flow.row(number).extended(offset, text) if number is not None else None
        if number is not None and longer is not None:
            self._flow.extend(number, longer)
            self._changed()

    def replace_row(self, row: Row) -> None:
        """Show another version of a row; an unknown one is ignored."""
        number = self._flow.number(row.id)
        if number is not None and self._flow.row(number) != row:
            self._flow.replace(number, row)
            self._setter.forget(row.id)
            self._changed()

    def prepend_rows(self, rows: Sequence[Row]) -> None:
        """Put older rows in front; what is being read stays where it is."""
        fresh = [row for row in rows if self._flow.number(row.id) is None]
        if fresh:
            self._flow.prepend(fresh)
            self._scrolling.rows_came_before(len(fresh))
            self._setter.clear()
            self._top_told = False
            self._changed()

    def set_activity(self, text: str | None) -> None:
        """A line below the last row while a turn runs and nothing has arrived; None takes it away."""
        if (text or "") != self._activity:
            self._activity = text or ""
            self._changed()

    @property
    def is_following(self) -> bool:
        """Whether the view stays at the newest text."""
        self._arrange()
        return self._scrolling.following

    @property
    def unseen(self) -> int:
        """Rows that came since the view left the tail."""
        return self._unseen

    def rows(self) -> list[Row]:
        """The rows in order."""
        return [self._flow.row(number) for number in range(len(self._flow))]

    def plain_text(self) -> str:
        """All text, one row after the other."""
        return "\n\n".join(row.text for row in self.rows())

    # scrolling

    def jump_to_latest(self) -> None:
        """Go to the tail and follow it."""
        self._scrolling.following = True
        self._changed()

    def scroll_by(self, pixels: int) -> None:
        """Move down by ``pixels``; up if negative."""
        self._arrange()
        self._scrolling.scroll_by(pixels)
        self._changed()

    def scroll_to_top(self) -> None:
        self._scrolling.show_row(0)
        self._changed()

    def mark_at(self, point: QPointF) -> Mark | None:
        """The position in the text nearest to a point of the viewport."""
        found = self._piece_near(point.y())
        if found is None:
            return None
        placed, piece = found
        local = QPointF(point.x() - self._left(), point.y() - placed.y)
        return Mark(self._flow.row(placed.place.row).id, piece.offset_at(local))

    def piece_at(self, point: QPointF) -> tuple[Row, SetPiece] | None:
        """The row and the piece at a point of the viewport."""
        found = self._piece_near(point.y())
        return (self._flow.row(found[0].place.row), found[1]) if found is not None else None

    def placed(self) -> list[Placed]:
        """What is in view and where."""
        self._arrange()
        return self._placed

    # inside

    def _dress(self) -> None:
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Conversation"))
        self.setViewport(QWidget())  # one made here: asking Qt for its own makes PySide load every widget class first
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setMouseTracking(False)

    def _theme_changed(self, theme: Theme) -> None:
        self._painter.theme = theme
        self._setter.set_theme(theme)
        self._changed()

    def _changed(self) -> None:
        self._stale = True
        self.viewport().update()

    def _left(self) -> int:
        return (self.width() - self._flow.column) // 2

    def _set(self, place: Place) -> SetPiece:
        row = self._flow.row(place.row)
        return self._setter.set(row, place.piece, self._flow.piece(place), self._flow.is_last(place))

    def _measure(self, place: Place) -> int:
        height = self._set(place).height
        self._flow.set_height(place, height)
        return height

    def _piece_near(self, y: float) -> tuple[Placed, SetPiece] | None:
        self._arrange()
        if not self._placed:
            return None
        below = [placed for placed in self._placed if placed.y + placed.height > y]
        placed = below[0] if below else self._placed[-1]
        return placed, self._set(placed.place)

    def _arrange(self) -> None:
        """Bring what is in view up to date: at most once a frame, however much has changed."""
        if not self._stale:
            return
        self._stale = False
        scrolling = self._scrolling
        scrolling.height = self.viewport().height()
        scrolling.tail = BOTTOM + (ACTIVITY if self._activity else 0)
        self._placed = scrolling.arrange()
        self._moving_bar = True
        bar = self.verticalScrollBar()
        bar.setRange(0, scrolling.maximum)
        bar.setPageStep(max(1, scrolling.height))
        bar.setSingleStep(40)
        bar.setValue(scrolling.maximum if scrolling.following else min(scrolling.value, scrolling.maximum))
        self._moving_bar = False
        self._tell()

    def _tell(self) -> None:
        following = self._scrolling.following
        if following:
            self._unseen = 0
        self._jump.show_count(self._unseen, not following)
        self._place_jump()
        if following != self._was_following:
            self._was_following = following
            self.following_changed.emit(following)
        if len(self._flow) and self._scrolling.near_top and not self._top_told:
            self._top_told = True
            self._top_near.emit()

    def _bar_moved(self, value: int) -> None:
        if not self._moving_bar:
            self._scrolling.scroll_to(value)
            self._changed()

    def _place_jump(self) -> None:
        if self._jump.isVisible():
            size = self._jump.sizeHint()
            area = self.viewport().geometry()
            corner = QRect(area.center().x() - size.width() // 2, area.bottom() - size.height() - 12, 0, 0).topLeft()
            self._jump.setGeometry(QRect(corner, size))

    # Qt

    def paintEvent(self, event: QPaintEvent) -> None:
        self._arrange()
        painter = QPainter(self.viewport())
        left, column = self._left(), self._flow.column
        for placed in self._placed:
            if placed.y + placed.height < event.rect().top() or placed.y > event.rect().bottom():
                continue
            row = self._flow.row(placed.place.row)
            piece = self._set(placed.place)
            painter.save()
            painter.translate(left, placed.y)
            self._painter.paint(painter, row, piece, column, self.selection.span_in(placed.place.row))
            if row.state == "streaming" and piece.frame.is_last:
                self._painter.caret(painter, piece)
            painter.restore()
        self._paint_tail(painter, left, column)
        if self._ring and self.hasFocus():
            painter.setPen(QPen(self._painter.theme.color("focus"), 2))
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))
        painter.end()

    def _paint_tail(self, painter: QPainter, left: int, column: int) -> None:
        last = self._placed[-1] if self._placed else None
        if not self._activity or (last is not None and last.place != self._flow.last()):
            return
        y = last.y + last.height if last is not None else 0
        self._painter.activity(painter, self._activity, QRectF(left, y + 8, column, ACTIVITY - 8))

    def resizeEvent(self, event: QResizeEvent) -> None:
        # as if the scroll bar were always there: its coming and going must not change what decides about it
        bar = self.verticalScrollBar().sizeHint().width()
        column = max(160, min(self._measure_max, self.width() - bar - 2 * SIDE))
        if column != self._flow.column:
            self._flow.set_column(column)
            self._setter.set_column(column)
        self._changed()

    def wheelEvent(self, event: QWheelEvent) -> None:
        pixels = event.pixelDelta().y() or event.angleDelta().y() // 2
        if pixels:
            self.scroll_by(-pixels)
        event.accept()

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._ring = event.reason() in _KEYBOARD_REASONS
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()
