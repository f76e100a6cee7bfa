"""Keeps at most one engine process: started by the first who needs it, ended when nobody does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Literal

from runtime.base.clock import Clock
from runtime.base.errors import Fault
from runtime.base.subscribers import Subscribers
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.engine.process import EngineEndpoint, EngineProcess, Launch
from runtime.hosts.engine.weights import LocalModel, check
from runtime.hosts.faults import HostFault
from runtime.hosts.port import HostProgress

Phase = Literal["stopped", "starting", "running", "failed"]
OnProgress = Callable[[HostProgress], None]


@dataclass(frozen=True, slots=True)
class EngineState:
    """For the status bar. ``model`` is the model's name; ``code`` says why the last process failed."""

    phase: Phase
    model: str = ""
    code: str = ""


@dataclass(slots=True)
class _Start:
    """One start that several callers wait for; it is given up when the last of them is."""

    model: LocalModel
    task: asyncio.Task[EngineProcess]
    waiting: int = 0
    given_up: bool = False
    watchers: list[OnProgress] = field(default_factory=list[OnProgress])


class EngineSupervisor:
    """Spec/sessions.md section 5, "local engine".

    ``idle_seconds`` is how long an unused engine is kept; 0 or less keeps it until :meth:`close`. A prompt runs
    inside :meth:`lease`, and neither idleness nor another model's start ends the engine below a lease.
    """

    def __init__(
        self, clock: Clock, tasks: TaskSupervisor, idle_seconds: float,
        on_bug: Callable[[BaseException], None], launch: Launch | None = None,
    ) -> None:  # fmt: skip
        self._clock = clock
        self._tasks = tasks
        self._idle_seconds = idle_seconds
        self._launch = launch or Launch()
        self._subscribers: Subscribers[EngineState] = Subscribers(on_bug)
        self._state = EngineState("stopped")
        self._running: EngineProcess | None = None
        self._start: _Start | None = None
        self._leases = 0
        self._unused = asyncio.Event()
        self._unused.set()
        self._idle: asyncio.Task[None] | None = None
        self._stopping = asyncio.Lock()
        self._closed = False

    @property
    def state(self) -> EngineState:
        return self._state

    @property
    def pid(self) -> int | None:
        """The process id of the running engine, for `doctor` and tests."""
        return self._running.pid if self._running is not None else None

    def log_lines(self) -> list[str]:
        """The running engine's newest log lines, scrubbed."""
        return self._running.log.lines() if self._running is not None else []

    def subscribe(self, callback: Callable[[EngineState], None]) -> Callable[[], None]:
        return self._subscribers.subscribe(callback)

    def set_idle_seconds(self, seconds: float) -> None:
        """Change how long an unused engine is kept, also for one that is unused now."""
        self._idle_seconds = seconds
        self._await_idleness()

    async def ensure(self, model: LocalModel, on_progress: OnProgress) -> EngineEndpoint:
        """The endpoint of a healthy engine that serves ``model``; concurrent callers share one start.

        Reports ``engine_starting`` where one has to be started and ``engine_busy`` while another model's prompt
        has to end first. Raises :class:`HostFault` ``model_missing``, ``model_damaged`` or ``engine_failed``,
        all with ``called=False``. Cancelling the last waiting caller gives the start up.
        """
        while True:
            child = self._usable(model)
            if child is None:
                child = await self._started(model, on_progress)
            if child is None:
                continue
            if self._usable(model) is child:
                self._await_idleness()
                return child.endpoint
            if not child.alive:
                raise HostFault("engine_failed", child.log.tail(), called=False, model=model.name)

    @contextlib.asynccontextmanager
    async def lease(self, model: LocalModel, on_progress: OnProgress) -> AsyncGenerator[EngineEndpoint]:
        """:meth:`ensure`, and keep the engine running until the block is left."""
        endpoint = await self.ensure(model, on_progress)  # returns without giving up control after its last check
        self._leases += 1
        self._unused.clear()
        self._await_idleness()
        try:
            yield endpoint
        finally:
            self._leases -= 1
            if not self._leases:
                self._unused.set()
            self._await_idleness()

    async def close(self) -> None:
        """End the engine whatever it is doing, within about three seconds. No start is possible afterwards."""
        self._closed = True
        start = self._start
        if start is not None:
            _give_up(start)
            await asyncio.wait({start.task})
        await self._stop()

    def _usable(self, model: LocalModel) -> EngineProcess | None:
        child = self._running
        return child if child is not None and child.alive and child.model.path == model.path else None

    async def _started(self, model: LocalModel, on_progress: OnProgress) -> EngineProcess | None:
        """Join the start of this model, or begin one; None when another start had to end first."""
        if self._closed:
            raise HostFault("engine_failed", "closing", called=False, model=model.name)
        start = self._start
        if start is not None and (start.given_up or start.model.path != model.path):
            await asyncio.wait({start.task})
            return None
        if start is None:
            check(model)
            start = _Start(model, self._tasks.spawn("start", self._replace(model)))
            self._start = start
        start.watchers.append(on_progress)
        start.waiting += 1
        on_progress(HostProgress("engine_busy" if self._leases else "engine_starting", model.title))
        try:
            await asyncio.wait({start.task})  # unlike awaiting it, this tells its cancellation from the caller's
        finally:
            start.waiting -= 1
            if not start.waiting:
                _give_up(start)
        return None if start.task.cancelled() else start.task.result()

    async def _replace(self, model: LocalModel) -> EngineProcess:
        """The start itself: the old model's prompts end, its process ends, the new one becomes healthy."""
        try:
            if self._leases:
                while self._leases:  # a prompt may begin between the wake-up and this task's turn
                    await self._unused.wait()
                self._report(HostProgress("engine_starting", model.title))
            await self._stop()
            self._become(EngineState("starting", model.name))
            child = await EngineProcess.start(model, self._launch, self._tasks)
        except Fault as fault:
            self._start = None
            self._become(EngineState("failed", model.name, fault.code))
            raise
        except BaseException:
            self._start = None
            self._become(EngineState("stopped"))
            raise
        self._start = None
        self._running = child
        self._become(EngineState("running", model.name))
        self._tasks.spawn("watch", self._watch(child))
        return child

    def _report(self, progress: HostProgress) -> None:
        for watcher in self._start.watchers if self._start is not None else ():
            watcher(progress)

    async def _watch(self, child: EngineProcess) -> None:
        """Notice the end of a process that nobody asked to end."""
        await child.ended()
        if self._running is child:
            self._running = None
            self._become(EngineState("failed", child.model.name, "host_crashed"))

    async def _stop(self) -> None:
        child, self._running = self._running, None
        self._cancel_idle()
        async with self._stopping:  # whoever comes second waits until the process has ended
            if child is not None:
                await child.stop()
        if self._running is None and self._start is None:
            self._become(EngineState("stopped"))

    def _await_idleness(self) -> None:
        """Start counting anew, or stop counting while the engine is in use."""
        self._cancel_idle()
        if self._running is not None and not self._leases and self._idle_seconds > 0 and not self._closed:
            self._idle = self._tasks.spawn("idle", self._stop_when_idle(self._idle_seconds))

    def _cancel_idle(self) -> None:
        if self._idle is not None and self._idle is not asyncio.current_task():
            self._idle.cancel()
        self._idle = None

    async def _stop_when_idle(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        await self._stop()

    def _become(self, state: EngineState) -> None:
        if state != self._state:
            self._state = state
            self._subscribers.publish(state)


def _give_up(start: _Start) -> None:
    """Cancel a start once; a second cancellation would interrupt the ending of its process."""
    if not start.task.done() and not start.given_up:
        start.given_up = True
        start.task.cancel()
