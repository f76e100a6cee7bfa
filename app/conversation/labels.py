"""Labels for pages: plain text only, cut with an ellipsis instead of pushing the window wider, and chips."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyle, QStyleOption, QWidget

from app.markup import escaped


class PlainLabel(QLabel):
    """Text that is never read as markup, whoever wrote it."""

    def __init__(self, text: str = "", role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        if role:
            self.setProperty("role", role)
        self.setText(text)


class ElidedLabel(QLabel):
    """One line that shrinks to nothing and shows the rest as a tool tip."""

    def __init__(self, role: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)

    def whole_text(self) -> str:
        return self._whole

    def set_whole_text(self, text: str) -> None:
        """The text before it is cut."""
        self._whole = text
        self.setAccessibleName(text)
        self.setToolTip(f"<p>{escaped(text)}</p>" if text else "")
        self.updateGeometry()
        self.update()

    def _wanted(self) -> int:
        return self.fontMetrics().horizontalAdvance(self._whole) + 2

    def sizeHint(self) -> QSize:
        return QSize(self._wanted(), self.fontMetrics().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self._wanted(), 60), self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOption()
        option.initFrom(self)
        painter = QPainter(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, painter, self)
        text = QFontMetrics(self.font()).elidedText(self._whole, Qt.TextElideMode.ElideRight, self.width())
        painter.setPen(option.palette.color(self.foregroundRole()))  # type: ignore[attr-defined]  # missing in stubs
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)


class Chip(QLabel):
    """A state in words on a small ground; the colour only repeats the words. Hidden while empty."""

    def __init__(self, spoken_as: str, parent: QWidget | None = None) -> None:
        """``spoken_as`` says what the chip is about: "Workspace", "Model", "State"."""
        super().__init__(parent)
        self._spoken_as = spoken_as
        self._whole = ""
        self._has_room = True
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("chip", "neutral")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.hide()

    def set_state(self, text: str, tone: str = "neutral", longest: int = 28) -> None:
        """Show ``text``, cut to ``longest`` characters; ``tone``: neutral, accent, ok, warn, danger, info."""
        if (text, tone) == (self._whole, self.property("chip")):
            return
        self._whole = text
        self.setText(text if len(text) <= longest else text[: longest - 1].rstrip() + "…")
        self.setToolTip(f"<p>{escaped(text)}</p>" if len(text) > longest else "")
        self.setAccessibleName(f"{self._spoken_as}: {text}")
        if tone != self.property("chip"):
            self.setProperty("chip", tone)
            self.style().unpolish(self)
            self.style().polish(self)
        self.setVisible(self._has_room and bool(text))

    def shown_text(self) -> str:
        return self._whole

    def set_room(self, has_room: bool) -> None:
        """Whether the place of the chip is wide enough for it."""
        self._has_room = has_room
        self.setVisible(has_room and bool(self._whole))
