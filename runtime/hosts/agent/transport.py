"""The one place where requests and answers are watched: below the SDK, above the socket.

Deadlines, the end of an answer, errors inside a 200 stream and the question "may the provider have
been called?" are decided here; mapping chunks to text stays with the library.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, cast

import httpx2

from runtime.base.errors import EnvironmentFault
from runtime.hosts.agent.sse import EventReader, ServerEvent
from runtime.hosts.agent.wire import Endpoint, Failure, Limits
from runtime.hosts.agent.words import server_words

_NEVER_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)
_MOST_ERROR_BYTES = 64 * 1024
_MOST_WHOLE_BYTES = 16 * 1024 * 1024
_ERROR_BODY_SECONDS = 5.0


class CallFailed(EnvironmentFault):
    """A call ended without a usable end; :attr:`failure` says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.code)
        self.failure = failure


class Answer:
    """What the raw stream has shown so far."""

    def __init__(self) -> None:
        self.token_seen = False
        self.finish_reason = ""
        self.model = ""
        self.input_tokens: int | None = None
        self.output_tokens: int | None = None

    def note(self, chunk: dict[str, Any]) -> None:
        """Take what a chunk says about the answer as a whole."""
        model = chunk.get("model")
        if isinstance(model, str) and model:
            self.model = model
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            counts = cast("dict[str, Any]", usage)
            self.input_tokens = _count(counts.get("prompt_tokens"))
            self.output_tokens = _count(counts.get("completion_tokens"))
        choices = chunk.get("choices")
        for choice in cast("list[Any]", choices) if isinstance(choices, list) else []:
            if isinstance(choice, dict):
                self._note_choice(cast("dict[str, Any]", choice))

    def _note_choice(self, choice: dict[str, Any]) -> None:
        reason, delta = choice.get("finish_reason"), choice.get("delta")
        if isinstance(reason, str) and reason:
            self.finish_reason = reason
        if isinstance(delta, dict) and any(cast("dict[str, Any]", delta).get(key) for key in _TOKEN_KEYS):
            self.token_seen = True


_TOKEN_KEYS = ("content", "reasoning", "reasoning_content", "refusal", "tool_calls")


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


