"""The HTTP side of the fake provider: requests as they arrived, replies as servers write them."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from dataclasses import dataclass
from typing import Any


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

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def status(self, code: int, body: Any, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [
            f"HTTP/1.1 {code} X",
            "Content-Type: application/json",
            f"Content-Length: {len(data)}",
            "Connection: close",
            *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
        ]
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

    async def hold(self, release: asyncio.Event, gone: asyncio.Event) -> None:
        """Keep the connection open until ``release`` is set or the client closes it, which sets ``gone``."""
        waits = {asyncio.ensure_future(release.wait()), asyncio.ensure_future(self.reader.read(1))}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        if not release.is_set():
            gone.set()

    def reset(self) -> None:
        """Close with RST instead of FIN."""
        link = self.writer.get_extra_info("socket")
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


def chunk(content: str | None = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    """One chunk of a streamed chat completion."""
    if content is not None:
        delta["content"] = content
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake-model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


async def read_request(reader: asyncio.StreamReader) -> Recorded | None:
    """The next request of a connection, None if it ended."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode().split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Recorded(method, target, headers, body)
