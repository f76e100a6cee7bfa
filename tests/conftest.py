"""Fixtures that every part of the suite may use."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.base.folder import DataFolder
from tests.fakes.clock import FakeClock


@pytest.fixture(autouse=True)
def _no_unexpected_log_warnings(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A warning in the log fails the test, unless it is marked ``logs_warnings``."""
    yield
    if request.node.get_closest_marker("logs_warnings") is None:
        records = [*caplog.get_records("setup"), *caplog.get_records("call")]
        unexpected = [f"{one.name}: {one.getMessage()}" for one in records if one.levelno >= logging.WARNING]
        assert unexpected == []


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def data_folder(tmp_path: Path) -> DataFolder:
    """A prepared data folder of its own, as a fresh installation has it."""
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    return folder
