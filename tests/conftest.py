"""Fixtures that every part of the suite may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.base.folder import DataFolder
from tests.fakes.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def data_folder(tmp_path: Path) -> DataFolder:
    """A prepared data folder of its own, as a fresh installation has it."""
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    return folder
