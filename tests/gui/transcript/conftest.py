"""A transcript in a window of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.icons import Icons
from app.theme import ThemeController
from app.transcript.view import TranscriptView


@pytest.fixture
def view(qtbot: QtBot, themes: ThemeController, icons: Icons) -> Iterator[TranscriptView]:
    host = QWidget()
    host.resize(900, 600)
    layout = QVBoxLayout(host)
    layout.setContentsMargins(0, 0, 0, 0)
    view = TranscriptView(themes, icons, host)
    layout.addWidget(view)
    qtbot.addWidget(host)
    with qtbot.waitExposed(host):
        host.show()
    host.activateWindow()
    view.setFocus()
    yield view
