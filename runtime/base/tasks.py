"""Every task has a name, an owner and an end. ``spawn`` is the only way to start one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from runtime.base.errors import Fault

T = TypeVar("T")
log = logging.getLogger(__name__)


class TaskSupervisor:
    """Owns the tasks of one component and awaits them at shutdown.

    Expected failures (:class:`Fault`) are logged by code; anything else is a bug and goes to ``on_bug``,
    which the program connects to its excepthook.
    """

    def __init__(self, owner: str, on_bug: Callable[[BaseException], None]) -> None:
        self._owner = owner
        self._on_bug = on_bug
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False

    @property
    def names(self) -> list[str]:
        """Names of the running tasks, for logs and tests."""
        return sorted(task.get_name() for task in self._tasks)

    def spawn(self, name: str, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start ``coroutine`` as a named task. After :meth:`close` has begun it is closed unstarted."""
        if self._closing:
            coroutine.close()
            raise RuntimeError(f"{self._owner}: spawn({name!r}) after close")
        task = asyncio.get_running_loop().create_task(coroutine, name=f"{self._owner}.{name}")
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    async def close(self, grace: float = 0.0) -> None:
        """Wait ``grace`` seconds for the tasks, then cancel and await what is left."""
        self._closing = True
        pending = {task for task in self._tasks if task is not asyncio.current_task()}
        if pending and grace > 0:
            _, pending = await asyncio.wait(pending, timeout=grace)
        for task in pending:
            task.cancel()
        if pending:
            await asyncio.wait(pending)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            return
        if isinstance(error, Fault):
            log.info("task ended with a fault", extra={"task": task.get_name(), "code": error.code})
        else:
            self._on_bug(error)
