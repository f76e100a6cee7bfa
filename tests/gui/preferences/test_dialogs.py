"""Questions are awaited without a nested loop, and closing one is the harmless answer."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.preferences.dialogs import QuestionDialog, ask
from app.questions import send_as_new_question, unsaved_question


@pytest.fixture
def owner(qtbot: QtBot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    return widget


async def shown(owner: QWidget) -> QuestionDialog:
    while not owner.findChildren(QuestionDialog):
        await asyncio.sleep(0)
    return owner.findChildren(QuestionDialog)[0]


async def test_the_answer_is_the_pressed_button(owner: QWidget) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(send_as_new_question(), owner))
        dialog = await shown(owner)
        next(button for button in dialog.findChildren(QPushButton) if button.objectName() == "send_as_new").click()
    assert asked.result() == "send_as_new"


async def test_escape_is_the_harmless_answer(owner: QWidget, qtbot: QtBot) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(unsaved_question(["a"], "disk_full"), owner))
        qtbot.keyClick(await shown(owner), Qt.Key.Key_Escape)
    assert asked.result() == "keep_editing"


async def test_return_takes_the_suggested_answer(owner: QWidget, qtbot: QtBot) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(ask(send_as_new_question(), owner))
        qtbot.keyClick(await shown(owner), Qt.Key.Key_Return)
    assert asked.result() == "cancel"


async def test_a_cancelled_wait_closes_the_dialog(owner: QWidget) -> None:
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(None), asyncio.TaskGroup() as group:
            asked = group.create_task(ask(send_as_new_question(), owner))
            dialog = await shown(owner)
            asked.cancel()
            await asked
    assert not dialog.isVisible()
