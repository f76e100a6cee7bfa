"""A host that says what a test scripted, on the test's clock, and counts how often it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from runtime.base.clock import Clock
from runtime.base.errors import Fault
from runtime.hosts.port import Binding, Capabilities, HostEvent, HostSettings, Observed, Prompt, PromptEnded, TextDelta


@dataclass(frozen=True, slots=True)
class Pause:
    """Say nothing for ``seconds``."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hold:
    """Say nothing until the test sets ``event``."""

    event: asyncio.Event


Line: TypeAlias = HostEvent | Pause | Hold | BaseException


def says(*texts: str) -> list[Line]:
    """An answer in these pieces that ends well."""
    return [*(TextDelta(text) for text in texts), PromptEnded("completed")]


@dataclass
class FakeHost:
    """Implements :class:`runtime.hosts.port.Host`. ``scripts`` are used up in order; then ``says("ok")``."""

    clock: Clock
    scripts: list[Sequence[Line]] = field(default_factory=list)
    capabilities: Capabilities = field(default_factory=Capabilities)
    observed: Observed = field(default_factory=lambda: Observed("fake-1", "fake"))
    open_fault: Fault | None = None
    open_hold: asyncio.Event | None = None
    deaf: bool = False
    on_prompt: Callable[[Prompt], None] | None = None
    opened: list[tuple[Binding, HostSettings]] = field(default_factory=list)
    sessions: list[FakeHostSession] = field(default_factory=list)
    prompts: list[Prompt] = field(default_factory=list)
    interrupts: int = 0
    opening: asyncio.Event = field(default_factory=asyncio.Event)
    ending: asyncio.Event = field(default_factory=asyncio.Event)

    async def open(self, binding: Binding, settings: HostSettings) -> FakeHostSession:
        self.opened.append((binding, settings))
        self.opening.set()
        if self.open_hold is not None:
            await self.open_hold.wait()
        if self.open_fault is not None:
            raise self.open_fault
        session = FakeHostSession(self, f"host-{len(self.sessions) + 1}")
        self.sessions.append(session)
        return session

    async def close(self) -> None:
        for session in self.sessions:
            await session.close()


class FakeHostSession:
    """One conversation with :class:`FakeHost`."""

    def __init__(self, host: FakeHost, host_session_id: str) -> None:
        self._host = host
        self.host_session_id = host_session_id
        self.closed = 0
        self._quiet = asyncio.Event()

    @property
    def capabilities(self) -> Capabilities:
        return self._host.capabilities

    @property
    def observed(self) -> Observed:
        return self._host.observed

    async def prompt(self, prompt: Prompt) -> AsyncIterator[HostEvent]:
        self._host.prompts.append(prompt)
        if self._host.on_prompt is not None:
            self._host.on_prompt(prompt)
        self._quiet.clear()
        script = self._host.scripts.pop(0) if self._host.scripts else says("ok")
        for line in script:
            if isinstance(line, BaseException):
                raise line
            if isinstance(line, Pause):
                await self._either(asyncio.ensure_future(self._host.clock.sleep(line.seconds)))
            elif isinstance(line, Hold):
                await self._either(asyncio.ensure_future(line.event.wait()))
            else:
                yield line
            if self._quiet.is_set():
                yield PromptEnded("cancelled")
                return

    async def interrupt(self) -> None:
        self._host.interrupts += 1
        if not self._host.deaf:
            self._quiet.set()

    async def close(self) -> None:
        self.closed += 1
        self._host.ending.set()
        self._quiet.set()

    async def _either(self, waiting: asyncio.Future[Any]) -> None:
        quiet = asyncio.ensure_future(self._quiet.wait())
        try:
            await asyncio.wait([waiting, quiet], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            quiet.cancel()


@dataclass
class FakeRegistry:
    """Implements ``runtime.sessions.live.HostRegistry`` with one host for every reference."""

    host: FakeHost
    asked: list[str] = field(default_factory=list)

    async def host_for(self, model_reference: str) -> tuple[FakeHost, str]:
        self.asked.append(model_reference)
        return self.host, model_reference.partition(":")[2]


@dataclass
class FakeModels:
    """Implements ``runtime.sessions.gateway.ModelResolver``."""

    default: str = "scripted:demo"

    async def resolve(self, model: str) -> str:
        return model or self.default
