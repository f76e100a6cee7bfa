"""The real program on a display of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runtime.base.folder import DataFolder
from tests.e2e.kit import Person
from tests.fakes.display import Display, missing_tools
from tests.fakes.program import Program

Start = Callable[..., Person]


@pytest.fixture(scope="session")
def display() -> Iterator[Display]:
    """One screen for all; skips where its programs are missing, but fails where CI must have installed them."""
    missing = missing_tools()
    if missing and os.environ.get("CI"):
        pytest.fail("CI must install: " + ", ".join(missing))
    if missing:
        pytest.skip("needs an X display of its own; not installed: " + ", ".join(missing))
    with Display() as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    """A data folder that does not exist yet, as on the first start."""
    return DataFolder(tmp_path / "data")


@pytest.fixture
def start(display: Display, folder: DataFolder) -> Iterator[Start]:
    """Start the program; returns when its window is focused and every service is open."""
    programs: list[Program] = []

    def begin(**environment: str) -> Person:
        program = Program(folder.root, _plain(display.environment(**environment)))
        programs.append(program)
        program.wait_stage("ready")
        display.window()
        return Person(display, folder, program)

    yield begin
    for program in programs:
        if program.process.poll() is None:
            program.kill()
        print(program.errors())


def _plain(environment: dict[str, str]) -> dict[str, str]:
    """Without what the person running the tests has set for the program."""
    return {
        name: value for name, value in environment.items() if name not in ("INKFAST_HOME", "DBUS_SESSION_BUS_ADDRESS")
    }
