"""The line at the bottom: is this version saved, and which host is working."""

from __future__ import annotations

from typing import Literal, TypeAlias

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QStatusBar, QWidget

from app.conversation.labels import ElidedLabel
from app.sentences import sentence
from app.theme import ThemeController
from drafts.model import SaveState
from runtime.base.record import record

StatusTone: TypeAlias = Literal["ok", "accent", "warn", "danger", "text_faint"]
HEIGHT = 26


@record
class Status:
    """A dot and its words."""

    tone: StatusTone
    text: str


def save_status(state: SaveState | None, revision: int = 0, error_code: str = "") -> Status:
    """What the save state of the visible draft says; None is a draft that has no content yet."""
    if state is None or (state == "saved" and revision == 0):
        return Status("text_faint", "Nothing to save")
    if state == "saved":
        return Status("ok", f"Saved r{revision}")
    if state == "saving":
        return Status("accent", "Saving…")
    if state == "dirty":
        return Status("accent", "Not saved yet")
    if state == "conflict":
        return Status("warn", "Both versions kept")
    reason = sentence(error_code).what.rstrip(".") if error_code else "trying again"
    return Status("danger", f"Not saved: {reason[:1].lower()}{reason[1:]}")


class Dot(QWidget):
    """A coloured dot; the words stand beside it."""

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themes = themes
        self._tone: StatusTone = "text_faint"
        self.setFixedSize(24, HEIGHT - 4)

    def set_tone(self, tone: StatusTone) -> None:
        if tone != self._tone:
            self._tone = tone
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(24, HEIGHT - 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._themes.theme.color(self._tone))
        painter.drawEllipse(QPointF(14, self.height() / 2), 4, 4)


class StatusLine(QStatusBar):
    """Left: the save state of what is visible. Right: host and model, or that there is no session yet."""

    def __init__(self, themes: ThemeController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.setFixedHeight(HEIGHT)
        self._dot = Dot(themes)
        self._words = ElidedLabel("small")
        self._host = ElidedLabel("small")
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._host.setMaximumWidth(320)
        self.addWidget(self._dot)
        self.addWidget(self._words, 1)
        self.addPermanentWidget(self._host)
        self.setContentsMargins(0, 0, 12, 0)

    def set_status(self, status: Status) -> None:
        self._dot.set_tone(status.tone)
        if status.text != self._words.whole_text():
            self._words.set_whole_text(status.text)

    def set_host(self, text: str) -> None:
        """For example ``llama.cpp · local``; ``No session yet`` on a draft."""
        if text != self._host.whole_text():
            self._host.set_whole_text(text)

    def status_text(self) -> str:
        return self._words.whole_text()
