"""Batches: at most 50 ms or 4 KB apart, the first at once, nothing lost at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from runtime.base.tasks import TaskSupervisor
from runtime.hosts.faults import HostFault
from runtime.hosts.port import HostEvent, PromptEnded, ReasoningSummaryDelta, TextDelta
from runtime.sessions.stream import BATCH_CHARACTERS, HostStream
from runtime.sessions.waiting import Patience
from tests.fakes.clock import FakeClock, settle


class _Feed:
    """A host's stream that the test feeds by hand."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[HostEvent | BaseException | None] = asyncio.Queue()
        self.closed = False

    def __call__(self, *events: HostEvent | BaseException | None) -> None:
        for event in events:
            self._queue.put_nowait(event)

    async def events(self) -> AsyncIterator[HostEvent]:
        try:
            while (event := await self._queue.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            self.closed = True


class _Reader:
    def __init__(self, clock: FakeClock) -> None:
        self.tasks = TaskSupervisor("test", lambda error: None)
        self.feed = _Feed()
        self.stream = HostStream(self.feed.events(), Patience(clock, self.tasks))

    def next(self) -> asyncio.Task[list[HostEvent] | None]:
        return self.tasks.spawn("next", self.stream.next_batch())


@pytest.fixture
async def reader(clock: FakeClock) -> AsyncIterator[_Reader]:
    made = _Reader(clock)
    yield made
    await made.stream.close()
    await made.tasks.close()


async def test_the_first_token_leaves_at_once(reader: _Reader) -> None:
    reader.feed(TextDelta("a"))
    assert await reader.next() == [TextDelta("a")]


async def test_later_tokens_are_gathered_for_fifty_milliseconds(reader: _Reader, clock: FakeClock) -> None:
    reader.feed(TextDelta("a"))
    await reader.next()
    reader.feed(TextDelta("b"))
    batch = reader.next()
    await clock.advance(0.02)
    reader.feed(TextDelta("c"))
    await clock.advance(0.029)
    assert not batch.done()
    await clock.advance(0.001)
    assert batch.result() == [TextDelta("bc")]


async def test_four_kilobytes_do_not_wait_for_the_interval(reader: _Reader) -> None:
    reader.feed(TextDelta("a"))
    await reader.next()
    reader.feed(TextDelta("b"))
    batch = reader.next()
    await settle()
    assert not batch.done()
    reader.feed(TextDelta("c" * BATCH_CHARACTERS))
    assert await batch == [TextDelta("b" + "c" * BATCH_CHARACTERS)]


async def test_an_event_that_is_not_text_does_not_wait(reader: _Reader) -> None:
    reader.feed(TextDelta("a"))
    await reader.next()
    reader.feed(TextDelta("b"), ReasoningSummaryDelta("r"), TextDelta("c"), TextDelta("d"))
    reader.feed(PromptEnded("completed"), None)
    batch = await reader.next()
    assert batch == [TextDelta("b"), ReasoningSummaryDelta("r"), TextDelta("cd"), PromptEnded("completed")]
    assert await reader.next() is None
    assert await reader.next() is None


async def test_the_last_text_is_handed_out_before_the_failure(reader: _Reader) -> None:
    reader.feed(TextDelta("a"))
    await reader.next()
    reader.feed(TextDelta("no newline"), HostFault("stream_error", called=True))
    assert await reader.next() == [TextDelta("no newline")]
    with pytest.raises(HostFault):
        await reader.next()


async def test_closing_ends_the_host_s_generator_and_keeps_what_was_read(reader: _Reader) -> None:
    reader.feed(TextDelta("a"))
    await settle()
    await reader.stream.close()
    assert reader.feed.closed
    assert await reader.next() == [TextDelta("a")]
    assert await reader.next() is None


async def test_a_host_that_is_far_ahead_waits_for_the_disk(reader: _Reader) -> None:
    reader.feed(*(TextDelta("x" * 100_000) for _ in range(40)))
    await settle()
    assert reader.feed._queue.qsize() > 20
    got = 0
    while got < 4_000_000:
        batch = await reader.next()
        assert batch is not None
        got += sum(len(event.text) for event in batch if isinstance(event, TextDelta))
    assert got == 4_000_000
