"""Every task has a name and an owner, and none outlives its owner."""

from __future__ import annotations

import asyncio
import logging

import pytest

from runtime.base.errors import EnvironmentFault
from runtime.base.tasks import TaskSupervisor
from tests.fakes.clock import FakeClock, settle


@pytest.fixture
def bugs() -> list[BaseException]:
    return []


@pytest.fixture
def tasks(bugs: list[BaseException]) -> TaskSupervisor:
    return TaskSupervisor("drafts", bugs.append)


async def test_a_task_is_named_and_forgotten_at_its_end(tasks: TaskSupervisor, clock: FakeClock) -> None:
    task = tasks.spawn("autosave", clock.sleep(1))
    await settle()
    assert tasks.names == ["drafts.autosave"]
    await clock.advance(1)
    assert tasks.names == []
    assert task.done()
    await tasks.close()


async def test_a_bug_reaches_the_excepthook_and_a_fault_only_the_log(
    tasks: TaskSupervisor, bugs: list[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(error: Exception) -> None:
        raise error

    with caplog.at_level(logging.INFO):
        tasks.spawn("bug", fail(ValueError("a bug")))
        tasks.spawn("fault", fail(EnvironmentFault("disk_full")))
        await settle()
    assert [str(bug) for bug in bugs] == ["a bug"]
    assert [record.__dict__["code"] for record in caplog.records] == ["disk_full"]
    await tasks.close()


async def test_closing_cancels_and_awaits_what_is_left(tasks: TaskSupervisor, clock: FakeClock) -> None:
    ended: list[str] = []

    async def stubborn() -> None:
        try:
            await clock.sleep(100)
        finally:
            await asyncio.sleep(0)
            ended.append("cleaned up")

    tasks.spawn("stubborn", stubborn())
    await settle()
    await tasks.close()
    assert ended == ["cleaned up"]
    assert tasks.names == []


async def test_closing_with_grace_lets_short_work_finish(tasks: TaskSupervisor) -> None:
    done: list[str] = []

    async def short() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        done.append("finished")

    tasks.spawn("short", short())
    await tasks.close(grace=10)
    assert done == ["finished"]


async def test_a_task_may_close_its_own_supervisor(tasks: TaskSupervisor, bugs: list[BaseException]) -> None:
    await tasks.spawn("shutdown", tasks.close())
    assert bugs == []


async def test_nothing_starts_after_closing(tasks: TaskSupervisor, clock: FakeClock) -> None:
    await tasks.close()
    with pytest.raises(RuntimeError, match="after close"):
        tasks.spawn("late", clock.sleep(1))
    assert clock.sleepers == 0
