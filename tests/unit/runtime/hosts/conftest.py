"""The real agent process against the fake provider."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runtime.base.tasks import TaskSupervisor
from runtime.hosts.acp.agent import Agent
from runtime.hosts.acp.host import AcpHost, AcpSession
from runtime.hosts.acp.process import Command
from runtime.hosts.agent.dialect import OwnDialect
from runtime.hosts.agent.wire import Endpoint, Limits
from runtime.hosts.faults import HostFault
from runtime.hosts.port import Binding, HostEvent, HostSettings, Prompt, PromptEnded, TextDelta
from tests.fakes.fake_provider import FakeProvider


@dataclass
class FixedEndpoint:
    """An endpoint source that a test sets."""

    base_url: str = ""
    api_key: str = ""
    proxy: str = ""
    limits: Limits = field(default_factory=lambda: Limits(probe_pause=0.02))

    async def endpoint(self, model: str, progress: Callable[[HostEvent], None]) -> Endpoint:
        return Endpoint(base_url=self.base_url, model=model, api_key=self.api_key, proxy=self.proxy, limits=self.limits)


@dataclass
class Heard:
    """What one prompt gave."""

    events: list[HostEvent] = field(default_factory=list[HostEvent])
    fault: HostFault | None = None

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def end(self) -> str:
        last = self.events[-1] if self.events else None
        return last.reason if isinstance(last, PromptEnded) else self.fault.code if self.fault else ""


@dataclass
class Desk:
    """One agent process, one host on it and the endpoint it is given."""

    agent: Agent
    host: AcpHost
    source: FixedEndpoint
    bugs: list[BaseException]

    async def open(self, **settings: object) -> AcpSession:
        return await self.host.open(Binding("ses-1", ""), HostSettings(model="fake-model", **settings))  # type: ignore[arg-type]

    async def ask(self, provider: FakeProvider, text: str = "hello", **settings: object) -> Heard:
        self.source.base_url = provider.base_url
        session = await self.open(**settings)
        heard = await listen(session, Prompt(text))
        await session.close()
        return heard


async def listen(session: AcpSession, prompt: Prompt) -> Heard:
    """All events of a prompt, and its fault if it has one."""
    heard = Heard()
    try:
        async for event in session.prompt(prompt):
            heard.events.append(event)
    except HostFault as fault:
        heard.fault = fault
    return heard


OWN_AGENT = (sys.executable, "-m", "runtime.hosts.agent")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator[Desk, None]:
    bugs: list[BaseException] = []
    tasks = TaskSupervisor("hosts", bugs.append)
    source = FixedEndpoint()
    agent = Agent(Command(OWN_AGENT), tasks)
    host = AcpHost(agent, OwnDialect(source), tasks, str(tmp_path))
    yield Desk(agent, host, source, bugs)
    await host.close()
    await tasks.close()
    assert bugs == []
