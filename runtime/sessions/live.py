"""The live host session of each conversation. One per conversation; opened at the first need."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from runtime.base.handover import JsonObject, Place
from runtime.base.jsontypes import JsonValue
from runtime.hosts.port import Binding, Host, HostSession, HostSettings
from runtime.sessions.model import Session
from runtime.sessions.waiting import Patience

log = logging.getLogger(__name__)
CLOSE_SECONDS = 5.0


class HostRegistry(Protocol):
    """Finds the host of a strict model reference."""

    async def host_for(self, model_reference: str) -> tuple[Host, str]:
        """The host and the part of the reference that it calls its model. Raises :class:`Fault`."""
        ...


@dataclass(frozen=True, slots=True)
class OpenedHost:
    """A host session that was started for a conversation and is not yet its live one."""

    session_id: str
    host_session: HostSession
    hosts: LiveHosts

    async def close(self) -> None:
        """End it without a trace in the session list. Harmless when repeated."""
        await self.hosts.discard(self)


class LiveHosts:
    """Opens, keeps, replaces and ends host sessions; an ending that hangs is left after five seconds."""

    def __init__(self, registry: HostRegistry, patience: Patience) -> None:
        self._registry = registry
        self._patience = patience
        self._live: dict[str, HostSession] = {}

    def get(self, session_id: str) -> HostSession | None:
        return self._live.get(session_id)

    async def open(self, session_id: str, place: Place, requested: JsonObject, host_session_id: str = "") -> OpenedHost:
        """Start a host session with the requested settings. Raises :class:`Fault` with the host's code."""
        settings = host_settings(requested)
        host, model = await self._registry.host_for(_text(requested, "model"))
        binding = Binding(session_id, place.root, host_session_id)
        opened = await host.open(binding, replace(settings, model=model))
        return OpenedHost(session_id, opened, self)

    async def ensure(self, session: Session) -> tuple[HostSession, bool]:
        """The live host session, opened now if there is none; and whether it was opened now."""
        live = self._live.get(session.id)
        if live is not None:
            return live, False
        opened = await self.open(session.id, session.place, session.requested, session.host_session_id)
        await self.adopt(opened)
        return opened.host_session, True

    async def adopt(self, opened: OpenedHost) -> None:
        """Make ``opened`` the live one; an earlier one is ended."""
        earlier = self._live.get(opened.session_id)
        self._live[opened.session_id] = opened.host_session
        if earlier is not None and earlier is not opened.host_session:
            await self.end(earlier)

    async def drop(self, session_id: str) -> None:
        """End the live host session; the next turn opens a new one."""
        live = self._live.pop(session_id, None)
        if live is not None:
            await self.end(live)

    async def discard(self, opened: OpenedHost) -> None:
        """End ``opened``, live or not."""
        if self._live.get(opened.session_id) is opened.host_session:
            del self._live[opened.session_id]
        await self.end(opened.host_session)

    async def end(self, host_session: HostSession) -> None:
        """Close within five seconds or leave it to its host's own close."""
        closing = self._patience.tasks.spawn("close host session", host_session.close())
        if not await self._patience.for_task(closing, CLOSE_SECONDS):
            log.warning("a host session did not close in time")

    async def close(self) -> None:
        """End all of them."""
        for session_id in list(self._live):
            await self.drop(session_id)


def host_settings(requested: JsonObject) -> HostSettings:
    """The settings of a conversation as a host takes them; the model is filled in by the registry."""
    sampling = requested.get("sampling")
    numbers = {
        name: float(value)
        for name, value in (sampling.items() if isinstance(sampling, Mapping) else ())
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    return HostSettings("", _text(requested, "instructions"), numbers, _text(requested, "effort"))


def observed_object(host_session: HostSession) -> JsonObject:
    """What a host reported about itself, as stored; empty members mean "not reported"."""
    observed = host_session.observed
    return {"model": observed.model, "host": observed.host}


def _text(value: Mapping[str, JsonValue], name: str) -> str:
    member = value.get(name, "")
    return member if isinstance(member, str) else ""
