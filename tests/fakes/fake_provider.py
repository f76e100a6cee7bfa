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
from pathlib import Path
from types import TracebackType

from tests.fakes.provider_behaviours import BEHAVIOURS, DEFAULT_TOKENS
from tests.fakes.provider_http import Recorded, Reply, read_request


class FakeProvider:
    """``tokens`` are streamed ``pause`` seconds apart; ``hold`` is what "for a while" means, in GETs or seconds."""

    def __init__(
        self,
        behaviour: str = "ok",
        *,
        tokens: tuple[str, ...] = DEFAULT_TOKENS,
        pause: float = 0.0,
        hold: float = 2,
        log: Path | None = None,
    ) -> None:
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

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
            request = await read_request(reader)
            if request is not None:
                await self._answer(request, Reply(reader, writer))
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


async def _serve(options: argparse.Namespace) -> None:
    provider = FakeProvider(
        options.behaviour,
        tokens=("word ",) * options.tokens if options.tokens else DEFAULT_TOKENS,
        pause=options.pause,
        hold=options.hold,
        log=options.log,
    )
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
