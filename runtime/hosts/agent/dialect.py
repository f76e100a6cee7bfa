"""The window's side of Inkfast's own agent: endpoint, history and settings travel with every prompt."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol, cast

from acp import RequestError
from acp.schema import AgentThoughtChunk, PromptResponse
from pydantic import ValidationError

from runtime.base.errors import RejectedFault
from runtime.hosts.acp.notices import sendable
from runtime.hosts.agent.wire import (
    META,
    MOST_CONTEXT_BYTES,
    SAMPLING,
    Ended,
    Endpoint,
    Failure,
    Message,
    Question,
)
from runtime.hosts.faults import HostFault
from runtime.hosts.port import (
    HostEvent,
    HostProgress,
    HostSettings,
    Observed,
    ObservedChanged,
    Prompt,
    PromptEnded,
    UsageReported,
)


class EndpointSource(Protocol):
    """Where the models of one provider are reached right now."""

    async def prepare(self, model: str) -> int | None:
        """Start what the model needs; its window in tokens if reported. Raises :class:`Fault`, with nothing called."""
        ...

    def lease(self, model: str, progress: Callable[[HostProgress], None]) -> AbstractAsyncContextManager[Endpoint]:
        """The endpoint, kept alive until the block is left. Entering raises :class:`Fault`, with nothing called."""
        ...


class OwnDialect:
    """No history is kept, the call of the provider is announced, failures carry codes."""

    def __init__(self, source: EndpointSource) -> None:
        self._source = source

    @property
    def keeps_history(self) -> bool:
        return False

    @property
    def tells_calling(self) -> bool:
        return True

    def check(self, settings: HostSettings) -> None:
        unknown = sorted(set(settings.sampling) - SAMPLING)
        if unknown or settings.effort:
            raise RejectedFault("setting_unsupported", setting=unknown[0] if unknown else "effort")

    async def prepare(self, settings: HostSettings) -> int | None:
        return await self._source.prepare(settings.model)

    @asynccontextmanager
    async def asking(
        self, settings: HostSettings, prompt: Prompt, progress: Callable[[HostEvent], None]
    ) -> AsyncGenerator[dict[str, Any], None]:
        async with self._source.lease(settings.model, progress) as endpoint:
            yield {META: _question(endpoint, settings, prompt).model_dump(mode="json")}

    def is_summary(self, chunk: AgentThoughtChunk) -> bool:
        mark = cast("object", (chunk.field_meta or {}).get(META))
        return mark == {"summary": True}

    def ended(self, response: PromptResponse) -> list[HostEvent]:
        ended = Ended.model_validate((response.field_meta or {}).get(META))
        events: list[HostEvent] = []
        if ended.model:
            events.append(ObservedChanged(Observed(ended.model, "inkfast")))
        if ended.input_tokens is not None or ended.output_tokens is not None:
            events.append(UsageReported(ended.input_tokens, ended.output_tokens))
        return [*events, PromptEnded(ended.reason)]

    def failed(self, error: RequestError, called: bool) -> HostFault:
        """``called`` is what both sides can prove: no request left only if neither saw one."""
        try:
            failure = Failure.model_validate(cast("dict[str, Any]", error.data or {}).get(META))
        except ValidationError:
            return HostFault("host_crashed", str(error), called=called, rpc_code=error.code)
        return HostFault(
            failure.code,
            failure.message,
            called=called or failure.called,
            status=failure.status,
            retry_after=failure.retry_after,
        )


def _question(endpoint: Endpoint, settings: HostSettings, prompt: Prompt) -> Question:
    question = Question(
        endpoint=endpoint,
        instructions=sendable(settings.instructions),
        sampling=dict(settings.sampling),
        history=tuple(Message(role=message.role, text=sendable(message.text)) for message in prompt.history),
    )
    size = len(question.model_dump_json().encode())
    if size > MOST_CONTEXT_BYTES:
        raise RejectedFault("context_too_large", size=size, limit=MOST_CONTEXT_BYTES)
    return question
