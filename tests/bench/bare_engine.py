"""The yardstick of B17, a program: the engine's own start and its first token, asked directly over HTTP.

Prints one JSON line: ``first`` (start of the engine included) and ``second`` (engine warm), in seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from runtime.base.clock import SystemClock
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.engine.process import EngineEndpoint
from runtime.hosts.engine.supervisor import EngineSupervisor
from runtime.hosts.engine.weights import SMALL_MODEL, LocalModels
from runtime.hosts.port import HostProgress


def _raise(error: BaseException) -> None:
    raise error


def _unheard(_progress: HostProgress) -> None:
    return


async def first_token(endpoint: EngineEndpoint, text: str) -> None:
    """Ask as any client would and wait for the first piece of content."""
    url = urlsplit(endpoint.base_url)
    question = [{"role": "user", "content": text}]
    body = json.dumps({"model": endpoint.model, "stream": True, "max_tokens": 16, "messages": question}).encode()
    head = (
        f"POST {url.path}/chat/completions HTTP/1.1\r\nHost: {url.netloc}\r\nConnection: close\r\n"
        f"Authorization: Bearer {endpoint.api_key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    try:
        writer.write(head.encode() + body)
        while line := await reader.readline():
            if line.startswith(b"data: {") and _content(line):
                return
        raise RuntimeError("the engine answered without content")
    finally:
        writer.close()


def _content(line: bytes) -> str:
    choices = json.loads(line.removeprefix(b"data: "))["choices"]
    return (choices[0]["delta"].get("content") or "") if choices else ""


async def main(models: Path, texts: list[str]) -> None:
    tasks = TaskSupervisor("bench", _raise)
    engine = EngineSupervisor(SystemClock(), tasks, 0, _raise)
    model = LocalModels(models).find(SMALL_MODEL)
    took: list[float] = []
    try:
        for text in texts:
            begun = time.perf_counter()
            await first_token(await engine.ensure(model, _unheard), text)
            took.append(time.perf_counter() - begun)
    finally:
        await engine.close()
        await tasks.close()
    print(json.dumps({"first": took[0], "second": took[1]}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
