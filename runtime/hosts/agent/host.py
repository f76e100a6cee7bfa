"""Inkfast's own agent as a host: one child process for all providers and sessions."""

from __future__ import annotations

import sys

from runtime.base.tasks import TaskSupervisor
from runtime.hosts.acp.agent import Agent
from runtime.hosts.acp.host import AcpHost
from runtime.hosts.acp.process import Command
from runtime.hosts.agent.dialect import EndpointSource, OwnDialect
from runtime.hosts.agent.sources import Engine, Keys, LocalSource, ServerSource
from runtime.hosts.engine.weights import LocalModels
from runtime.settings.store import SettingsStore

COMMAND = Command((sys.executable, "-P", "-m", "runtime.hosts.agent"))


class OwnAgent:
    """Loaded by the registry by name; every host it gives shares the one process."""

    def __init__(self, tasks: TaskSupervisor, folder: str) -> None:
        self._tasks = tasks
        self._folder = folder
        self._agent = Agent(COMMAND, tasks)

    def local(self, engine: Engine, models: LocalModels, settings: SettingsStore) -> AcpHost:
        """The host of ``local:…``."""
        return self._host(LocalSource(engine, models, lambda: settings.current))

    def server(self, server_id: str, settings: SettingsStore, keys: Keys) -> AcpHost:
        """The host of ``<server id>:…``."""
        return self._host(ServerSource(server_id, lambda: settings.current, keys))

    async def close(self) -> None:
        await self._agent.close()

    def _host(self, source: EndpointSource) -> AcpHost:
        return AcpHost(self._agent, OwnDialect(source), self._tasks, self._folder)
