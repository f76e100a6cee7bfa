"""One question, one POST, one answer: the model library behind the watched transport."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import httpx2
from openai import APIStatusError, AsyncOpenAI
from pydantic_ai.exceptions import AgentRunError, ModelAPIError, ModelHTTPError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    SystemPromptPart,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from runtime.hosts.agent.readiness import wait_until_ready
from runtime.hosts.agent.transport import Answer, CallFailed, WatchedTransport
from runtime.hosts.agent.wire import Ended, Endpoint, Failure, Question
from runtime.hosts.agent.words import server_words, status_code

_CONNECT_SECONDS = 10.0
_ENDS = {"length": "length", "max_tokens": "length", "content_filter": "refused", "refusal": "refused"}


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told what happens during a call. ``calling`` returns only when its notice has left the process."""

    text: Callable[[str], Awaitable[None]]
    progress: Callable[[str], Awaitable[None]]
    calling: Callable[[], Awaitable[None]]


async def answer(question: Question, text: str, listener: Listener) -> Ended:
    """Ask once and stream the answer to ``listener``.

    Raises :class:`CallFailed` with a code of :class:`~runtime.hosts.faults.HostFault`; nothing is retried.
    """
    seen = Answer()
    try:
        async with _client(question.endpoint, seen, listener) as client:
            await wait_until_ready(client, question.endpoint, lambda: listener.progress("model_loading"))
            refusal = await _stream(question, text, client, listener)
    except AgentRunError as error:
        raise CallFailed(_failure(error)) from error
    reason = "refused" if refusal else _ENDS.get(seen.finish_reason, "completed" if seen.finish_reason else "")
    return Ended.model_validate(
        {
            "reason": reason or "no_finish_mark",
            "model": seen.model,
            "input_tokens": seen.input_tokens,
            "output_tokens": seen.output_tokens,
        }
    )


@asynccontextmanager
async def _client(endpoint: Endpoint, seen: Answer, listener: Listener) -> AsyncGenerator[httpx2.AsyncClient, None]:
    transport = WatchedTransport(endpoint, seen, listener.calling)
    timeout = httpx2.Timeout(None, connect=_CONNECT_SECONDS)
    async with httpx2.AsyncClient(
        transport=transport, trust_env=False, follow_redirects=False, timeout=timeout, headers={"user-agent": "Inkfast"}
    ) as client:
        yield client


async def _stream(question: Question, text: str, client: httpx2.AsyncClient, listener: Listener) -> bool:
    """Hand text on as it comes; True if the model refused (its refusal is then the text)."""
    model = _model(question.endpoint, client)
    settings = cast("OpenAIChatModelSettings", dict(question.sampling))
    settings["extra_headers"] = {"User-Agent": "Inkfast"}
    for whole in ("max_tokens", "seed"):
        if whole in question.sampling:
            settings[whole] = int(question.sampling[whole])
    async with model.request_stream(_messages(question, text), settings, ModelRequestParameters()) as stream:
        await _events(stream, listener)
        refusal: Any = (stream.provider_details or {}).get("refusal")
        if refusal:
            await listener.text(str(refusal))
        return bool(refusal)


async def _events(stream: StreamedResponse, listener: Listener) -> None:
    """Text goes on; what a model thinks aloud is withheld and only said to happen (spec/sessions.md section 5)."""
    thinking = False
    async for event in stream:
        if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart) and event.part.content:
            await listener.text(event.part.content)
        elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta) and event.delta.content_delta:
            await listener.text(event.delta.content_delta)
        elif isinstance(event, PartStartEvent) and isinstance(event.part, ThinkingPart) and not thinking:
            thinking = True
            await listener.progress("thinking")


def _model(endpoint: Endpoint, client: httpx2.AsyncClient) -> OpenAIChatModel:
    sdk = AsyncOpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key or "none",
        http_client=client,
        max_retries=0,
        timeout=httpx2.Timeout(None, connect=_CONNECT_SECONDS),
    )
    provider = OpenAICompatibleProvider(endpoint.provider, openai_client=sdk)
    profile = OpenAIModelProfile(
        openai_chat_supports_max_completion_tokens="api.openai.com" in endpoint.base_url,
        openai_chat_supports_multiple_system_messages=False,
    )
    return OpenAIChatModel(endpoint.model, provider=provider, profile=profile)


def _messages(question: Question, text: str) -> list[ModelMessage]:
    """At most one leading system message, then the history, then the new text."""
    system = [SystemPromptPart(question.instructions)] if question.instructions else []
    messages: list[ModelMessage] = []
    for message in question.history:
        if message.role == "user":
            messages.append(ModelRequest(parts=[UserPromptPart(message.text)]))
        else:
            messages.append(ModelResponse(parts=[TextPart(message.text)]))
    messages.append(ModelRequest(parts=[UserPromptPart(text)]))
    return [ModelRequest(parts=list(system)), *messages] if system else messages


def _failure(error: AgentRunError) -> Failure:
    """A status from before the stream, or an answer that the library could not use."""
    if isinstance(error, ModelHTTPError):
        return Failure(
            code=status_code(error.status_code),
            message=server_words(error.body),
            called=True,
            status=error.status_code,
            retry_after=error.retry_after,
        )
    cause = error.__cause__
    if isinstance(cause, APIStatusError):  # a redirect: followed, it would be a second POST
        status = cause.status_code
        return Failure(code=status_code(status), message=server_words(cause.body), called=True, status=status)
    words = server_words(error.body) if isinstance(error, ModelAPIError) else ""
    return Failure(code="stream_error", message=words or str(error)[:2000], called=True)
