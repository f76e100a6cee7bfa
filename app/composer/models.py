"""The button that shows which model will answer, and the menu that changes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QStyleOptionButton, QWidget

_LONGEST_TITLE = 240


class ModelChoice(NamedTuple):
    """One model that can be asked for. ``note`` is a word about it; ``reason`` says why it is not available."""

    reference: str
    title: str
    note: str = ""
    available: bool = True
    reason: str = ""


class ModelButton(QPushButton):
    """Shows the requested model; its menu offers the default, every known model, and adding a server."""

    model_chosen = Signal(str)
    """A model reference; empty for "use the default"."""
    add_server_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._around = self._wanted = 0
        self._menu = QMenu(self)
        self._menu.triggered.connect(self._triggered)
        self._group = QActionGroup(self._menu)
        self._add = QAction(self.tr("Add a server…"), self)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.clicked.connect(self.open_menu)
        self.set_models((), "", True)

    def set_models(
        self, entries: Sequence[ModelChoice], current: str, is_default: bool, default_title: str = ""
    ) -> None:
        """Fill the menu. ``current`` is the model in force; ``is_default`` that it comes from the settings.

        ``default_title`` names the default model where it is not the current one.
        """
        title = next((entry.title for entry in entries if entry.reference == current), current)
        self._show_title(title, is_default)
        self._menu.clear()
        for action in self._group.actions():
            self._group.removeAction(action)
        named = title if is_default else default_title
        self._add_choice(self.tr("Use the default") + (f" · {named}" if named else ""), "", is_default)
        self._menu.addSeparator()
        for entry in entries:
            words = entry.note if entry.available else entry.reason or self.tr("not available")
            text = f"{entry.title} · {words}" if words else entry.title
            action = self._add_choice(text, entry.reference, not is_default and entry.reference == current)
            action.setEnabled(entry.available)
        self._menu.addSeparator()
        self._menu.addAction(self._add)

    def menu_actions(self) -> list[QAction]:
        """The entries of the menu, separators left out."""
        return [action for action in self._menu.actions() if not action.isSeparator()]

    def open_menu(self) -> None:
        """Open the menu above the button, where the composer has room."""
        above = self.mapToGlobal(QPoint(0, -self._menu.sizeHint().height() - 4))
        self._menu.popup(above)

    def _add_choice(self, text: str, reference: str, checked: bool) -> QAction:
        action = QAction(text.replace("&", "&&"), self._menu)
        action.setData(reference)
        action.setCheckable(True)
        action.setChecked(checked)
        self._group.addAction(action)
        self._menu.addAction(action)
        return action

    def _show_title(self, title: str, is_default: bool) -> None:
        shown = title or self.tr("No model")
        full = self.tr("{model} · default").format(model=shown) if is_default and title else shown
        self.setText(full.replace("&", "&&"))
        self.setToolTip(full)
        self.setAccessibleName(self.tr("Model: {model}").format(model=full))

    def _triggered(self, action: QAction) -> None:
        if action is self._add:
            self.add_server_requested.emit()
        else:
            self.model_chosen.emit(str(action.data()))

    def sizeHint(self) -> QSize:
        """Room for the title up to a limit."""
        natural = super().sizeHint()
        title = self.fontMetrics().horizontalAdvance(self.text())
        self._around = natural.width() - title
        self._wanted = self._around + min(title, _LONGEST_TITLE)
        return QSize(self._wanted, natural.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(96, self.sizeHint().height())

    def initStyleOption(self, option: QStyleOptionButton) -> None:
        """Paint as much of the title as fits."""
        super().initStyleOption(option)
        if self.width() >= self._wanted and self._wanted - self._around < _LONGEST_TITLE:
            return
        room = self.width() - self._around
        option.text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideMiddle, room)  # type: ignore[attr-defined]
