"""A folder with two real, tiny models and a supervisor that runs real engine processes."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from runtime.base.tasks import TaskSupervisor
from runtime.hosts.engine.process import Launch
from runtime.hosts.engine.supervisor import EngineSupervisor
from runtime.hosts.engine.weights import LocalModels
from runtime.hosts.port import HostProgress
from tests.fakes.clock import FakeClock
from tests.fakes.gguf import write_model

MakeSupervisor = Callable[..., EngineSupervisor]


@pytest.fixture
def models(tmp_path: Path) -> LocalModels:
    folder = tmp_path / "models"
    folder.mkdir()
    write_model(folder / "short.gguf")
    write_model(folder / "endless.gguf", ends=False)
    return LocalModels(folder)


@pytest.fixture
async def make_supervisor(clock: FakeClock) -> AsyncIterator[MakeSupervisor]:
    """Builds supervisors; all are closed at the end, and a bug in any of their tasks fails the test."""
    bugs: list[BaseException] = []
    made: list[tuple[EngineSupervisor, TaskSupervisor]] = []

    def make(idle_seconds: float = 0, launch: Launch | None = None) -> EngineSupervisor:
        tasks = TaskSupervisor("engine", bugs.append)
        supervisor = EngineSupervisor(clock, tasks, idle_seconds, bugs.append, launch)
        made.append((supervisor, tasks))
        return supervisor

    yield make
    for supervisor, tasks in made:
        await supervisor.close()
        await tasks.close()
    assert not bugs


@pytest.fixture
def supervisor(make_supervisor: MakeSupervisor) -> EngineSupervisor:
    return make_supervisor()


@pytest.fixture
def progress() -> list[HostProgress]:
    return []


def script(code: str) -> Launch:
    """A stand-in for the engine program, with a short limit for becoming healthy."""
    return Launch(command=(sys.executable, "-c", code), limit_seconds=0.3)
