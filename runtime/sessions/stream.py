"""From a host's events to batches that are worth a transaction: at most 50 ms or 4 KB apart.

The first token leaves at once; later ones wait for the interval, for 4 KB, or for an event that is not text.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import cast

from runtime.hosts.port import HostEvent, ReasoningSummaryDelta, TextDelta
from runtime.sessions.waiting import Patience

INTERVAL_SECONDS = 0.05
BATCH_CHARACTERS = 4_096
_WAITING_CHARACTERS = 1 << 20
_Deltas = (TextDelta, ReasoningSummaryDelta)


class HostStream:
    """Reads one prompt's events in a task of its own, so that a slow disk does not stall the host's pipe."""

    def __init__(self, events: AsyncIterator[HostEvent], patience: Patience) -> None:
        self._patience = patience
        self._clock = patience.clock
        self._pending: list[HostEvent] = []
        self._size = 0
        self._urgent = asyncio.Event()
        self._some = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._ended = False
        self._failure: BaseException | None = None
        self._taken_at = float("-inf")
        self._reader = patience.tasks.spawn("host stream", self._read(events))

    async def next_batch(self) -> list[HostEvent] | None:
        """The next events, neighbouring deltas merged; None at the end.

        Raises what the host raised, after everything that came before it was handed out.
        """
        await self._some.wait()
        await self._let_it_grow()
        batch, self._pending, self._size = self._pending, [], 0
        self._taken_at = self._clock.monotonic()
        self._room.set()
        if batch:
            if not self._ended:
                self._some.clear()
                self._urgent.clear()
            return _merged(batch)
        if self._failure is not None:
            raise self._failure
        return None

    async def close(self) -> None:
        """Stop reading. What was read stays available through :meth:`next_batch`."""
        self._reader.cancel()
        await asyncio.wait([self._reader])

    async def _let_it_grow(self) -> None:
        rest = self._taken_at + INTERVAL_SECONDS - self._clock.monotonic()
        if self._urgent.is_set() or rest <= 0:
            return
        await self._patience.for_event(self._urgent, rest)

    async def _read(self, events: AsyncIterator[HostEvent]) -> None:
        try:
            async for event in events:
                self._put(event)
                await self._room.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as failure:  # noqa: BLE001 - handed to the turn by next_batch, never swallowed
            self._failure = failure
        finally:
            await _close(events)
            self._ended = True
            self._some.set()
            self._urgent.set()

    def _put(self, event: HostEvent) -> None:
        self._pending.append(event)
        if isinstance(event, _Deltas):
            self._size += len(event.text)
        if not isinstance(event, _Deltas) or self._size >= BATCH_CHARACTERS:
            self._urgent.set()
        if self._size >= _WAITING_CHARACTERS:
            self._room.clear()
        self._some.set()


async def _close(events: AsyncIterator[HostEvent]) -> None:
    """A generator that is left early cleans up now, not when it is collected."""
    if isinstance(events, AsyncGenerator):
        await cast("AsyncGenerator[HostEvent, None]", events).aclose()


def _merged(events: list[HostEvent]) -> list[HostEvent]:
    """Neighbouring deltas of one kind become one."""
    merged: list[HostEvent] = []
    parts: list[str] = []
    kind: type[TextDelta] | type[ReasoningSummaryDelta] | None = None
    for event in events:
        if kind is not None and type(event) is not kind:
            merged.append(kind("".join(parts)))
            parts, kind = [], None
        if isinstance(event, TextDelta | ReasoningSummaryDelta):
            kind = type(event)
            parts.append(event.text)
        else:
            merged.append(event)
    if kind is not None:
        merged.append(kind("".join(parts)))
    return merged
