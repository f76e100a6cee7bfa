"""The loop under the window: children and sockets without threads."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.loop import run
from runtime.base.clock import SystemClock
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.engine.supervisor import EngineSupervisor
from runtime.hosts.engine.weights import LocalModels
from tests.fakes.gguf import write_model

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs pidfd")


@LINUX
def test_children_are_watched_without_threads(qapp: QApplication) -> None:
    async def main() -> None:
        before = threading.active_count()
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read()[::-1]); sys.exit(7)"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert threading.active_count() == before
        output, _ = await asyncio.wait_for(child.communicate(b"x" * 500_000 + b"y"), 20)
        assert (output[:2], len(output), child.returncode) == (b"yx", 500_001, 7)
        child = await asyncio.create_subprocess_exec("sleep", "100")
        child.kill()
        assert await asyncio.wait_for(child.wait(), 10) == -signal.SIGKILL

    run(qapp, main)


@pytest.mark.engine
def test_the_local_engine_is_started_shared_and_ended(qapp: QApplication, tmp_path: Path) -> None:
    write_model(tmp_path / "short.gguf")
    bugs: list[BaseException] = []

    async def main() -> None:
        threads = {thread.name for thread in threading.enumerate()}
        tasks = TaskSupervisor("engine", bugs.append)
        engine = EngineSupervisor(SystemClock(), tasks, 600, bugs.append)
        model = LocalModels(tmp_path).find("short")
        endpoints = await asyncio.gather(*(engine.ensure(model, lambda _progress: None) for _ in range(3)))
        assert len(set(endpoints)) == 1
        assert {thread.name for thread in threading.enumerate()} == threads or sys.platform != "linux"
        await asyncio.wait_for(engine.close(), 5)
        await tasks.close()

    run(qapp, main)
    assert not bugs


def test_socket_streams_work_in_both_directions(qapp: QApplication) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(echo, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        sent = os.urandom(2_000_000)
        writing = asyncio.ensure_future(_send(writer, sent))
        assert await asyncio.wait_for(reader.readexactly(len(sent)), 20) == sent
        await writing
        writer.close()
        await writer.wait_closed()
        server.close()
        await server.wait_closed()

    async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(data)
        await writer.drain()

    run(qapp, main)
