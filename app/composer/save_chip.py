"""The chip that answers the only question about saving: is exactly this version safe on disk?"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

_TONES = {"error": "danger", "conflict": "warn"}


class SaveChip(QLabel):
    """Words of spec/drafts.md section 4: conflict, not saved, saving, unsaved, saved."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("chip", "neutral")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setVisible(False)
        self._words = ""

    def set_state(self, state: str, revision: int, error_code: str = "") -> None:
        """``state`` is a :data:`drafts.model.SaveState`; an unsaved draft without a revision shows nothing."""
        words = _words(state, error_code)
        shown = bool(words) and not (state == "saved" and revision == 0)
        self._words = words
        self._fit()
        known = shown and state == "saved"
        self.setToolTip(_text("Revision {number}").format(number=revision) if known else words)
        self.setAccessibleName(words)
        tone = _TONES.get(state, "neutral")
        if self.property("chip") != tone:
            self.setProperty("chip", tone)
            self.style().unpolish(self)
            self.style().polish(self)
        self.setVisible(shown)

    def minimumSizeHint(self) -> QSize:
        """In a narrow window the words are cut before the buttons are; the tool tip has them all."""
        return QSize(48, super().minimumSizeHint().height())

    def sizeHint(self) -> QSize:
        """Room for all words, whatever is shown of them now."""
        missing = self.fontMetrics().horizontalAdvance(self._words) - self.fontMetrics().horizontalAdvance(self.text())
        return super().sizeHint() + QSize(max(0, missing), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """A narrow chip keeps the part before the dot, or an ellipsis; never half a letter."""
        metrics = self.fontMetrics()
        around = super().sizeHint().width() - metrics.horizontalAdvance(self.text())
        room = self.width() - around
        shown = self._words
        if self.isVisible() and metrics.horizontalAdvance(shown) > room:
            shown = shown.partition(" · ")[0]
            shown = metrics.elidedText(shown, Qt.TextElideMode.ElideRight, room)
        if shown != self.text():
            self.setText(shown)


def _words(state: str, error_code: str) -> str:
    if state == "error":
        return _text("Not saved: {reason}").format(reason=_reason(error_code))
    return {
        "saved": _text("Saved · this version"),
        "saving": _text("Saving…"),
        "dirty": _text("Unsaved"),
        "conflict": _text("Two versions"),
    }.get(state, "")


def _reason(error_code: str) -> str:
    return {
        "disk_full": _text("the disk is full"),
        "database_locked": _text("another program holds the file"),
        "read_only": _text("the folder is read-only"),
        "database_damaged": _text("the draft file is damaged"),
        "cannot_open": _text("the draft file cannot be opened"),
    }.get(error_code, _text("the disk refuses"))


def _text(source: str) -> str:
    return QCoreApplication.translate("SaveChip", source)
