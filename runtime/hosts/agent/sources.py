"""Where models are reached: a configured server, or the local engine while a prompt holds it."""

from __future__ import annotations

import urllib.request
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import urlsplit

from runtime.base.errors import RejectedFault
from runtime.hosts.agent.wire import Endpoint, Limits
from runtime.hosts.engine.process import EngineEndpoint
from runtime.hosts.engine.weights import LocalModel, LocalModels
from runtime.hosts.port import HostProgress
from runtime.settings.model import Server, Settings


class Engine(Protocol):
    """The part of the engine's supervisor that is used here."""

    async def ensure(self, model: LocalModel, on_progress: Callable[[HostProgress], None]) -> EngineEndpoint: ...

    def lease(
        self, model: LocalModel, on_progress: Callable[[HostProgress], None]
    ) -> AbstractAsyncContextManager[EngineEndpoint]: ...


class Keys(Protocol):
    """API keys by server id, empty where none is needed."""

    async def get(self, name: str) -> str: ...


class ServerSource:
    """A server as it is configured at the moment of the prompt."""

    def __init__(self, server_id: str, settings: Callable[[], Settings], keys: Keys) -> None:
        self._id = server_id
        self._settings = settings
        self._keys = keys

    async def prepare(self, model: str) -> int | None:
        """Nothing is started and nothing asked; the window in tokens is not reported."""
        self._server()
        return None

    @asynccontextmanager
    async def lease(self, model: str, progress: Callable[[HostProgress], None]) -> AsyncGenerator[Endpoint, None]:
        """Raises :class:`RejectedFault` ``model_unavailable`` if the server was removed."""
        server = self._server()
        yield Endpoint(
            base_url=server.base_url,
            model=model,
            api_key=await self._keys.get(server.id),
            provider=server.id,
            proxy=proxy_for(server),
            limits=Limits(silence=self._settings().silence_seconds),
        )

    def _server(self) -> Server:
        server = self._settings().server(self._id)
        if server is None:
            raise RejectedFault("model_unavailable", provider=self._id)
        return server


class LocalSource:
    """The embedded engine; its key is random and made for each start."""

    def __init__(self, engine: Engine, models: LocalModels, settings: Callable[[], Settings]) -> None:
        self._engine = engine
        self._models = models
        self._settings = settings

    async def prepare(self, model: str) -> int | None:
        """Start the engine. Raises :class:`HostFault` ``model_missing``, ``model_damaged``, ``engine_failed``."""
        endpoint = await self._engine.ensure(self._find(model), _unheard)
        return endpoint.context_tokens

    @asynccontextmanager
    async def lease(self, model: str, progress: Callable[[HostProgress], None]) -> AsyncGenerator[Endpoint, None]:
        """Keep the engine for one prompt; raises as :meth:`prepare`."""
        async with self._engine.lease(self._find(model), progress) as running:
            yield Endpoint(
                base_url=running.base_url,
                model=running.model,
                api_key=running.api_key,
                provider="local",
                limits=Limits(silence=self._settings().silence_seconds),
            )

    def _find(self, model: str) -> LocalModel:
        if not self._settings().engine_enabled:
            raise RejectedFault("model_unavailable", provider="local", reason="engine_disabled")
        return self._models.find(model)


def is_loopback(address: str) -> bool:
    """Whether a URL names this machine."""
    host = urlsplit(address).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def proxy_for(server: Server) -> str:
    """The system's proxy where the server allows it; never for loopback (case N01)."""
    parts = urlsplit(server.base_url)
    if not server.trust_proxy or is_loopback(server.base_url) or urllib.request.proxy_bypass(parts.hostname or ""):
        return ""
    proxies = urllib.request.getproxies()
    return proxies.get(parts.scheme) or proxies.get("all") or ""


def _unheard(progress: HostProgress) -> None:
    """Opening a session has no listener; the engine's own state is shown meanwhile."""
