"""One engine process: started, found healthy, listened to, ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from runtime.base.tasks import TaskSupervisor
from runtime.hosts.engine.tail import LogTail
from runtime.hosts.engine.weights import LocalModel
from runtime.hosts.faults import HostFault

_GRACE_SECONDS = 1.0
_LINE_LIMIT = 64 * 1024
_REPLY_LIMIT = 1024 * 1024
_CODES = ("model_missing", "model_damaged", "engine_failed")
# What a native program needs to run. Everything else, above all keys for other services, stays behind.
_ENVIRONMENT = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "TMP",
    "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CUDA_VISIBLE_DEVICES",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class EngineEndpoint:
    """Where the running engine answers. ``base_url`` ends in ``/v1``; ``context_tokens`` is what it reported."""

    base_url: str
    api_key: str = field(repr=False)
    model: str
    context_tokens: int | None


@dataclass(frozen=True, slots=True)
class Launch:
    """How engine processes are started; ``limit_seconds`` bounds the time until one is healthy."""

    command: Sequence[str] = (sys.executable, "-P", "-m", "runtime.hosts.engine")
    context_tokens: int = 8192
    limit_seconds: float = 300.0


class EngineProcess:
    """Owns a child from its start to its end. Made by :meth:`start`, which returns only a healthy one."""

    def __init__(self, process: asyncio.subprocess.Process, model: LocalModel, key: str) -> None:
        self._process = process
        self.model = model
        self.endpoint = EngineEndpoint("", key, model.name, None)
        self.log = LogTail({key: "[key]", str(model.path): model.name, os.path.expanduser("~"): "~"})
        self._reading: asyncio.Task[None] | None = None

    @classmethod
    async def start(cls, model: LocalModel, launch: Launch, tasks: TaskSupervisor) -> EngineProcess:
        """Start a child and wait until it answers ``GET /v1/models`` with the key.

        Raises :class:`HostFault` ``engine_failed``, ``model_missing`` or ``model_damaged``, always with
        ``called=False`` and with the end of the log as message. When cancelled, the child is ended first.
        """
        key = secrets.token_urlsafe(32)
        child = cls(await _spawn(model, launch), model, key)
        child._reading = tasks.spawn("log", child._read_log())
        try:
            async with asyncio.timeout(launch.limit_seconds):
                child.endpoint = await child._become_ready(key)
        except TimeoutError as error:
            await child.stop(gently=False)
            raise child._fault("engine_failed", "not healthy in time") from error
        except (OSError, ValueError) as error:
            await child.stop(gently=False)
            raise child._fault("engine_failed", str(error)) from error
        except BaseException:
            await child.stop(gently=False)
            raise
        return child

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ended(self) -> int:
        """Wait for the end; the exit status, negative for a signal."""
        status = await self._process.wait()
        if self._reading is not None:
            await asyncio.wait({self._reading})
        return status

    async def stop(self, *, gently: bool = True) -> None:
        """End of input, then terminate, then kill; each gets a second. Harmless when repeated."""
        if gently and await self._ends_after(self._close_input):
            return
        if await self._ends_after(self._process.terminate):
            return
        await self._ends_after(self._process.kill)

    async def _ends_after(self, act: Callable[[], None]) -> bool:
        with contextlib.suppress(ProcessLookupError):  # it may have ended and not been reported yet
            act()
        try:
            await asyncio.wait_for(self.ended(), _GRACE_SECONDS)
        except TimeoutError:
            return False
        return True

    def _close_input(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def _become_ready(self, key: str) -> EngineEndpoint:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(key.encode() + b"\n")
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line:
            status = await self.ended()
            raise self._fault("engine_failed", f"ended with status {status}")
        said = _object(line)
        if said.get("event") != "ready":
            await self.ended()
            code = str(said.get("code", ""))
            raise self._fault(code if code in _CODES else "engine_failed", str(said.get("reason", "")))
        port = int(said["port"])
        context = _context_tokens(await _get_models(port, key), self.model.name)
        return EngineEndpoint(f"http://127.0.0.1:{port}/v1", key, self.model.name, context)

    async def _read_log(self) -> None:
        assert self._process.stderr is not None
        while True:
            try:
                line = await self._process.stderr.readline()
            except ValueError:  # a line beyond the limit; the reader has dropped it
                continue
            if not line:
                return
            self.log.add(line)

    def _fault(self, code: str, reason: str) -> HostFault:
        self.log.add(reason.encode())
        return HostFault(code, self.log.tail(), called=False, model=self.model.name)


async def _spawn(model: LocalModel, launch: Launch) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            *launch.command,
            "--model", str(model.path), "--alias", model.name,
            "--context", str(launch.context_tokens), "--parent", str(os.getpid()),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            limit=_LINE_LIMIT, env=_environment(os.environ), cwd=_folder_of(model.path),
            start_new_session=True,  # a Ctrl+C in the terminal is for the parent alone
        )  # fmt: skip
    except OSError as error:
        raise HostFault("engine_failed", str(error), called=False, model=model.name) from error


def _folder_of(path: Path) -> str:
    return str(path.parent)


def _environment(of_parent: Mapping[str, str]) -> dict[str, str]:
    return {name: of_parent[name] for name in _ENVIRONMENT if name in of_parent}


async def _get_models(port: int, key: str) -> dict[str, Any]:
    """``GET /v1/models``. An HTTP library would cost the window's process more than these lines."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        request = f"GET /v1/models HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n\r\n"
        writer.write(request.encode())
        await writer.drain()
        reply = await reader.read(_REPLY_LIMIT)
        while reply and not reader.at_eof() and len(reply) < _REPLY_LIMIT:
            reply += await reader.read(_REPLY_LIMIT)
    finally:
        writer.close()
    head, _, body = reply.partition(b"\r\n\r\n")
    if head.split(b" ", 2)[1:2] != [b"200"]:
        raise ValueError("the engine is up but refuses its key")
    return _object(body)


def _context_tokens(models: Mapping[str, Any], name: str) -> int | None:
    for entry in models.get("data", ()):
        if entry.get("id") == name:
            tokens = entry.get("meta", {}).get("n_ctx")
            return tokens if isinstance(tokens, int) else None
    raise ValueError("the engine serves another model")


def _object(data: bytes) -> dict[str, Any]:
    value: Any = json.loads(data)
    if not isinstance(value, dict):
        raise ValueError("the engine did not answer with an object")
    return cast(dict[str, Any], value)
