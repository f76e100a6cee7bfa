"""One window on a data folder of its own."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from app.theme import ThemeController
from runtime.base.folder import DataFolder
from tests.gui.program.window_run import Window


@pytest.fixture
def window(qapp: QApplication, data_folder: DataFolder, themes: ThemeController) -> Window:
    return Window(qapp, data_folder, themes)
