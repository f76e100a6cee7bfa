"""What an agent understands and reports beyond the protocol. The plain dialect assumes nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

from acp import RequestError
from acp.schema import AgentThoughtChunk, PromptResponse

from runtime.base.errors import RejectedFault
from runtime.hosts.faults import HostFault
from runtime.hosts.port import EndReason, HostEvent, HostSettings, Prompt, PromptEnded, UsageReported

_REASONS: dict[str, EndReason] = {
    "end_turn": "completed",
    "max_tokens": "length",
    "max_turn_requests": "length",
    "refusal": "refused",
    "cancelled": "cancelled",
}
_AUTH_REQUIRED = -32000


class Dialect(Protocol):
    """One per kind of agent."""

    @property
    def keeps_history(self) -> bool:
        """Whether a new process loses the conversation."""
        ...

    @property
    def tells_calling(self) -> bool:
        """Whether the agent says so before it calls the provider (else sending the prompt counts as calling)."""
        ...

    def check(self, settings: HostSettings) -> None:
        """Raises :class:`RejectedFault` ``setting_unsupported`` before anything is started."""
        ...

    async def prepare(self, settings: HostSettings) -> int | None:
        """Start what a session needs besides the agent; returns the model's window in tokens if reported.

        Raises :class:`Fault`, with nothing called.
        """
        ...

    def asking(
        self, settings: HostSettings, prompt: Prompt, progress: Callable[[HostEvent], None]
    ) -> AbstractAsyncContextManager[dict[str, Any]]:
        """``_meta`` of a prompt, with what it needs kept alive until it has ended.

        Entering raises :class:`Fault`, with nothing called.
        """
        ...

    def is_summary(self, chunk: AgentThoughtChunk) -> bool:
        """Whether a thought is an explicit summary; raw thinking is withheld."""
        ...

    def ended(self, response: PromptResponse) -> list[HostEvent]:
        """The last events of a prompt, :class:`PromptEnded` at the end."""
        ...

    def failed(self, error: RequestError, called: bool) -> HostFault:
        """The fault for a refused or failed prompt."""
        ...


class PlainDialect:
    """Any agent: its own history, its own models, no extras."""

    @property
    def keeps_history(self) -> bool:
        return True

    @property
    def tells_calling(self) -> bool:
        return False

    def check(self, settings: HostSettings) -> None:
        if settings.sampling or settings.instructions or settings.effort:
            raise RejectedFault("setting_unsupported")

    async def prepare(self, settings: HostSettings) -> int | None:
        return None

    @asynccontextmanager
    async def asking(
        self, settings: HostSettings, prompt: Prompt, progress: Callable[[HostEvent], None]
    ) -> AsyncGenerator[dict[str, Any], None]:
        yield {}

    def is_summary(self, chunk: AgentThoughtChunk) -> bool:
        return False

    def ended(self, response: PromptResponse) -> list[HostEvent]:
        events: list[HostEvent] = []
        if response.usage is not None:
            events.append(UsageReported(response.usage.input_tokens, response.usage.output_tokens))
        events.append(PromptEnded(_REASONS.get(response.stop_reason, "completed")))
        return events

    def failed(self, error: RequestError, called: bool) -> HostFault:
        code = "auth_failed" if error.code == _AUTH_REQUIRED else "server_error"
        return HostFault(code, str(error), called=called, rpc_code=error.code)
