"""The loop under the window: deadlines kept, Qt's events served, children and sockets without threads."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import sys
import threading
import time
from typing import cast

import pytest
from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.loop import DesktopLoop, _Deadlines, run

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs pidfd")


def _deadlines() -> _Deadlines:
    return cast(DesktopLoop, asyncio.get_running_loop())._deadlines


class Ticks(QObject):
    """Counts a Qt timer's ticks: proof that Qt's events are served."""

    def __init__(self, milliseconds: int) -> None:
        super().__init__()
        self.count = 0
        self.timer = QTimer(self)
        self.timer.setTimerType(Qt.TimerType.PreciseTimer)
        self.timer.timeout.connect(self._tick)
        self.timer.start(milliseconds)

    def _tick(self) -> None:
        self.count += 1


def test_callbacks_run_in_the_order_of_their_deadlines_and_never_early(qapp: QApplication) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        ran: list[tuple[float, float]] = []
        done = loop.create_future()
        start = loop.time()

        def note(due: float) -> None:
            ran.append((due, loop.time() - start))

        delays = [0.09, 0.0004, 0.03, -1.0, 0.0, 0.06, 0.03]
        for delay in delays:
            loop.call_later(delay, note, delay)
        loop.call_at(start + 0.1, done.set_result, None)
        await done
        assert [due for due, _at in ran] == sorted(delays)
        assert all(at >= due for due, at in ran)
        assert all(at - max(due, 0) < 0.05 for due, at in ran)

    run(qapp, main)


def test_equal_deadlines_and_ready_callbacks_keep_their_order(qapp: QApplication) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        ran: list[int] = []
        when = loop.time() + 0.01
        for number in range(100):
            loop.call_soon(ran.append, number)
            loop.call_at(when, ran.append, 100 + number)
        await asyncio.sleep(0.05)
        assert ran == list(range(200))

    run(qapp, main)


def test_cancelled_deadlines_are_dropped_and_never_run(qapp: QApplication) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        ran: list[str] = []
        loop.call_later(0.02, ran.append, "kept")
        for _ in range(10_000):
            loop.call_later(3600, ran.append, "late").cancel()
            loop.call_later(0.01, ran.append, "early").cancel()
        assert _deadlines().pending < 200
        ready = loop.call_soon(ran.append, "soon")
        ready.cancel()
        ready.cancel()
        await asyncio.sleep(0.03)
        assert ran == ["kept"]
        assert _deadlines().pending == 0

    run(qapp, main)


@pytest.mark.parametrize("seconds", [30 * 86_400, 10 * 365 * 86_400, 1e12, float("inf")])
def test_a_deadline_beyond_the_range_of_qt_timers_is_kept(qapp: QApplication, seconds: float) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        ran: list[str] = []
        far = loop.call_later(seconds, ran.append, "far")
        waiting, clock = loop.create_future(), _deadlines()._clock
        QTimer.singleShot(20, lambda: waiting.set_result(clock.remainingTime()))
        assert 80_000_000 < await waiting <= 86_400_000
        await asyncio.sleep(0.01)
        assert ran == []
        far.cancel()

    run(qapp, main)


def test_delays_below_a_millisecond_neither_spin_nor_end_early(qapp: QApplication) -> None:
    async def main() -> None:
        wakes: list[None] = []
        _deadlines()._clock.timeout.connect(lambda: wakes.append(None))
        loop = asyncio.get_running_loop()
        for _ in range(20):
            start = loop.time()
            await asyncio.sleep(0.0003)
            assert loop.time() - start >= 0.0003
        assert len(wakes) <= 60

    run(qapp, main)


def test_an_idle_loop_has_no_timer(qapp: QApplication) -> None:
    async def main() -> bool:
        woken = asyncio.get_running_loop().create_future()
        deadlines = _deadlines()
        QTimer.singleShot(20, lambda: woken.set_result(deadlines.ticking))
        return await woken

    assert run(qapp, main) is False


def test_a_flood_of_ready_callbacks_lets_qt_events_through(qapp: QApplication) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        ticks = Ticks(5)
        until = loop.time() + 0.3
        done = loop.create_future()

        def again() -> None:
            if loop.time() < until:
                loop.call_soon(again)
            elif not done.done():
                done.set_result(None)

        for _ in range(50):
            loop.call_soon(again)
        await done
        ticks.timer.stop()
        assert ticks.count >= 10

    run(qapp, main)


def test_one_long_queue_of_ready_callbacks_lets_qt_events_through(qapp: QApplication) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        ticks = Ticks(5)
        for _ in range(300):
            loop.call_soon(_work, 0.001)
        done = loop.create_future()
        loop.call_soon(done.set_result, None)
        await done
        ticks.timer.stop()
        assert ticks.count >= 10

    run(qapp, main)


def _work(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def test_callbacks_from_threads_arrive_in_order_with_their_context(qapp: QApplication) -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")

    async def main() -> None:
        loop = asyncio.get_running_loop()
        ran: list[int] = []
        seen: list[str] = []
        done = loop.create_future()

        def work() -> None:
            for number in range(2_000):
                loop.call_soon_threadsafe(ran.append, number)
            context = contextvars.copy_context()
            context.run(name.set, "worker")
            loop.call_soon_threadsafe(lambda: seen.append(name.get()), context=context)
            loop.call_soon_threadsafe(done.set_result, None)

        thread = threading.Thread(target=work, name="test worker")
        thread.start()
        await asyncio.wait_for(done, 10)
        thread.join()
        assert ran == list(range(2_000))
        assert seen == ["worker"]

    run(qapp, main)


def test_a_closed_loop_refuses_calls_from_threads(qapp: QApplication) -> None:
    async def main() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    loop = run(qapp, main)
    with pytest.raises(RuntimeError, match="closed"):
        loop.call_soon_threadsafe(print)


@pytest.mark.skipif(os.name == "nt", reason="no signal handlers on the loop")
def test_a_signal_handler_runs_while_qt_waits(qapp: QApplication) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        caught = loop.create_future()
        loop.add_signal_handler(signal.SIGUSR1, caught.set_result, None)
        QTimer.singleShot(10, lambda: os.kill(os.getpid(), signal.SIGUSR1))
        await asyncio.wait_for(caught, 5)
        loop.remove_signal_handler(signal.SIGUSR1)

    run(qapp, main)


def test_a_limit_of_time_is_kept(qapp: QApplication) -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await asyncio.Event().wait()

    run(qapp, main)


def test_the_result_and_the_error_of_main_come_back_and_the_loop_can_be_made_again(qapp: QApplication) -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    async def fail() -> None:
        await asyncio.sleep(0)
        raise LookupError("told")

    assert run(qapp, answer) == 42
    with pytest.raises(LookupError, match="told"):
        run(qapp, fail)
    assert run(qapp, answer) == 42


def test_what_main_leaves_behind_is_cancelled_and_no_timer_is_left(qapp: QApplication) -> None:
    ended: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(0.01)
            ended.append("cancelled")

    async def main() -> tuple[_Deadlines, asyncio.Task[None]]:
        task = asyncio.ensure_future(forever())
        asyncio.get_running_loop().call_later(3600, ended.append, "late")
        await asyncio.sleep(0.01)
        return _deadlines(), task

    deadlines, task = run(qapp, main)
    assert ended == ["cancelled"]
    assert task.cancelled()
    assert not deadlines.ticking
    assert deadlines.pending == 0


def test_nothing_runs_between_two_runs_of_the_loop(qapp: QApplication) -> None:
    ran: list[str] = []
    loop = DesktopLoop(qapp)
    try:
        loop.run_until_complete(asyncio.sleep(0))
        loop.call_soon(ran.append, "later")
        _from_thread(loop, ran, "thread")
        QTimer.singleShot(20, qapp.quit)
        qapp.exec()
        assert ran == []
        loop.run_until_complete(asyncio.sleep(0))
        assert ran == ["later", "thread"]
        loop.call_soon(ran.append, "never")
    finally:
        loop.close()
    assert loop._deadlines.pending == 0


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_an_exit_raised_in_a_callback_leaves_through_the_loop(qapp: QApplication, error: BaseException) -> None:
    def leave() -> None:
        raise error

    async def main() -> None:
        asyncio.get_running_loop().call_soon(leave)
        await asyncio.Event().wait()

    with pytest.raises(type(error)):
        run(qapp, main)


def test_a_failing_callback_reaches_the_exception_handler_and_the_rest_runs(qapp: QApplication) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        told: list[object] = []
        loop.set_exception_handler(lambda _loop, context: told.append(context["exception"]))
        error = ValueError("bug")

        def fail() -> None:
            raise error

        loop.call_soon(fail)
        await asyncio.sleep(0.01)
        assert told == [error]

    run(qapp, main)


def test_a_nested_qt_loop_inside_a_task_holds_the_other_tasks_back(qapp: QApplication) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        ran: list[str] = []
        loop.call_later(0.01, ran.append, "other")
        _from_thread(loop, ran, "thread")
        nested = QEventLoop()
        QTimer.singleShot(40, nested.quit)
        nested.exec()
        assert ran == []
        await asyncio.sleep(0.01)
        assert ran == ["thread", "other"]

    run(qapp, main)


def _from_thread(loop: asyncio.AbstractEventLoop, ran: list[str], word: str) -> None:
    thread = threading.Thread(target=loop.call_soon_threadsafe, args=(ran.append, word), name="test worker")
    thread.start()
    thread.join()
