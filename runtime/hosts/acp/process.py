"""One agent process over stdio: started with a small environment, ended within a bounded time."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from acp import default_environment

from runtime.base.tasks import TaskSupervisor
from runtime.hosts.faults import HostFault

_MOST_LINE_BYTES = 50 * 1024 * 1024
_RING_LINES = 200
_RING_COLUMNS = 400


@dataclass(frozen=True, slots=True)
class Command:
    """How an agent is started. ``environment`` is added to a handful of inherited variables; keys do not belong there.

    ``patience`` are the seconds that each way of ending the process is given: end of input, SIGTERM, SIGKILL.
    """

    arguments: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: str = ""
    patience: float = 2.0


class AgentProcess:
    """A running child. Its standard error is kept as a short ring of lines for diagnosis, never shown as text."""

    def __init__(self, command: Command, process: asyncio.subprocess.Process, tasks: TaskSupervisor) -> None:
        self._command = command
        self._process = process
        self._ring: deque[str] = deque(maxlen=_RING_LINES)
        self._reading = tasks.spawn("stderr", self._read_errors())

    @staticmethod
    async def start(command: Command, tasks: TaskSupervisor) -> AgentProcess:
        """Raises :class:`HostFault` ``host_unavailable`` (``called=False``) if it cannot be started."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command.arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**default_environment(), **command.environment},
                cwd=command.folder or None,
                limit=_MOST_LINE_BYTES,
                start_new_session=os.name != "nt",
            )
        except OSError as error:
            raise HostFault("host_unavailable", str(error), called=False, errno=error.errno) from error
        return AgentProcess(command, process, tasks)

    @property
    def reader(self) -> asyncio.StreamReader:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def writer(self) -> asyncio.StreamWriter:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative for a signal."""
        return self._process.returncode

    @property
    def errors(self) -> list[str]:
        """The last lines of standard error, bounded in number and length."""
        return list(self._ring)

    async def exited(self) -> None:
        """Returns when the process has ended, whoever ended it."""
        await self._process.wait()

    async def end(self) -> None:
        """End of input, then SIGTERM, then SIGKILL, each after the command's patience."""
        with contextlib.suppress(ConnectionError):
            self.writer.close()
        for stop in (self._process.terminate, self._process.kill):
            if await self._ended():
                break
            with contextlib.suppress(ProcessLookupError):
                stop()
        await self._process.wait()
        with contextlib.suppress(ConnectionError):
            await self.writer.wait_closed()
        await asyncio.wait({self._reading}, timeout=self._command.patience)

    async def _ended(self) -> bool:
        try:
            async with asyncio.timeout(self._command.patience):
                await self._process.wait()
        except TimeoutError:
            return False
        return True

    async def _read_errors(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        rest = ""
        while data := await stream.read(4096):
            *lines, rest = (rest + data.decode(errors="replace")).split("\n")
            self._ring.extend(line[:_RING_COLUMNS] for line in lines)
            rest = rest[:_RING_COLUMNS]
        if rest:
            self._ring.append(rest)
