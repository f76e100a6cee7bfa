"""The banner: what happened, what is safe, then the actions (spec/drafts.md section 6, spec/shell.md section 6)."""

from __future__ import annotations

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.banner_texts import BannerText
from app.conversation.labels import PlainLabel

_TEXT_AT_LEAST = 240
_MARGIN = 14


class Banner(QFrame):
    """Hidden while there is nothing to say. Actions stand beside the text, or below it where that is too narrow."""

    action_requested = Signal(str)
    """The id of the pressed action."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: BannerText | None = None
        self._buttons: list[QPushButton] = []
        self.setProperty("role", "banner")
        self.setProperty("tone", "info")
        self._title = PlainLabel(role="heading")
        self._text = PlainLabel(role="small")
        self._progress = QProgressBar()
        self._lay_out()
        self.hide()

    def show_text(self, banner: BannerText | None) -> None:
        """Show ``banner``, or hide for None. The same banner again changes nothing: the focus stays."""
        if banner == self._shown:
            return
        self._shown = banner
        if banner is None:
            self._remove_buttons()
            self.hide()
            return
        self._title.setText(banner.title)
        self._text.setText(banner.text)
        self._text.setVisible(bool(banner.text))
        self._progress.setVisible(banner.busy)
        self._set_tone(banner)
        self._remove_buttons()
        for action in banner.actions:
            self._add_button(action.id, action.label, primary=action.primary)
        self._arrange()
        self.show()
        self._announce(banner)

    def shown(self) -> BannerText | None:
        return self._shown

    def set_enabled_actions(self, enabled: bool) -> None:
        """Dead buttons look dead: off from the press until the new state is known."""
        for button in self._buttons:
            button.setEnabled(enabled)

    def height_in(self, width: int) -> int:
        """The height that the banner takes in a column of ``width`` pixels."""
        return self.heightForWidth(width) if self.hasHeightForWidth() else self.sizeHint().height()

    def buttons(self) -> list[QPushButton]:
        return list(self._buttons)

    def _lay_out(self) -> None:
        for label in (self._title, self._text):
            label.setWordWrap(True)
            label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._progress.setRange(0, 0)
        self._progress.setTextVisible(False)
        self._progress.setFixedHeight(3)
        self._progress.setAccessibleName("Working")
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self._title)
        words.addWidget(self._text)
        self._actions = QHBoxLayout()
        self._actions.setSpacing(8)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._row.setSpacing(12)
        self._row.addLayout(words, 1)
        self._row.addLayout(self._actions)
        column = QVBoxLayout(self)
        column.setContentsMargins(_MARGIN, 12, _MARGIN, 12)
        column.setSpacing(8)
        column.addLayout(self._row)
        column.addWidget(self._progress)

    def _set_tone(self, banner: BannerText) -> None:
        if self.property("tone") != banner.tone:
            self.setProperty("tone", banner.tone)
            self.style().unpolish(self)
            self.style().polish(self)
        self.setAccessibleName(f"{banner.title} {banner.text}".strip())

    def _announce(self, banner: BannerText) -> None:
        accessible = QtGui.QAccessible  # PySide makes the class at the first look: not before the first paint
        if accessible.isActive():
            accessible.updateAccessibility(QtGui.QAccessibleEvent(self, accessible.Event.Alert))

    def _remove_buttons(self) -> None:
        for button in self._buttons:
            self._actions.removeWidget(button)
            button.hide()
            button.deleteLater()
        self._buttons = []

    def _add_button(self, action_id: str, label: str, *, primary: bool) -> None:
        button = QPushButton(label.replace("&", "&&"), self)
        button.setObjectName(action_id)
        button.setAccessibleName(label.rstrip("…"))
        if primary:
            button.setProperty("role", "primary")
        button.clicked.connect(self._pressed)
        self._actions.addWidget(button)
        self._buttons.append(button)

    def _pressed(self) -> None:
        button = self.sender()
        if isinstance(button, QPushButton):
            self.action_requested.emit(button.objectName())

    def _arrange(self) -> None:
        """Beside the text while the text keeps a readable width, below it otherwise."""
        taken = sum(button.sizeHint().width() + 8 for button in self._buttons) + 2 * _MARGIN + 12
        beside = self.width() - taken >= _TEXT_AT_LEAST
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        if self._row.direction() != direction:
            self._row.setDirection(direction)
            self._actions.setAlignment(Qt.AlignmentFlag.AlignLeft if not beside else Qt.AlignmentFlag.AlignVCenter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._arrange()

    def minimumSizeHint(self) -> QSize:
        width = max((button.sizeHint().width() for button in self._buttons), default=120)
        return QSize(width + 2 * _MARGIN, super().minimumSizeHint().height())
