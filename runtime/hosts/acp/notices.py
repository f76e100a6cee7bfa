"""Notices that an agent may send beyond the protocol, as extension notifications. Inkfast's own agent does."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

PROGRESS = "inkfast/progress"
CALLING = "inkfast/calling"


class Notice(BaseModel):
    """Frozen and strict: what is not declared is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    session_id: str


class Progress(Notice):
    """Parameters of :data:`PROGRESS`: a code of :class:`~runtime.hosts.port.HostProgress`."""

    code: str


class Calling(Notice):
    """Parameters of :data:`CALLING`: written to the pipe before the first byte goes to the provider."""


def sendable(text: str) -> str:
    """``text`` with lone surrogates replaced: they have no UTF-8 form that a server could read."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
