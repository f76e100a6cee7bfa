"""A provider on loopback that speaks real HTTP: counts what is asked and misbehaves on request.

In process::

    async with FakeProvider("ok") as provider: ... provider.base_url, provider.posts, provider.requests

As a program (prints its port on the first line, appends a line per POST to ``--log``)::

    python -m tests.fakes.fake_provider --port 0 --behaviour ok --log posts.jsonl
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

DEFAULT_TOKENS = ("Ink ", "holds ", "fast.")


@dataclass
class Recorded:
    """One request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)


@dataclass
class Reply:
    """The writing side of one connection."""

    writer: asyncio.StreamWriter
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def status(self, code: int, body: Any, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {code} X", "Content-Type: application/json", f"Content-Length: {len(data)}",
                 "Connection: close", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
        await self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + data)

    async def open_stream(self) -> None:
        await self.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")

    async def event(self, chunk: Any, end: str = "\n") -> None:
        await self.send(f"data: {json.dumps(chunk, ensure_ascii=False)}{end}{end}".encode())

    async def text(self, more: str, end: str = "\n") -> None:
        await self.event(chunk(content=more), end)

    async def done(self, end: str = "\n") -> None:
        await self.event(chunk(finish="stop"), end)
        await self.event({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}, end)
        await self.send(f"data: [DONE]{end}{end}".encode())

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        link = self.writer.get_extra_info("socket")
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


def chunk(content: str | None = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """One chunk of a streamed chat completion."""
    if content is not None:
        delta["content"] = content
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake-model",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


Behaviour: TypeAlias = Callable[["FakeProvider", Recorded, Reply], Awaitable[None]]


class FakeProvider:
    """``tokens`` are streamed ``pause`` seconds apart; ``hold`` is what "for a while" means, in GETs or seconds."""

    def __init__(self, behaviour: str = "ok", *, tokens: tuple[str, ...] = DEFAULT_TOKENS, pause: float = 0.0,
                 hold: float = 2, log: Path | None = None) -> None:
        self.behaviour = behaviour
        self.tokens = tokens
        self.pause = pause
        self.hold = hold
        self.log = log
        self.requests: list[Recorded] = []
        self.arrived = asyncio.Event()
        self.release = asyncio.Event()
        self.port = 0
        self.gone = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def posts(self) -> int:
        return sum(request.method == "POST" for request in self.requests)

    @property
    def gets(self) -> int:
        return sum(request.method == "GET" for request in self.requests)

    @property
    def last(self) -> Recorded:
        return [request for request in self.requests if request.method == "POST"][-1]

    async def __aenter__(self) -> FakeProvider:
        await self.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self.stop()

    async def start(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server is None:
            return
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            request = await _read_request(reader)
            if request is not None:
                await self._answer(request, Reply(writer))
        except (ConnectionError, asyncio.CancelledError):
            self.gone.set()
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _answer(self, request: Recorded, reply: Reply) -> None:
        self.requests.append(request)
        if request.method == "GET":
            await self._models(reply)
            return
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"target": request.target, "body": request.json}) + "\n")
        self.arrived.set()
        await BEHAVIOURS[self.behaviour](self, request, reply)

    async def _models(self, reply: Reply) -> None:
        if self.behaviour == "models_503_for" and self.gets <= self.hold:
            await reply.status(503, {"error": {"message": "Loading model", "code": 503}})
        elif self.behaviour == "401":
            await reply.status(401, {"error": {"message": "Incorrect API key provided"}})
        else:
            await reply.status(200, {"object": "list", "data": [{"id": "fake-model"}, {"id": "other-model"}]})


async def _read_request(reader: asyncio.StreamReader) -> Recorded | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode().split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Recorded(method, target, headers, body)


async def _stream_tokens(provider: FakeProvider, reply: Reply, end: str = "\n") -> None:
    for token in provider.tokens:
        if provider.pause:
            await asyncio.sleep(provider.pause)
        await reply.text(token, end)


