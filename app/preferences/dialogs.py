"""Questions that can be awaited: ``open()`` and a future, never a nested loop (DESIGN.md, "nested loops")."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.questions import Question


class QuestionDialog(QDialog):
    """Shows a :class:`Question`; :attr:`answer` is the id of the chosen answer once it is finished."""

    def __init__(self, question: Question, parent: QWidget) -> None:
        super().__init__(parent)
        self.answer = question.dismissed
        self.setWindowTitle("Inkfast")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName(question.title)
        self.setAccessibleDescription(question.text)
        title = _wrapped(question.title, "title")
        text = _wrapped(question.text, "muted")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for choice in question.choices:
            row.addWidget(self._button(choice.id, choice.label, choice.role))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 20)
        column.setSpacing(12)
        column.addWidget(title)
        column.addWidget(text)
        column.addSpacing(8)
        column.addLayout(row)
        self.setMinimumWidth(440)
        self.setMaximumWidth(620)

    def choose(self, answer: str) -> None:
        """Answer and close."""
        self.answer = answer
        self.accept()

    def _button(self, answer: str, label: str, role: str) -> QPushButton:
        button = QPushButton(label)
        button.setObjectName(answer)
        button.setAccessibleName(label.rstrip("…"))
        button.setAutoDefault(role == "primary")
        button.setDefault(role == "primary")
        if role:
            button.setProperty("role", role)
        button.clicked.connect(self._pressed)
        return button

    def _pressed(self) -> None:
        button = self.sender()
        if isinstance(button, QPushButton):
            self.choose(button.objectName())


def _wrapped(text: str, role: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("role", role)
    label.setWordWrap(True)
    return label


async def ask(question: Question, parent: QWidget) -> str:
    """Show ``question`` over ``parent`` and wait for the id of the answer. Cancelling the task closes the dialog."""
    answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    dialog = QuestionDialog(question, parent)

    def settle(_result: int) -> None:
        if not answered.done():
            answered.set_result(dialog.answer)

    dialog.finished.connect(settle)
    dialog.open()
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleEvent(dialog, QAccessible.Event.Alert))
    try:
        return await answered
    except asyncio.CancelledError:
        dialog.reject()
        raise


async def confirm(question: Question, parent: QWidget, answer: str) -> bool:
    """Whether the person chose ``answer``."""
    return await ask(question, parent) == answer
