"""The engine program by itself: what it says on standard output and when it ends."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import pytest

from runtime.hosts.engine.weights import LocalModels

pytestmark = pytest.mark.engine

ENDLESS = (
    b"POST /v1/chat/completions HTTP/1.0\r\nAuthorization: Bearer k\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%s"
)


async def _child(model: Path) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "runtime.hosts.engine", "--model", str(model), "--alias", "m"),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
    )


async def test_the_end_of_input_ends_it_in_the_middle_of_an_answer(models: LocalModels) -> None:
    child = await _child(models.folder / "endless.gguf")
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(b"k\n")
    ready = json.loads(await child.stdout.readline())
    assert ready["event"] == "ready"
    reader, writer = await asyncio.open_connection("127.0.0.1", ready["port"])
    body = json.dumps({"stream": True, "messages": [{"role": "user", "content": "hello"}]}).encode()
    writer.write(ENDLESS % (len(body), body))
    await reader.readuntil(b'"content":"')
    child.stdin.close()
    assert await asyncio.wait_for(child.wait(), 3) == 0
    rest = await reader.read(-1)
    assert b"[DONE]" not in rest
    writer.close()
    await child.communicate()


@pytest.mark.parametrize(
    ("model", "key", "code"),
    [("gone", b"k\n", "model_missing"), ("short", b"", "engine_failed"), ("short", b"\n", "engine_failed")],
)
async def test_what_it_cannot_do_is_one_line_with_a_code(
    models: LocalModels, model: str, key: bytes, code: str
) -> None:
    child = await _child(models.folder / f"{model}.gguf")
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(key)
    if not key:
        child.stdin.close()
    said = json.loads(await child.stdout.readline())
    assert (said["event"], said["code"], await child.wait()) == ("failed", code, 3)
    _, log = await child.communicate()
    assert b"Traceback" not in log
