"""The one event loop: asyncio on Qt's, with deadlines that are kept.

WORKAROUND(https://github.com/CabbageDevelopment/qasync/pull/58): qasync 0.28 makes one coarse Qt timer for every
callback. Those are up to 64 ms late, stay until due when cancelled, overflow beyond 24.8 days, and let delays below
1 ms spin. Here everything that is ready waits in a queue, everything that is not in a heap of deadlines, and one
precise timer serves both. Re-check on every upgrade of qasync whether this file can go.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import math
import os
import sys
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop  # after PySide6: qasync takes the binding that is already imported

T = TypeVar("T")
_DAY_MS = 86_400_000  # the longest that the Qt timer is set to; it holds 31 bits of milliseconds
_SLICE_SECONDS = 0.008  # how long ready callbacks may run before Qt's events get their turn
_PRUNE_FROM = 64


class DesktopLoop(QEventLoop):
    """asyncio's loop run by ``QApplication.exec``; made and closed by :func:`run`."""

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        self._deadlines = _Deadlines(self)
        self._timer = self._deadlines  # qasync sets its debug flag and stops it

    def run_forever(self) -> int:
        """Run until :meth:`stop`; a SystemExit or KeyboardInterrupt of a callback is raised here."""
        self._deadlines.start()
        try:
            result = super().run_forever()
        finally:
            self._deadlines.halt()
        self._deadlines.raise_stored()
        return result

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        self._deadlines.add_ready(handle)
        return handle

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self._deadlines.add_later(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """From any thread. Raises :class:`RuntimeError` once the loop is closed, as asyncio's own loop does."""
        if self.is_closed():
            raise RuntimeError("Event loop is closed")
        handle = asyncio.Handle(callback, args, self, context)
        self._deadlines.add_from_thread(handle)
        return handle

    def _add_callback(self, handle: asyncio.Handle, delay: float = 0) -> asyncio.Handle:
        """What qasync and asyncio call inside, for signals and sockets."""
        self._deadlines.add_ready(handle)
        return handle

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        self._deadlines.note_cancelled(handle)


class _Deadlines(QObject):
    """Ready callbacks in their order, later ones by deadline, behind a single precise timer."""

    _woken = Signal()

    def __init__(self, loop: DesktopLoop) -> None:
        super().__init__()
        self._loop = loop
        self._ready: deque[asyncio.Handle] = deque()
        self._later: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._order = itertools.count()
        self._cancelled = 0
        self._started = False
        self._serving = False
        self._wake_sent = False
        self._armed = math.inf
        self._stored: BaseException | None = None
        self._clock = QTimer(self)
        self._clock.setSingleShot(True)
        self._clock.setTimerType(Qt.TimerType.PreciseTimer)
        self._clock.timeout.connect(self._serve)
        self._woken.connect(self._wake, Qt.ConnectionType.QueuedConnection)

    @property
    def pending(self) -> int:
        """Callbacks that are kept, cancelled ones included."""
        return len(self._ready) + len(self._later)

    @property
    def ticking(self) -> bool:
        """Whether the Qt timer is set."""
        return self._clock.isActive()

    def start(self) -> None:
        self._started = True
        self._arm()

    def halt(self) -> None:
        """Nothing runs between two runs of the loop; what is pending waits for the next."""
        self._started = False
        self._armed = math.inf
        self._clock.stop()

    def stop(self) -> None:
        """The loop is closed: drop everything."""
        self.halt()
        self._ready.clear()
        self._later.clear()

    def set_debug(self, enabled: bool) -> None:
        """Part of what qasync expects of its timer; slow callbacks are measured by the benches instead."""

    def raise_stored(self) -> None:
        stored, self._stored = self._stored, None
        if stored is not None:
            raise stored

    def add_ready(self, handle: asyncio.Handle) -> None:
        self._ready.append(handle)
        if self._armed:
            self._arm()

    def add_later(self, handle: asyncio.TimerHandle) -> None:
        handle._scheduled = True
        heapq.heappush(self._later, (handle.when(), next(self._order), handle))
        if handle.when() < self._armed:
            self._arm()

    def add_from_thread(self, handle: asyncio.Handle) -> None:
        """Append first, then look whether a wake-up is under way: :meth:`_wake` clears the flag before it serves."""
        self._ready.append(handle)
        if not self._wake_sent:
            self._wake_sent = True
            self._woken.emit()

    def note_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Forget cancelled deadlines when they are most of the heap, so that debouncing costs no memory."""
        if not handle._scheduled:
            return
        self._cancelled += 1
        if self._cancelled > _PRUNE_FROM and self._cancelled * 2 > len(self._later):
            self._later = [entry for entry in self._later if not entry[2].cancelled()]
            heapq.heapify(self._later)
            self._cancelled = 0

    def _wake(self) -> None:
        self._wake_sent = False
        self._serve()

    def _serve(self) -> None:
        """One turn: what is due joins the ready ones, and those that were ready at its start run."""
        if not self._started or self._serving:  # inside a nested Qt loop: tasks must not run within a task
            return
        self._serving = True
        try:
            self._collect_due()
            until = self._loop.time() + _SLICE_SECONDS
            for _ in range(len(self._ready)):
                handle = self._ready.popleft()
                if not handle.cancelled():
                    handle._run()
                    if self._loop.time() > until:
                        break
        except (SystemExit, KeyboardInterrupt) as error:  # must not end inside a Qt slot; run_forever raises it
            self._stored = error
            self._loop.stop()
        finally:
            self._serving = False
            self._armed = math.inf
            self._arm()

    def _collect_due(self) -> None:
        now = self._loop.time()
        while self._later and (self._later[0][0] <= now or self._later[0][2].cancelled()):
            handle = heapq.heappop(self._later)[2]
            handle._scheduled = False
            if handle.cancelled():
                self._cancelled -= 1
            else:
                self._ready.append(handle)

    def _arm(self) -> None:
        """Set the timer to the next thing to do. It is never early: milliseconds are rounded up."""
        if not self._started or self._serving:
            return
        if self._ready:
            self._armed = 0.0
            self._clock.start(0)
            return
        while self._later and self._later[0][2].cancelled():
            heapq.heappop(self._later)
            self._cancelled -= 1
        if not self._later:
            self._armed = math.inf
            self._clock.stop()
            return
        self._armed = self._later[0][0]
        milliseconds = math.ceil(min(_DAY_MS, (self._armed - self._loop.time()) * 1000))
        self._clock.start(max(0, milliseconds))


def run(application: QApplication, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run ``main()`` to its end on a new loop, cancel and await what it left behind, and close the loop."""
    with (
        asyncio.Runner(loop_factory=lambda: DesktopLoop(application)) as runner,
        _children_watched_without_threads(runner.get_loop()),
    ):
        return runner.run(main())


@contextlib.contextmanager
def _children_watched_without_threads(loop: asyncio.AbstractEventLoop) -> Generator[None]:
    """Learn of a child's end through its file descriptor, as Python 3.12 does by itself on Linux.

    Python 3.11 would start a thread for every child; so do macOS and kernels without ``pidfd_open``.
    """
    if sys.version_info >= (3, 12) or not _has_pidfd():
        yield
        return
    policy = asyncio.get_event_loop_policy()
    watcher = asyncio.PidfdChildWatcher()
    watcher.attach_loop(loop)
    policy.set_child_watcher(watcher)
    try:
        yield
    finally:
        policy.set_child_watcher(None)


def _has_pidfd() -> bool:
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
    except OSError:
        return False
    return True
