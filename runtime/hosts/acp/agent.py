"""A live connection to an agent process, shared by the sessions of its hosts; a dead one is replaced."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, connect_to_agent
from acp.client.connection import ClientSideConnection
from acp.schema import ClientCapabilities, FileSystemCapabilities, Implementation, InitializeResponse

from runtime.base.tasks import TaskSupervisor
from runtime.hosts.acp.client import WindowClient
from runtime.hosts.acp.process import AgentProcess, Command
from runtime.hosts.faults import HostFault

_START_SECONDS = 60.0
_LAST_WORDS_SECONDS = 0.5
_WINDOW = Implementation(name="inkfast-window", version="1")
_NOTHING = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=False, write_text_file=False), terminal=False)


class Connection:
    """One process that has answered ``initialize``."""

    def __init__(
        self, process: AgentProcess, client: WindowClient, rpc: ClientSideConnection, hello: InitializeResponse
    ) -> None:
        self.process = process
        self.client = client
        self.rpc = rpc
        self.hello = hello
        self._calls: set[asyncio.Timeout] = set()
        self._gone = False

    @asynccontextmanager
    async def call(self) -> AsyncGenerator[None, None]:
        """A request without a time limit of its own. Raises ``ConnectionError`` once the process has ended.

        The library alone would wait for ever if it was still writing when the process ended.
        """
        if self._gone:
            raise ConnectionError("process ended")
        try:
            async with asyncio.timeout(None) as limit:
                self._calls.add(limit)
                try:
                    yield
                finally:
                    self._calls.discard(limit)
        except TimeoutError as error:
            raise ConnectionError("process ended") from error

    async def watch(self) -> None:
        """End the calls of a process that has ended, after what it wrote has been read."""
        await self.process.exited()
        await asyncio.sleep(_LAST_WORDS_SECONDS)
        self._gone = True
        for limit in self._calls:
            limit.reschedule(asyncio.get_running_loop().time())

    @property
    def alive(self) -> bool:
        return self.process.exit_code is None and not self.process.reader.at_eof()

    @property
    def name(self) -> str:
        info = self.hello.agent_info
        return (info.title or info.name) if info is not None else ""

    @property
    def can_close_sessions(self) -> bool:
        capabilities = self.hello.agent_capabilities
        sessions = capabilities.session_capabilities if capabilities is not None else None
        return sessions is not None and sessions.close is not None

    async def new_session(self, folder: str, **meta: Any) -> str:
        """The agent's id for a new session. Raises :class:`HostFault` with ``called=False``."""
        try:
            async with asyncio.timeout(_START_SECONDS):
                response = await self.rpc.new_session(cwd=folder, mcp_servers=[], **meta)
        except (RequestError, ConnectionError, TimeoutError) as error:
            raise HostFault("host_unavailable", str(error), called=False) from error
        return response.session_id

    async def end(self) -> None:
        """End the process first, so that nothing waits for an agent that no longer reads."""
        await self.process.end()
        await self.rpc.close()


class Agent:
    """Owns the process of one command: starts it at first use and again after a crash."""

    def __init__(self, command: Command, tasks: TaskSupervisor) -> None:
        self._command = command
        self._tasks = tasks
        self._connection: Connection | None = None
        self._lock = asyncio.Lock()
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process id, None while nothing runs."""
        return self._connection.process.pid if self._connection is not None and self._connection.alive else None

    async def connect(self) -> Connection:
        """The live connection. Raises :class:`HostFault` ``host_unavailable`` with ``called=False``."""
        async with self._lock:
            if self._closed:
                raise HostFault("host_unavailable", "closed", called=False)
            if self._connection is not None and self._connection.alive:
                return self._connection
            await self._drop()
            self._connection = await self._start()
            return self._connection

    async def discard(self, connection: Connection) -> None:
        """End a connection that no longer obeys; the next :meth:`connect` starts another."""
        async with self._lock:
            if self._connection is connection:
                await self._drop()

    async def close(self) -> None:
        """End the process within a bounded time; later calls to :meth:`connect` fail."""
        async with self._lock:
            self._closed = True
            await self._drop()

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.end()

    async def _start(self) -> Connection:
        process = await AgentProcess.start(self._command, self._tasks)
        client = WindowClient()
        rpc = connect_to_agent(client, process.writer, process.reader)  # pyright: ignore[reportArgumentType]
        try:
            async with asyncio.timeout(_START_SECONDS):
                hello = await rpc.initialize(PROTOCOL_VERSION, _NOTHING, _WINDOW)
        except BaseException as error:
            await process.end()
            await rpc.close()
            if isinstance(error, RequestError | ConnectionError | TimeoutError):
                raise HostFault("host_unavailable", str(error), called=False, exit_code=process.exit_code) from error
            raise
        connection = Connection(process, client, rpc, hello)
        self._tasks.spawn("watch", connection.watch())
        return connection
