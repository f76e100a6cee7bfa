"""The line above a page: title, workspace, and at the right the state and the model."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.conversation.labels import Chip, ElidedLabel

HEIGHT = 45
_ROOM_FOR_WORKSPACE = 620
_ROOM_FOR_MODEL = 380


class Header(QFrame):
    """The title is cut, chips keep their words; what stands elsewhere too gives way on a narrow page."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "header")
        self.setFixedHeight(HEIGHT)
        self.title = ElidedLabel("heading")
        self.workspace = Chip("Workspace")
        self.state = Chip("State")
        self.model = Chip("Model")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(10)
        row.addWidget(self.title)
        row.addWidget(self.workspace)
        row.addStretch(1)
        row.addWidget(self.state)
        row.addWidget(self.model)

    def set_title(self, title: str) -> None:
        self.title.set_whole_text(title)

    def set_workspace(self, name: str) -> None:
        self.workspace.set_state(name)

    def set_state(self, words: str, tone: str = "accent") -> None:
        """What the conversation is doing, in words; empty hides it. Tones as :class:`Chip`."""
        self.state.set_state(words, tone)
        self._fit()

    def set_model(self, words: str) -> None:
        """The model as it was reported, or that it was not."""
        self.model.set_state(words, longest=36)

    def _fit(self) -> None:
        self.workspace.set_room(self.width() >= _ROOM_FOR_WORKSPACE or not self.state.shown_text())
        self.model.set_room(self.width() >= _ROOM_FOR_MODEL)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
