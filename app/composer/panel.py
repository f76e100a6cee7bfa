"""The composer as a person sees it: the text, which model answers, whether it is saved, and Send or Stop."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMoveEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.composer.card import RING, ComposerCard
from app.composer.document import ComposerDocument
from app.composer.editor import ComposerEditor
from app.composer.models import ModelButton, ModelChoice
from app.composer.save_chip import SaveChip
from app.icons import Icons
from app.theme import Theme, ThemeController

_SHARE_OF_WINDOW = 0.4
_SMALLEST_LIMIT = 96
_SMALLEST_IN_NEED = 48


class ComposerPanel(QFrame):
    """One composer. It shows and asks; whoever owns it decides what a request means."""

    send_requested = Signal()
    steer_requested = Signal()
    stop_requested = Signal()
    model_chosen = Signal(str)
    """A model reference, or empty for the default."""
    add_server_requested = Signal()

    def __init__(self, themes: ThemeController, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._running = False
        self._locked = False
        self._sendable = True
        self._room: int | None = None
        self._card = ComposerCard(themes.theme, self)
        self.editor = ComposerEditor(self._card)
        self.model_button = ModelButton(self._card)
        self.save_chip = SaveChip(self._card)
        self.send_button = QPushButton(self.tr("Send"), self._card)
        self.stop_button = QPushButton(self.tr("Stop"), self._card)
        self._notice = QLabel(self._card)
        self._hints = (QLabel(self), QLabel(self))
        self._dress(themes, icons)
        self._arrange()
        self._join()
        self._refresh()

    def show_document(self, document: ComposerDocument) -> None:
        """Show a draft's document in the editor."""
        self.editor.show_document(document)
        self._refresh()

    def set_models(
        self, entries: Sequence[ModelChoice], current: str, is_default: bool, default_title: str = ""
    ) -> None:
        """See :meth:`ModelButton.set_models`."""
        self.model_button.set_models(entries, current, is_default, default_title)

    def set_save_state(self, state: str, revision: int, error_code: str = "") -> None:
        """``saved``, ``dirty``, ``saving``, ``error`` or ``conflict``, for the version in the editor."""
        self.save_chip.set_state(state, revision, error_code)

    def set_running(self, running: bool) -> None:
        """While a turn runs, Stop stands where Send was."""
        had_focus = self.send_button.hasFocus() or self.stop_button.hasFocus()
        self._running = running
        self._refresh()
        if had_focus:
            self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_locked(self, locked: bool, note: str = "") -> None:
        """Hold text and settings while a submission owns them; ``note`` says so."""
        self._locked = locked
        self.editor.set_locked(locked)
        self.set_notice(note)
        self._refresh()

    def set_sendable(self, sendable: bool) -> None:
        """Whether anything can take a message at all; the text can be written either way."""
        self._sendable = sendable
        self._refresh()

    def set_hint(self, left: str, right: str = "") -> None:
        """The two quiet lines below the card."""
        for label, text in zip(self._hints, (left, right), strict=True):
            label.setText(text)
            label.setVisible(bool(text))

    def set_notice(self, text: str) -> None:
        """One line inside the card about this text, such as that it is kept while a turn runs."""
        self._notice.setText(text)
        self._notice.setVisible(bool(text))

    def set_room(self, pixels: int) -> None:
        """The height that the page can spare for the whole panel; beyond it the text scrolls."""
        if pixels != self._room:
            self._room = pixels
            self._limit_height()

    def focus_editor(self) -> None:
        self.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    # building

    def _dress(self, themes: ThemeController, icons: Icons) -> None:
        theme = themes.theme
        themes.changed.connect(self._theme_changed)
        self.editor.set_type(theme.font("reading"), theme.line_height)
        self.editor.setPlaceholderText(self.tr("Write a message"))
        self._card.follow(self.editor)
        self.send_button.setProperty("role", "primary")
        self.stop_button.setProperty("role", "danger")
        icons.bind(self.send_button, "send", "accent_text", 16)
        icons.bind(self.stop_button, "stop", "danger", 14)
        icons.bind(self.model_button, "cpu", "text_muted", 16)
        self.send_button.setToolTip(self.tr("Send (Enter)"))
        self.stop_button.setToolTip(self.tr("Stop this answer"))
        self.send_button.setAccessibleName(self.tr("Send message"))
        self.stop_button.setAccessibleName(self.tr("Stop this answer"))
        self._notice.setProperty("role", "small")
        self._notice.setWordWrap(True)
        self._notice.setContentsMargins(4, 0, 0, 0)
        self._notice.setVisible(False)
        for label in self._hints:
            label.setProperty("role", "hint")
            label.setVisible(False)

    def _arrange(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.setContentsMargins(4, 4, 0, 0)
        row.addWidget(self.model_button)
        row.addStretch(1)
        row.addWidget(self.save_chip, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.send_button)
        row.addWidget(self.stop_button)
        inside = QVBoxLayout(self._card)
        inside.setContentsMargins(10 + RING, 8 + RING, 12 + RING, 12 + RING)
        inside.setSpacing(8)
        inside.addWidget(self.editor)
        inside.addWidget(self._notice)
        inside.addLayout(row)
        hints = QHBoxLayout()
        hints.setContentsMargins(RING + 2, 0, RING + 2, 0)
        hints.addWidget(self._hints[0])
        hints.addStretch(1)
        hints.addWidget(self._hints[1])
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        whole.addWidget(self._card)
        whole.addLayout(hints)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.setFocusProxy(self.editor)
        for first, second in (
            (self.editor, self.model_button), (self.model_button, self.send_button),
            (self.send_button, self.stop_button),
        ):  # fmt: skip
            QWidget.setTabOrder(first, second)

    def _join(self) -> None:
        self.editor.send_requested.connect(self.send_requested)
        self.editor.steer_requested.connect(self.steer_requested)
        self.editor.edited.connect(self._refresh)
        self.send_button.clicked.connect(self._send_clicked)
        self.stop_button.clicked.connect(self._stop_clicked)
        self.model_button.model_chosen.connect(self.model_chosen)
        self.model_button.add_server_requested.connect(self.add_server_requested)

    def _send_clicked(self) -> None:
        self.send_requested.emit()

    def _stop_clicked(self) -> None:
        self.stop_requested.emit()

    def _theme_changed(self, theme: Theme) -> None:
        self._card.set_theme(theme)

    def _refresh(self) -> None:
        self.send_button.setVisible(not self._running)
        self.stop_button.setVisible(self._running)
        self.send_button.setEnabled(self._sendable and not self._locked and not self.editor.is_empty)
        self.model_button.setEnabled(not self._locked)

    def _limit_height(self) -> None:
        limit = max(_SMALLEST_LIMIT, round(self.window().height() * _SHARE_OF_WINDOW))
        layout = self.layout()
        if self._room is not None and layout is not None:
            around = layout.sizeHint().height() - self.editor.minimumHeight()
            limit = max(_SMALLEST_IN_NEED, min(limit, self._room - around))
        self.editor.set_height_limit(limit)

    def sizeHint(self) -> QSize:
        return QSize(720, super().sizeHint().height())

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self._limit_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._limit_height()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._limit_height()
