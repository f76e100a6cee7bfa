"""The page of a conversation: header, transcript, banner, composer."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.conversation.banner import Banner
from app.conversation.column import Column
from app.conversation.header import Header


class SessionPage(QWidget):
    """The transcript has the room; the composer limits its own height."""

    action_requested = Signal(str)
    """An action of the banner."""

    def __init__(self, transcript: QWidget, composer: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.header = Header()
        self.transcript = transcript
        self.banner = Banner()
        self.composer = composer
        bottom = Column(spacing=8)
        bottom.box.addWidget(self.banner)
        bottom.box.addWidget(self.composer)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 12)
        page.setSpacing(0)
        page.addWidget(self.header)
        page.addWidget(transcript, 1)
        page.addSpacing(8)
        page.addWidget(bottom)
        self.banner.action_requested.connect(self.action_requested)

    def panes(self) -> list[QWidget]:
        """Where F6 goes, in order."""
        return [self.transcript, self.composer]
