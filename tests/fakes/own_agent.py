"""The built-in agent on a desk: its host, an endpoint that a test sets, and what a prompt gave."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.base.errors import Fault
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.acp.agent import Agent
from runtime.hosts.acp.host import AcpHost, AcpSession
from runtime.hosts.acp.process import Command
from runtime.hosts.agent.dialect import OwnDialect
from runtime.hosts.agent.wire import Endpoint, Limits
from runtime.hosts.faults import HostFault
from runtime.hosts.port import Binding, HostEvent, HostProgress, HostSettings, Prompt, PromptEnded, TextDelta
from tests.fakes.fake_provider import FakeProvider

# A proxy that nobody runs: whatever trusted the environment would fail (case N01).
BROKEN_PROXY = {name: "http://127.0.0.1:9" for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy")}
OWN_AGENT = Command((sys.executable, "-P", "-m", "runtime.hosts.agent"), BROKEN_PROXY)


@dataclass
class FixedEndpoint:
    """An endpoint source that a test sets."""

    base_url: str = ""
    api_key: str = ""
    proxy: str = ""
    limits: Limits = field(default_factory=lambda: Limits(probe_pause=0.02))

    async def prepare(self, model: str) -> int | None:
        return None

    @asynccontextmanager
    async def lease(self, model: str, progress: Callable[[HostProgress], None]) -> AsyncGenerator[Endpoint, None]:
        yield Endpoint(base_url=self.base_url, model=model, api_key=self.api_key, proxy=self.proxy, limits=self.limits)


@dataclass
class Heard:
    """What one prompt gave."""

    events: list[HostEvent] = field(default_factory=list[HostEvent])
    fault: Fault | None = None

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, TextDelta))

    @property
    def progress(self) -> list[str]:
        return [event.code for event in self.events if isinstance(event, HostProgress)]

    @property
    def end(self) -> str:
        """The reason of an answer that ended, else the code of the fault."""
        last = self.events[-1] if self.events else None
        return last.reason if isinstance(last, PromptEnded) else self.fault.code if self.fault else ""

    @property
    def called(self) -> bool | None:
        return self.fault.called if isinstance(self.fault, HostFault) else None


async def listen(session: AcpSession, prompt: Prompt, heard: Heard | None = None) -> Heard:
    """All events of a prompt, and its fault if it has one; ``heard`` can be looked at meanwhile."""
    heard = heard or Heard()
    try:
        async for event in session.prompt(prompt):
            heard.events.append(event)
    except Fault as fault:
        heard.fault = fault
    return heard


@dataclass
class Desk:
    """A host on an agent process, and the endpoint it is given."""

    agent: Agent
    host: AcpHost
    source: FixedEndpoint
    tasks: TaskSupervisor
    bugs: list[BaseException]

    async def open(self, provider: FakeProvider, **settings: Any) -> AcpSession:
        self.source.base_url = provider.base_url
        return await self.host.open(Binding("ses-1", ""), HostSettings(model="fake-model", **settings))

    async def ask(self, provider: FakeProvider, prompt: Prompt | str = "hello", **settings: Any) -> Heard:
        """One prompt in a session of its own."""
        session = await self.open(provider, **settings)
        heard = await listen(session, Prompt(prompt) if isinstance(prompt, str) else prompt)
        await session.close()
        return heard

    def limit(self, **seconds: float) -> None:
        self.source.limits = Limits(**{"probe_pause": 0.02, **seconds})


def make_desk(agent: Agent, folder: Path) -> Desk:
    bugs: list[BaseException] = []
    tasks = TaskSupervisor("host", bugs.append)
    source = FixedEndpoint()
    return Desk(agent, AcpHost(agent, OwnDialect(source), tasks, str(folder)), source, tasks, bugs)
