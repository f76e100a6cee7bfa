"""The form for one OpenAI-compatible server. Non-blocking: it announces wishes and is told results."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.preferences.server_form import EXAMPLES, CheckedUrl, ServerForm, check_base_url, suggested_name

_MOST_MODELS = 200
_NOT_KNOWN = "Stored in the keyring of this system, or, if it has none, in a file that only you can read."
_IN_KEYRING = "Stored in the keyring of this system."
_IN_FILE = "This system has no keyring: the key is stored in a file that only you can read."


class ServerDialog(QDialog):
    """Name, address, key and model of a server. Use ``open()``."""

    test_requested = Signal(object)
    """A :class:`ServerForm`; answer with :meth:`set_test_result`."""
    save_requested = Signal(object)
    """A :class:`ServerForm`; close with ``accept()`` once it is stored, or call :meth:`set_error`."""

    def __init__(self, parent: QWidget | None = None, form: ServerForm | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Edit server" if form else "Add a server")
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._name = QLineEdit(form.name if form else "")
        self._url = QLineEdit(form.base_url if form else "")
        self._key = QLineEdit(form.api_key if form else "")
        self._show_key = QPushButton()
        self._model = QLineEdit(form.model if form else "")
        self._choose = QPushButton("Choose…")
        self._models = QMenu(self)
        self._models.triggered.connect(self._choose_model)
        self._url_note = _note()
        self._key_note = _note()
        self._result = _note()
        self._test = QPushButton("Test connection")
        self._save = QPushButton("Save")
        self._cancel = QPushButton("Cancel")
        self._name_is_ours = not self._name.text()
        self._set_up_fields(form)
        self._lay_out()
        self.set_key_storage("")
        self._changed()

    def form(self) -> ServerForm:
        """What is entered now; the address is normalised if it can be."""
        checked = self._checked()
        return ServerForm(
            self._name.text().strip(),
            checked.url or self._url.text().strip(),
            self._key.text().strip(),
            self._model.text().strip(),
        )

    def set_key_storage(self, where: str) -> None:
        """``keyring``, ``file``, or anything else while it is not known: said beside the key, plainly."""
        self._key_note.setText({"keyring": _IN_KEYRING, "file": _IN_FILE}.get(where, _NOT_KNOWN))

    def set_test_result(self, ok: bool, text: str, models: Sequence[str] = ()) -> None:
        """The end of a test: a sentence, and the models that the server offers."""
        if models:
            self._offer(models)
        self._busy(False)
        self._say(text, "small" if ok else "error")

    def set_error(self, text: str) -> None:
        """Saving did not work; everything entered stays."""
        self._busy(False)
        self._say(text, "error")

    def _set_up_fields(self, form: ServerForm | None) -> None:
        named = (
            (self._name, "Name", "As it appears in the model list"),
            (self._url, "Address", EXAMPLES[0][1]),
            (self._key, "API key", "Only if the server asks for one"),
            (self._model, "Model", "Type a name, or test the connection for a list"),
        )
        for field, name, placeholder in named:
            field.setAccessibleName(name)
            field.setPlaceholderText(placeholder)
            field.textChanged.connect(self._changed)
        self._name.textEdited.connect(self._named)
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self._show_key.setText("Show")
        self._show_key.setCheckable(True)
        self._show_key.setAutoDefault(False)
        self._show_key.setAccessibleName("Show the API key")
        self._show_key.toggled.connect(self._reveal)
        self._choose.setAutoDefault(False)
        self._choose.setAccessibleName("Choose one of the models that the server offers")
        self._choose.setMenu(self._models)
        self._choose.hide()

    def _lay_out(self) -> None:
        rows = QVBoxLayout()
        rows.setSpacing(12)
        rows.addLayout(_stacked(_named("Add&ress", self._url), self._url, self._examples(), self._url_note))
        rows.addLayout(_stacked(_named("&Name", self._name), self._name))
        key = QHBoxLayout()
        key.setSpacing(8)
        key.addWidget(self._key)
        key.addWidget(self._show_key)
        rows.addLayout(_stacked(_named("API &key", self._key), key, self._key_note))
        model = QHBoxLayout()
        model.setSpacing(8)
        model.addWidget(self._model)
        model.addWidget(self._choose)
        rows.addLayout(_stacked(_named("&Model", self._model), model))
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self._test)
        buttons.addStretch(1)
        buttons.addWidget(self._cancel)
        buttons.addWidget(self._save)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 20)
        column.setSpacing(16)
        column.addLayout(rows)
        column.addWidget(self._result)
        column.addLayout(buttons)
        self._set_up_buttons()
        self.setMinimumWidth(480)

    def _set_up_buttons(self) -> None:
        for button in (self._test, self._save, self._cancel):
            button.setAccessibleName(button.text())
            button.setAutoDefault(button is self._save)
        self._save.setProperty("role", "primary")
        self._save.setDefault(True)
        self._test.clicked.connect(self._test_pressed)
        self._save.clicked.connect(self._save_pressed)
        self._cancel.clicked.connect(self.reject)

    def _examples(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        for name, url in EXAMPLES:
            button = QPushButton(name)
            button.setObjectName(url)
            button.setProperty("role", "link")
            button.setAutoDefault(False)
            button.setAccessibleName(f"Use the usual address of {name}")
            button.setToolTip(url)
            button.clicked.connect(self._use_example)
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _offer(self, models: Sequence[str]) -> None:
        """A list to choose from; a name that is already entered stays."""
        self._models.clear()
        for name in models[:_MOST_MODELS]:
            self._models.addAction(name.replace("&", "&&")).setData(name)
        self._choose.show()
        if not self._model.text().strip():
            self._model.setText(models[0])

    def _choose_model(self, action: QAction) -> None:
        self._model.setText(str(action.data()))

    def _use_example(self) -> None:
        button = self.sender()
        if isinstance(button, QPushButton):
            self._url.setText(button.objectName())

    def _named(self, text: str) -> None:
        self._name_is_ours = not text

    def _checked(self) -> CheckedUrl:
        return check_base_url(self._url.text())

    def _changed(self) -> None:
        checked = self._checked()
        if self._name_is_ours and checked.url:
            self._name.setText(suggested_name(checked.url))
        problem = checked.problem if self._url.text().strip() else ""
        _set_note(self._url_note, problem or checked.warning, "error" if problem else "hint")
        _set_note(self._result, "")
        self._test.setEnabled(bool(checked.url))
        self._save.setEnabled(bool(checked.url and self._name.text().strip() and self._model.text().strip()))

    def _reveal(self, shown: bool) -> None:
        self._key.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        self._show_key.setText("Hide" if shown else "Show")

    def _test_pressed(self) -> None:
        self._busy(True)
        self._say("Testing…", "hint")
        self.test_requested.emit(self.form())

    def _save_pressed(self) -> None:
        self.save_requested.emit(self.form())

    def _busy(self, busy: bool) -> None:
        self._test.setEnabled(not busy and bool(self._checked().url))

    def _say(self, text: str, role: str) -> None:
        _set_note(self._result, text, role)


def _named(text: str, field: QWidget) -> QLabel:
    label = QLabel(text)
    label.setBuddy(field)
    return label


def _note() -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setProperty("role", "hint")
    return label


def _set_note(label: QLabel, text: str, role: str = "hint") -> None:
    label.setText(text)
    label.setVisible(bool(text))
    if label.property("role") != role:
        label.setProperty("role", role)
        label.style().unpolish(label)
        label.style().polish(label)


def _stacked(*parts: QWidget | QHBoxLayout) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(4)
    for part in parts:
        if isinstance(part, QWidget):
            column.addWidget(part)
        else:
            column.addLayout(part)
    return column
