"""Finds the host of a model reference; heavy modules are loaded by name at first use."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from runtime.base.clock import Clock
from runtime.base.errors import RejectedFault
from runtime.base.import_thread import load
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.port import Host

if TYPE_CHECKING:
    from runtime.hosts.agent.host import OwnAgent
    from runtime.hosts.agent.sources import Engine, Keys
    from runtime.hosts.engine.weights import LocalModels
    from runtime.settings.store import SettingsStore


@dataclass(frozen=True, slots=True)
class Suppliers:
    """What hosts take from the rest of the program; ``folder`` is where agents without a workspace run."""

    settings: SettingsStore
    keys: Keys
    engine: Engine
    models: LocalModels
    clock: Clock
    folder: str


class HostRegistry:
    """One host per provider; the built-in agent's hosts share a process (spec/sessions.md section 5)."""

    def __init__(self, suppliers: Suppliers, tasks: TaskSupervisor) -> None:
        self._suppliers = suppliers
        self._tasks = tasks
        self._hosts: dict[str, Host] = {}
        self._own: OwnAgent | None = None
        self._lock = asyncio.Lock()

    async def host_for(self, model_reference: str) -> tuple[Host, str]:
        """The host and its own name of the model. Nothing is started.

        Raises :class:`RejectedFault` ``model_unavailable`` for a reference without a known provider.
        """
        provider, _, model = model_reference.partition(":")
        if not model:
            raise RejectedFault("model_unavailable", model=model_reference)
        async with self._lock:
            if provider not in self._hosts:
                self._hosts[provider] = await self._make(provider, model_reference)
            return self._hosts[provider], model

    async def warm(self) -> None:
        """Load the built-in agent's modules, so that the first send does not wait for them."""
        async with self._lock:
            await self._own_agent()

    async def close(self) -> None:
        """End every agent process within a bounded time. The engine has its own owner."""
        async with self._lock:
            hosts, self._hosts = self._hosts, {}
        for host in hosts.values():
            await host.close()
        if self._own is not None:
            await self._own.close()

    async def _make(self, provider: str, reference: str) -> Host:
        supplies = self._suppliers
        if provider == "scripted":
            module = await load("runtime.hosts.scripted")
            return cast("Host", module.ScriptedHost(supplies.clock))
        if provider == "local":
            return (await self._own_agent()).local(supplies.engine, supplies.models, supplies.settings)
        if supplies.settings.current.server(provider) is None:
            raise RejectedFault("model_unavailable", model=reference)
        return (await self._own_agent()).server(provider, supplies.settings, supplies.keys)

    async def _own_agent(self) -> OwnAgent:
        if self._own is None:
            module = await load("runtime.hosts.agent.host")
            self._own = cast("OwnAgent", module.OwnAgent(self._tasks, self._suppliers.folder))
        return self._own
