"""How the fake provider misbehaves, one function a defect that was met in the field."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from tests.fakes.provider_http import Recorded, Reply, chunk

DEFAULT_TOKENS = ("Ink ", "holds ", "fast.")


class Provider(Protocol):
    """What a behaviour reads of its provider."""

    tokens: tuple[str, ...]
    pause: float
    hold: float
    release: asyncio.Event
    gone: asyncio.Event


Behaviour: TypeAlias = Callable[[Provider, Recorded, Reply], Awaitable[None]]


async def _stream_tokens(provider: Provider, reply: Reply, end: str = "\n") -> None:
    for token in provider.tokens:
        if provider.pause:
            await asyncio.sleep(provider.pause)
        await reply.text(token, end)


async def _ok(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.done()


async def _echo(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await reply.text(json.dumps(request.json["messages"], ensure_ascii=False))
    await reply.done()


async def _hold_after_body(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.hold(provider.release, provider.gone)


async def _hold_mid_stream(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.hold(provider.release, provider.gone)
    await reply.done()


async def _reset_after_body(provider: Provider, request: Recorded, reply: Reply) -> None:
    reply.reset()


async def _reset_after_headers(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    reply.reset()


async def _reset_mid_stream(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100000\r\n\r\n")
    await _stream_tokens(provider, reply)


async def _status_500_after(provider: Provider, request: Recorded, reply: Reply) -> None:
    await asyncio.sleep(provider.pause)
    await reply.status(500, {"error": {"message": "Conversation roles must alternate user/assistant"}})


async def _rate_limited(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.status(429, {"error": {"message": "Slow down"}}, Retry_After="1", X_Should_Retry="true")


async def _unauthorized(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.status(401, {"error": {"message": "Incorrect API key provided"}})


async def _not_found(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.status(404, {"error": 'model "fake-model" not found, try pulling it first'})


async def _redirect(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.status(307, {}, Location=request.target)


async def _error_object(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.event({"error": {"message": "quota exceeded"}})
    await reply.hold(provider.release, provider.gone)


async def _error_event(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.send(b'event: error\ndata: {"message": "quota exceeded"}\n\n')
    await reply.hold(provider.release, provider.gone)


async def _error_in_chunk(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.event({**chunk(), "choices": [], "error": {"message": "quota exceeded", "code": 429}})
    await reply.hold(provider.release, provider.gone)


async def _no_finish(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.send(b"data: [DONE]\n\n")


async def _no_finish_eof(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)


async def _crlf(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply, end="\r\n")
    await reply.done(end="\r\n")


async def _cr(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply, end="\r")
    await reply.done(end="\r")


async def _comments(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    for _ in range(int(provider.hold)):
        await asyncio.sleep(provider.pause)
        await reply.send(b": ping\n\n:keepalive\n\nid: 4\n\nretry: 10\n\n")
    for token in provider.tokens:
        await reply.text(token)
        for comment in (b":\n", b": x-cost=0.1\n\n", b": ping\n\n"):
            await asyncio.sleep(provider.pause)
            await reply.send(comment)
    await reply.done()


async def _byte_by_byte(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    for token in provider.tokens:
        for byte in f"data: {json.dumps(chunk(content=token), ensure_ascii=False)}\r\n\r\n".encode():
            await reply.send(bytes([byte]))
            await asyncio.sleep(0)
    await reply.done()


async def _invalid_utf8(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    head, tail = json.dumps(chunk(content="@@")).encode().split(b"@@")
    await reply.send(b"data: " + head + b"\xe4\xbf\x20\x41" + tail + b"\n\n")
    await reply.done()


async def _keep_open_after_finish(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.event(chunk(finish="stop"))
    await reply.hold(provider.release, provider.gone)


async def _empty_choices(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await reply.event({"choices": []})
    await reply.event({"choices": [{"delta": {}}]})
    await reply.event({"choices": [{"delta": {"role": "assistant", "content": None}}]})
    await reply.event({"choices": [{"delta": {"content": ""}}]})
    await _stream_tokens(provider, reply)
    await reply.event({"choices": [{"delta": {"content": None}, "finish_reason": "stop"}]})
    await reply.event({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}})
    await reply.send(b"data: [DONE]\n\n")


async def _no_final_newline(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    *early, last = provider.tokens
    for token in early:
        await reply.text(token)
    await reply.send(b"data: " + json.dumps(chunk(content=last, finish="stop"), ensure_ascii=False).encode())


async def _slow_first_token(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await reply.hold(provider.release, provider.gone)
    await _stream_tokens(provider, reply)
    await reply.done()


async def _thinking(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await reply.event(chunk(reasoning_content="secret thought"))
    await _stream_tokens(provider, reply)
    await reply.done()


async def _unstreamed(provider: Provider, request: Recorded, reply: Reply) -> None:
    message = {"role": "assistant", "content": "".join(provider.tokens)}
    await reply.status(200, {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "fake-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    })  # fmt: skip


async def _unstreamed_error(provider: Provider, request: Recorded, reply: Reply) -> None:
    await reply.status(200, {"error": {"message": "quota exceeded"}})


BEHAVIOURS: dict[str, Behaviour] = {
    "ok": _ok,
    "models_503_for": _ok,
    "echo": _echo,
    "hold_after_body": _hold_after_body,
    "hold_mid_stream": _hold_mid_stream,
    "reset_after_body": _reset_after_body,
    "reset_after_headers": _reset_after_headers,
    "reset_mid_stream": _reset_mid_stream,
    "status_500_after": _status_500_after,
    "429_retry_after": _rate_limited,
    "401": _unauthorized,
    "404": _not_found,
    "redirect": _redirect,
    "error_object": _error_object,
    "error_event": _error_event,
    "error_in_chunk": _error_in_chunk,
    "no_finish": _no_finish,
    "no_finish_eof": _no_finish_eof,
    "crlf": _crlf,
    "cr": _cr,
    "comments": _comments,
    "byte_by_byte": _byte_by_byte,
    "invalid_utf8": _invalid_utf8,
    "keep_open_after_finish": _keep_open_after_finish,
    "empty_choices": _empty_choices,
    "no_final_newline": _no_final_newline,
    "slow_first_token": _slow_first_token,
    "thinking": _thinking,
    "unstreamed": _unstreamed,
    "unstreamed_error": _unstreamed_error,
}
