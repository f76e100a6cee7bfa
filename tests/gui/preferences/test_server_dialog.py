"""The server form: nothing is sent or stored by it, and nothing entered is lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.preferences.server_dialog import ServerDialog
from app.preferences.server_form import ServerForm


@pytest.fixture
def dialog(qtbot: QtBot) -> Iterator[ServerDialog]:
    made = ServerDialog()
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.open()
    yield made
    made.close()


def field(dialog: ServerDialog, name: str) -> QLineEdit:
    return next(line for line in dialog.findChildren(QLineEdit) if line.accessibleName() == name)


def button(dialog: ServerDialog, text: str) -> QPushButton:
    return next(found for found in dialog.findChildren(QPushButton) if found.text() == text)


def words(dialog: ServerDialog) -> str:
    return " ".join(label.text() for label in dialog.findChildren(QLabel) if label.isVisible())


def test_saving_waits_until_address_name_and_model_are_there(dialog: ServerDialog) -> None:
    assert not button(dialog, "Save").isEnabled()
    field(dialog, "Address").setText("localhost:11434/v1")
    assert field(dialog, "Name").text() == "Ollama"
    assert not button(dialog, "Save").isEnabled()
    field(dialog, "Model").setText("qwen3:8b")
    assert button(dialog, "Save").isEnabled()


def test_saving_announces_the_normalised_form_and_stays_open(dialog: ServerDialog, qtbot: QtBot) -> None:
    field(dialog, "Address").setText("localhost:1234/v1/")
    field(dialog, "API key").setText(" sk-1 ")
    field(dialog, "Model").setText("m")
    with qtbot.waitSignal(dialog.save_requested) as saved:
        qtbot.mouseClick(button(dialog, "Save"), Qt.MouseButton.LeftButton)
    assert saved.args == [ServerForm("LM Studio", "http://localhost:1234/v1", "sk-1", "m")]
    dialog.set_error("The settings file cannot be written.")
    assert dialog.isVisible() and field(dialog, "API key").text() == " sk-1 "


def test_a_wrong_address_is_explained_beside_the_field(dialog: ServerDialog) -> None:
    field(dialog, "Address").setText("ftp://host")
    assert "begins with http" in words(dialog)
    assert not button(dialog, "Test connection").isEnabled()


def test_an_example_fills_the_address_and_a_typed_name_stays(dialog: ServerDialog, qtbot: QtBot) -> None:
    qtbot.keyClicks(field(dialog, "Name"), "Mine")
    qtbot.mouseClick(button(dialog, "vLLM"), Qt.MouseButton.LeftButton)
    assert field(dialog, "Address").text() == "http://localhost:8000/v1"
    assert field(dialog, "Name").text() == "Mine"


def test_a_test_is_asked_for_once_and_its_result_offers_the_models(dialog: ServerDialog, qtbot: QtBot) -> None:
    field(dialog, "Address").setText("localhost:8080/v1")
    with qtbot.waitSignal(dialog.test_requested):
        qtbot.mouseClick(button(dialog, "Test connection"), Qt.MouseButton.LeftButton)
    assert not button(dialog, "Test connection").isEnabled() and "Testing" in words(dialog)
    dialog.set_test_result(True, "Connected: 2 models.", ["qwen3:8b", "llama3"])
    assert "Connected: 2 models." in words(dialog)
    assert field(dialog, "Model").text() == "qwen3:8b" and button(dialog, "Choose…").isVisible()


def test_a_failed_test_keeps_everything_and_can_be_repeated(dialog: ServerDialog) -> None:
    field(dialog, "Address").setText("localhost:8080/v1")
    field(dialog, "Model").setText("mine")
    dialog.set_test_result(False, "The server cannot be reached.")
    assert "cannot be reached" in words(dialog) and field(dialog, "Model").text() == "mine"
    assert button(dialog, "Test connection").isEnabled()


def test_the_key_is_masked_and_the_place_where_it_is_kept_is_said(dialog: ServerDialog) -> None:
    assert field(dialog, "API key").echoMode() is QLineEdit.EchoMode.Password
    assert "keyring" in words(dialog)
    dialog.set_key_storage("file")
    assert "file that only you can read" in words(dialog)


def test_every_control_has_a_name(dialog: ServerDialog) -> None:
    for control in [*dialog.findChildren(QAbstractButton), *dialog.findChildren(QLineEdit)]:
        assert control.accessibleName(), control
