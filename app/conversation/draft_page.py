"""The page of a conversation that does not exist yet: the composer in the middle, a banner above."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.composer.panel import ComposerPanel
from app.conversation.banner import Banner
from app.conversation.column import Column
from app.conversation.header import Header
from app.conversation.labels import PlainLabel

_ROOM_FOR_START = 380
_EDGE = 12
_GAP = 12


class StartCard(QFrame):
    """The first start: no wizard, typing works at once; what else can be done stands here."""

    add_server_requested = Signal()
    open_folder_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        title = PlainLabel("Typing works at once.", "heading")
        self._model = PlainLabel(role="muted")
        self._model.setWordWrap(True)
        server = QPushButton("Add a server…")
        server.setAccessibleName("Add a model server")
        server.clicked.connect(self.add_server_requested)
        folder = QPushButton("Open a folder as workspace…")
        folder.setAccessibleName("Open a folder as workspace")
        folder.clicked.connect(self.open_folder_requested)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(server)
        buttons.addWidget(folder)
        buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(6)
        column.addWidget(title)
        column.addWidget(self._model)
        column.addSpacing(4)
        column.addLayout(buttons)

    def set_model_words(self, words: str) -> None:
        self._model.setText(words)


class DraftPage(QWidget):
    """Shows plain values and announces wishes; it knows no store and no session."""

    action_requested = Signal(str)
    """An action of the banner."""
    add_server_requested = Signal()
    open_folder_requested = Signal()

    def __init__(self, composer: ComposerPanel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("ground", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.header = Header()
        self.header.set_title("New conversation")
        self.banner = Banner()
        self.composer = composer
        self._start = StartCard()
        self._first_start = False
        self._lay_out()
        self.banner.action_requested.connect(self.action_requested)
        self._start.add_server_requested.connect(self.add_server_requested)
        self._start.open_folder_requested.connect(self.open_folder_requested)

    def set_place(self, workspace: str) -> None:
        """The name of the workspace that the conversation will belong to."""
        self.header.set_workspace(workspace)

    def set_first_start(self, model_words: str | None) -> None:
        """Show the card of the first start, with a sentence on the chosen model; None hides it."""
        self._first_start = model_words is not None
        self._start.set_model_words(model_words or "")
        self._fit()

    def panes(self) -> list[QWidget]:
        """Where F6 goes, in order."""
        return [self.composer]

    def _lay_out(self) -> None:
        middle = self._middle = Column(spacing=_GAP)
        middle.box.addWidget(self.banner)
        middle.box.addWidget(self.composer)
        middle.box.addWidget(self._start)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self.header)
        page.addSpacing(_EDGE)
        page.addStretch(4)
        page.addWidget(middle)
        page.addStretch(5)
        page.addSpacing(_EDGE)

    def _fit(self) -> None:
        """Banner and composer have the room; the start card gives way on a low page, then the text scrolls."""
        banner = self.banner.height_in(self._middle.measure()) + _GAP if self.banner.isVisibleTo(self) else 0
        room = self.height() - self.header.height() - banner - 2 * _EDGE
        self._start.setVisible(self._first_start and room >= _ROOM_FOR_START)
        self.composer.set_room(room - (self._start.sizeHint().height() + _GAP if self._start.isVisibleTo(self) else 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def event(self, event: QEvent) -> bool:
        """A banner that comes, goes or wraps changes what is left for the text."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit()
        return done