async def _ok(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.done()


async def _echo(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await reply.text(json.dumps(request.json["messages"], ensure_ascii=False))
    await reply.done()


async def _hold_after_body(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await provider.release.wait()


async def _hold_mid_stream(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await provider.release.wait()
    await reply.done()


async def _reset_after_body(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    reply.reset()


async def _reset_after_headers(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    reply.reset()


async def _reset_mid_stream(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100000\r\n\r\n")
    await _stream_tokens(provider, reply)


async def _status_500_after(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await asyncio.sleep(provider.pause)
    await reply.status(500, {"error": {"message": "Conversation roles must alternate user/assistant"}})


async def _rate_limited(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.status(429, {"error": {"message": "Slow down"}}, Retry_After="1", X_Should_Retry="true")


async def _unauthorized(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.status(401, {"error": {"message": "Incorrect API key provided"}})


async def _not_found(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.status(404, {"error": "model \"fake-model\" not found, try pulling it first"})


async def _redirect(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.status(307, {}, Location=request.target)


async def _error_object(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.event({"error": {"message": "quota exceeded"}})
    await provider.release.wait()


async def _error_event(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.send(b'event: error\ndata: {"message": "quota exceeded"}\n\n')
    await provider.release.wait()


async def _error_in_chunk(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.event({**chunk(), "choices": [], "error": {"message": "quota exceeded", "code": 429}})
    await provider.release.wait()


async def _no_finish(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.send(b"data: [DONE]\n\n")


async def _no_finish_eof(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)


async def _crlf(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply, end="\r\n")
    await reply.done(end="\r\n")


async def _cr(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply, end="\r")
    await reply.done(end="\r")


async def _comments(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
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


async def _byte_by_byte(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    for token in provider.tokens:
        for byte in f"data: {json.dumps(chunk(content=token), ensure_ascii=False)}\r\n\r\n".encode():
            await reply.send(bytes([byte]))
            await asyncio.sleep(0)
    await reply.done()


async def _invalid_utf8(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    head, tail = json.dumps(chunk(content="@@")).encode().split(b"@@")
    await reply.send(b"data: " + head + b"\xe4\xbf\x20\x41" + tail + b"\n\n")
    await reply.done()


async def _keep_open_after_finish(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await _stream_tokens(provider, reply)
    await reply.event(chunk(finish="stop"))
    await provider.release.wait()


async def _empty_choices(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await reply.event({"choices": []})
    await reply.event({"choices": [{"delta": {}}]})
    await reply.event({"choices": [{"delta": {"role": "assistant", "content": None}}]})
    await reply.event({"choices": [{"delta": {"content": ""}}]})
    await _stream_tokens(provider, reply)
    await reply.event({"choices": [{"delta": {"content": None}, "finish_reason": "stop"}]})
    await reply.event({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}})
    await reply.send(b"data: [DONE]\n\n")


async def _no_final_newline(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    *early, last = provider.tokens
    for token in early:
        await reply.text(token)
    await reply.send(b"data: " + json.dumps(chunk(content=last, finish="stop"), ensure_ascii=False).encode())


async def _slow_first_token(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await provider.release.wait()
    await _stream_tokens(provider, reply)
    await reply.done()


async def _thinking(provider: FakeProvider, request: Recorded, reply: Reply) -> None:
    await reply.open_stream()
    await reply.event(chunk(reasoning_content="secret thought"))
    await _stream_tokens(provider, reply)
    await reply.done()


BEHAVIOURS: dict[str, Behaviour] = {
    "ok": _ok, "models_503_for": _ok, "echo": _echo, "hold_after_body": _hold_after_body,
    "hold_mid_stream": _hold_mid_stream, "reset_after_body": _reset_after_body,
    "reset_after_headers": _reset_after_headers, "reset_mid_stream": _reset_mid_stream,
    "status_500_after": _status_500_after, "429_retry_after": _rate_limited, "401": _unauthorized,
    "404": _not_found, "redirect": _redirect, "error_object": _error_object, "error_event": _error_event,
    "error_in_chunk": _error_in_chunk, "no_finish": _no_finish, "no_finish_eof": _no_finish_eof, "crlf": _crlf,
    "cr": _cr, "comments": _comments, "byte_by_byte": _byte_by_byte, "invalid_utf8": _invalid_utf8,
    "keep_open_after_finish": _keep_open_after_finish, "empty_choices": _empty_choices,
    "no_final_newline": _no_final_newline, "slow_first_token": _slow_first_token, "thinking": _thinking,
}


async def _serve(options: argparse.Namespace) -> None:
    provider = FakeProvider(options.behaviour, tokens=("word ",) * options.tokens if options.tokens else DEFAULT_TOKENS,
                            pause=options.pause, hold=options.hold, log=options.log)
    await provider.start(options.port)
    print(provider.port, flush=True)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    await provider.stop()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--behaviour", choices=sorted(BEHAVIOURS), default="ok")
    parser.add_argument("--tokens", type=int, default=0)
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--hold", type=float, default=2)
    parser.add_argument("--log", type=Path)
    asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
