"""Wait for something, but not longer than the clock says. Timers here obey the handed-in clock."""

from __future__ import annotations

import asyncio
from typing import Any

from runtime.base.clock import Clock
from runtime.base.tasks import TaskSupervisor


class Patience:
    """A clock and the supervisor that owns the timers."""

    def __init__(self, clock: Clock, tasks: TaskSupervisor) -> None:
        self.clock = clock
        self.tasks = tasks

    async def for_event(self, event: asyncio.Event, seconds: float) -> bool:
        """Whether ``event`` was set within ``seconds``."""
        if event.is_set():
            return True
        return await self.for_task(self.tasks.spawn("wait", event.wait()), seconds)

    async def for_task(self, task: asyncio.Task[Any], seconds: float) -> bool:
        """Whether ``task`` ended within ``seconds``; it is cancelled if it did not."""
        timer = self.tasks.spawn("time limit", self.clock.sleep(seconds))
        try:
            await asyncio.wait([task, timer], return_when=asyncio.FIRST_COMPLETED)
            return task.done()
        finally:
            timer.cancel()
            if not task.done():
                task.cancel()
