"""The page of a conversation: header, transcript, banner, composer."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.composer.panel import ComposerPanel
from app.conversation.banner import Banner
from app.conversation.column import Column
from app.conversation.header import Header

_EDGE = 12
_GAP = 8
_TRANSCRIPT_AT_LEAST = 110


class SessionPage(QWidget):
    """The transcript has the room; the composer grows to 40 % of the height where a few lines are left for it."""

    action_requested = Signal(str)
    """An action of the banner."""

    def __init__(self, transcript: QWidget, composer: ComposerPanel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.header = Header()
        self.transcript = transcript
        self.banner = Banner()
        self.composer = composer
        bottom = self._bottom = Column(spacing=_GAP)
        bottom.box.addWidget(self.banner)
        bottom.box.addWidget(self.composer)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, _EDGE)
        page.setSpacing(0)
        page.addWidget(self.header)
        page.addWidget(transcript, 1)
        page.addSpacing(_GAP)
        page.addWidget(bottom)
        self.banner.action_requested.connect(self.action_requested)

    def panes(self) -> list[QWidget]:
        """Where F6 goes, in order."""
        return [self.transcript, self.composer]

    def _fit(self) -> None:
        banner = self.banner.height_in(self._bottom.measure()) + _GAP if self.banner.isVisibleTo(self) else 0
        spare = self.height() - self.header.height() - banner - _GAP - _EDGE - _TRANSCRIPT_AT_LEAST
        self.composer.set_room(min(spare, self.height() * 2 // 5))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """A banner that comes, goes or wraps changes what is left for the text."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return done