class WatchedTransport(httpx2.AsyncBaseTransport):
    """Sends requests without retries, redirects or the environment's proxies.

    ``before_post`` is awaited before the first byte of a POST may leave.
    Raises :class:`CallFailed` in place of transport errors.
    """

    def __init__(self, endpoint: Endpoint, answer: Answer, before_post: Callable[[], Awaitable[None]]) -> None:
        self._endpoint = endpoint
        self._answer = answer
        self._before_post = before_post
        self._inner = httpx2.AsyncHTTPTransport(
            trust_env=False,
            retries=0,
            proxy=endpoint.proxy or None,
            limits=httpx2.Limits(max_keepalive_connections=0),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self._clean(request)
        posting = request.method == "POST"
        if posting:
            await self._before_post()
        try:
            response = await self._first_response(request, self._endpoint.limits if posting else None)
        except _NEVER_SENT as error:
            raise CallFailed(Failure(code="server_unreachable", message=str(error), called=False)) from error
        except httpx2.TransportError as error:
            raise CallFailed(Failure(code="outcome_unknown", message=str(error), called=posting)) from error
        if not posting:
            return response
        if response.status_code == 200:
            if response.headers.get("content-encoding", "identity") != "identity":
                raise CallFailed(Failure(code="stream_error", message="compressed stream", called=True))
            whole = response.headers.get("content-type", "").startswith("application/json")
            watch = self._unstreamed if whole else self._stream
            response.stream = _Bytes(watch(_body(response.stream)), response.stream)
        else:
            response.stream = _Bytes(_short(_body(response.stream)), response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()

    def _clean(self, request: httpx2.Request) -> None:
        for name in [name for name in request.headers if name.lower().startswith("x-stainless-")]:
            del request.headers[name]
        if not self._endpoint.api_key and "authorization" in request.headers:
            del request.headers["authorization"]
        request.headers["accept-encoding"] = "identity"

    async def _first_response(self, request: httpx2.Request, limits: Limits | None) -> httpx2.Response:
        try:
            async with asyncio.timeout(limits.first_token if limits else None):
                return await self._inner.handle_async_request(request)
        except TimeoutError as error:
            raise CallFailed(Failure(code="outcome_unknown", message="no answer in time", called=True)) from error

    async def _stream(self, source: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        """The answer's events, re-encoded; ends at ``[DONE]``, at the end, or a moment after the finish mark."""
        reader = EventReader()
        finish_by: float | None = None
        while True:
            data = await self._next(source, finish_by)
            for event in reader.feed(data or b"", final=data is None):
                if event.data.startswith("[DONE]"):
                    yield event.encode()
                    return
                if self._examine(event):
                    yield event.encode()
                if self._answer.finish_reason and finish_by is None:
                    finish_by = asyncio.get_running_loop().time() + self._endpoint.limits.after_finish
            if data is None:
                return

    async def _unstreamed(self, source: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        """A server that does not stream: its one JSON document as the only event of a stream."""
        body = b""
        while (data := await self._next(source, None)) is not None and len(body) < _MOST_WHOLE_BYTES:
            body += data
        event = ServerEvent("", body.decode(errors="replace"))
        if self._examine(event):
            yield ServerEvent("", json.dumps(_as_chunk(json.loads(event.data)))).encode()

    async def _next(self, source: AsyncGenerator[bytes, None], finish_by: float | None) -> bytes | None:
        """The next bytes of any kind (comments too end the silence), None at the end of the answer."""
        limits = self._endpoint.limits
        seconds = limits.silence if self._answer.token_seen else limits.first_token
        now = asyncio.get_running_loop().time()
        deadline = finish_by if finish_by is not None else now + seconds if seconds is not None else None
        try:
            async with asyncio.timeout_at(deadline):
                return await anext(source, None)
        except TimeoutError as error:
            if finish_by is not None:
                return None
            raise CallFailed(Failure(code="timed_out", message="silence", called=True)) from error
        except httpx2.TransportError as error:
            if finish_by is not None:
                return None
            code = "stream_error" if self._answer.token_seen else "outcome_unknown"
            raise CallFailed(Failure(code=code, message=str(error), called=True)) from error

    def _examine(self, event: ServerEvent) -> bool:
        """Note what an event says; False if it is not for the library. Raises for an error event."""
        try:
            chunk: object = json.loads(event.data)
        except ValueError as error:
            if event.name == "error":
                raise CallFailed(Failure(code="stream_error", message=event.data[:2000], called=True)) from error
            raise CallFailed(Failure(code="stream_error", message="not JSON", called=True)) from error
        if not isinstance(chunk, dict):
            return False
        members = cast("dict[str, Any]", chunk)
        if event.name == "error" or members.get("error"):
            raise CallFailed(Failure(code="stream_error", message=server_words(members), called=True))
        self._answer.note(members)
        return True


def _as_chunk(document: dict[str, Any]) -> dict[str, Any]:
    """A chat completion in the shape of a chunk: each choice's message is its only delta."""
    choices = document.get("choices")
    for choice in cast("list[Any]", choices) if isinstance(choices, list) else []:
        if isinstance(choice, dict) and "message" in choice:
            choice["delta"] = cast("dict[str, Any]", choice).pop("message")
    return {**document, "object": "chat.completion.chunk"}


class _Bytes(httpx2.AsyncByteStream):
    """A body that can be iterated once; a second look (the SDK drains) finds it empty."""

    def __init__(self, source: AsyncGenerator[bytes, None], inner: object) -> None:
        self._source = source
        self._inner = cast("httpx2.AsyncByteStream", inner)

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        async for data in self._source:
            yield data

    async def aclose(self) -> None:
        await self._source.aclose()
        await self._inner.aclose()


async def _body(stream: object) -> AsyncGenerator[bytes, None]:
    async for data in cast("httpx2.AsyncByteStream", stream):
        yield data


async def _short(source: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """An error's body: bounded in size and time, whatever the server does with the connection."""
    size = 0
    deadline = asyncio.get_running_loop().time() + _ERROR_BODY_SECONDS
    while size < _MOST_ERROR_BYTES:
        try:
            async with asyncio.timeout_at(deadline):
                data = await anext(source, None)
        except (TimeoutError, httpx2.TransportError):
            return
        if data is None:
            return
        size += len(data)
        yield data
