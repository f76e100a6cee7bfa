"""A clock that only moves when a test says so."""

from __future__ import annotations

import asyncio
import heapq
import itertools

_TURNS = 20
_TINY = 1e-6


class FakeClock:
    """Implements :class:`runtime.base.clock.Clock`; sleepers wake in the order of their deadlines."""

    def __init__(self, now_ms: int = 1_790_000_000_000) -> None:
        self._start_ms = now_ms
        self._seconds = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now_ms(self) -> int:
        return self._start_ms + round(self._seconds * 1000)

    def monotonic(self) -> float:
        return self._seconds

    async def sleep(self, seconds: float) -> None:
        if seconds < _TINY:  # what is left of a difference of two floats: it passes by itself, as on a real clock
            self._seconds += max(seconds, 0.0) and _TINY
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._seconds + seconds, next(self._order), future))
        await future

    @property
    def sleepers(self) -> int:
        """How many tasks wait right now (cancelled ones not counted)."""
        return sum(not future.done() for _deadline, _order, future in self._sleepers)

    async def advance(self, seconds: float) -> None:
        """Move time by ``seconds``: each sleeper wakes at its own deadline and may sleep again within the span."""
        target = self._seconds + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= target:
            deadline, _order, future = heapq.heappop(self._sleepers)
            if future.done():
                continue
            self._seconds = max(self._seconds, deadline)
            future.set_result(None)
            await settle()
        self._seconds = target
        await settle()


async def settle() -> None:
    """Let everything that is ready on the loop run; work in other threads is not waited for."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)
