"""A window system without a screen, the shipped fonts, and a check that a test leaves nothing behind."""

from __future__ import annotations

import os
from collections.abc import Iterator

os.environ["QT_QPA_PLATFORM"] = "offscreen"

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer, QtMsgType
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.icons import Icons
from app.theme import ThemeController

_OFFSCREEN_CANNOT = "This plugin does not support "


@pytest.fixture(scope="session")
def themes(qapp: QApplication) -> ThemeController:
    """The program's look on the one application of the test run."""
    controller = ThemeController(qapp, "light")
    assert "Inter" in QFontDatabase.families(), "without a font every glyph is a box"
    return controller


@pytest.fixture(scope="session")
def icons(themes: ThemeController) -> Icons:
    return Icons(themes)


@pytest.fixture(autouse=True)
def nothing_left_behind(qapp: QApplication, themes: ThemeController) -> Iterator[None]:
    """No window and no running timer outlives its test, and the look is light again for the next one."""
    before = set(qapp.topLevelWidgets())
    yield
    themes.set_choice("light")
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [widget for widget in qapp.topLevelWidgets() if widget not in before and widget.isVisible()]
    running = [timer for timer in qapp.findChildren(QTimer) if timer.isActive()]
    assert not left, f"windows left open: {left}"
    assert not running, f"timers left running: {running}"


@pytest.fixture(autouse=True)
def no_qt_warnings(qtlog: object, qtbot: QtBot) -> Iterator[None]:
    """A warning of Qt is a failure."""
    yield
    records = getattr(qtlog, "records", [])
    serious = (QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg)
    messages = [str(entry.message) for entry in records if entry.type in serious]
    bad = [message for message in messages if not message.startswith(_OFFSCREEN_CANNOT)]
    assert not bad, f"Qt warned: {bad}"
