"""The clock of the tests keeps the promises of the real one."""

from __future__ import annotations

import asyncio

from runtime.base.clock import Clock
from tests.fakes.clock import FakeClock


async def _note(clock: Clock, seconds: float, woken: list[tuple[float, float]]) -> None:
    await clock.sleep(seconds)
    woken.append((seconds, clock.monotonic()))


async def test_sleepers_wake_in_order_of_their_deadlines() -> None:
    clock = FakeClock()
    woken: list[tuple[float, float]] = []
    async with asyncio.TaskGroup() as group:
        for seconds in (3.0, 1.0, 2.0):
            group.create_task(_note(clock, seconds, woken))
        await clock.advance(2.5)
        assert woken == [(1.0, 1.0), (2.0, 2.0)]
        await clock.advance(0.5)
    assert woken[-1] == (3.0, 3.0)


async def test_a_loop_of_short_sleeps_runs_through_a_long_advance() -> None:
    clock = FakeClock()
    ticks: list[float] = []

    async def tick() -> None:
        for _ in range(4):
            await clock.sleep(0.25)
            ticks.append(clock.monotonic())

    async with asyncio.TaskGroup() as group:
        group.create_task(tick())
        await clock.advance(1.0)
    assert ticks == [0.25, 0.5, 0.75, 1.0]


async def test_a_cancelled_sleeper_is_forgotten() -> None:
    clock = FakeClock()
    woken: list[tuple[float, float]] = []
    async with asyncio.TaskGroup() as group:
        task = group.create_task(_note(clock, 1.0, woken))
        await clock.advance(0.5)
        assert clock.sleepers == 1
        task.cancel()
    assert clock.sleepers == 0
    await clock.advance(1.0)
    assert woken == []


async def test_waiting_for_a_moment_that_floats_cannot_reach_ends() -> None:
    clock = FakeClock()
    await clock.advance(0.1)
    moment = 0.1 + 0.2  # 0.30000000000000004
    await clock.advance(0.2)
    while moment - clock.monotonic() > 0:
        await clock.sleep(moment - clock.monotonic())
    assert clock.sleepers == 0
    assert abs(clock.monotonic() - 0.3) < 1e-5


async def test_wall_time_moves_with_it() -> None:
    clock = FakeClock(now_ms=1_000)
    await clock.advance(1.5)
    assert clock.now_ms() == 2_500
