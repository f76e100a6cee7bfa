"""Hosts and sessions over an agent: the port of spec/sessions.md section 5 in terms of the protocol."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from acp import RequestError, text_block
from acp.schema import AgentThoughtChunk

from runtime.base.errors import EnvironmentFault, Fault
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.acp.agent import Agent, Connection
from runtime.hosts.acp.client import Update, text_of
from runtime.hosts.acp.dialect import Dialect
from runtime.hosts.acp.notices import Calling, sendable
from runtime.hosts.faults import HostFault
from runtime.hosts.port import (
    Binding,
    Capabilities,
    HostEvent,
    HostProgress,
    HostSettings,
    Observed,
    ObservedChanged,
    Prompt,
    PromptEnded,
    ReasoningSummaryDelta,
    TextDelta,
)

_CLOSE_SECONDS = 2.0


class AcpHost:
    """Opens sessions on one agent. Several hosts may share the agent; closing one closes the agent."""

    def __init__(self, agent: Agent, dialect: Dialect, tasks: TaskSupervisor, folder: str) -> None:
        self._agent = agent
        self._dialect = dialect
        self._tasks = tasks
        self._folder = folder

    async def open(self, binding: Binding, settings: HostSettings) -> AcpSession:
        """A new session of the agent, in the workspace or else in the host's own folder.

        Raises :class:`RejectedFault` ``setting_unsupported`` or :class:`HostFault` ``host_unavailable``.
        """
        self._dialect.check(settings)
        prepared, connected = await asyncio.gather(
            self._dialect.prepare(settings), self._agent.connect(), return_exceptions=True
        )
        for outcome in (prepared, connected):
            if isinstance(outcome, BaseException):
                raise outcome
        window = prepared if isinstance(prepared, int) else None
        folder = binding.workspace_root or self._folder
        session = AcpSession(self._agent, self._dialect, self._tasks, Opening(folder, settings, window))
        await session.attach()
        return session

    async def close(self) -> None:
        await self._agent.close()


@dataclass(frozen=True, slots=True)
class Opening:
    """What a session was opened with."""

    folder: str
    settings: HostSettings
    context_tokens: int | None


class AcpSession:
    """One conversation with an agent: a prompt at a time, as events."""

    def __init__(self, agent: Agent, dialect: Dialect, tasks: TaskSupervisor, opening: Opening) -> None:
        self._agent = agent
        self._dialect = dialect
        self._tasks = tasks
        self._opening = opening
        self._connection: Connection | None = None
        self._id = ""
        self._observed = Observed()
        self._running: _Run | None = None

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(keeps_history=self._dialect.keeps_history, context_tokens=self._opening.context_tokens)

    @property
    def observed(self) -> Observed:
        return self._observed

    @property
    def host_session_id(self) -> str:
        return self._id

    async def attach(self) -> Connection:
        """Make sure that a live agent knows this session. An agent without history may be asked anew after a crash."""
        connection = self._connection
        if connection is not None and connection.alive:
            return connection
        if connection is not None and self._dialect.keeps_history:
            raise HostFault("host_crashed", called=False, exit_code=connection.process.exit_code)
        connection = await self._agent.connect()
        self._id = await connection.new_session(self._opening.folder)
        self._connection = connection
        self._observed = Observed(self._observed.model, connection.name)
        return connection

    async def prompt(self, prompt: Prompt) -> AsyncGenerator[HostEvent, None]:
        """Ask once; see the port. A consumer that stops early stops the prompt."""
        if self._running is not None:
            raise HostFault("host_unavailable", "busy", called=False)
        run = self._running = _Run()
        task = run.task = self._tasks.spawn("prompt", self._ask(run, prompt))
        task.add_done_callback(run.settle)  # not inside the task: one that is cancelled unstarted never runs
        try:
            while not isinstance(event := await run.events.get(), PromptEnded):
                if isinstance(event, Fault):
                    raise event
                if isinstance(event, ObservedChanged):
                    self._observed = event.observed
                yield event
            yield event
        finally:
            if not task.done():
                await self.interrupt()
                await self._settle(run)
            self._running = None

    async def interrupt(self) -> None:
        """Before the agent has the prompt: drop it. Afterwards: ask the agent to cancel."""
        run, connection = self._running, self._connection
        if run is None or run.task is None or run.interrupted:
            return
        run.interrupted = True
        if not run.sent:
            run.task.cancel()
        elif connection is not None and connection.alive:
            with contextlib.suppress(ConnectionError, TimeoutError):  # close() ends an agent that does not listen
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await connection.rpc.cancel(session_id=self._id)

    async def close(self) -> None:
        """Stop a running prompt; an agent that does not obey within two seconds is ended."""
        run = self._running
        if run is not None:
            await self.interrupt()
            await self._settle(run)
        connection, self._connection = self._connection, None
        if connection is None:
            return
        connection.client.detach(self._id)
        if connection.alive and connection.can_close_sessions:
            try:
                async with asyncio.timeout(_CLOSE_SECONDS):
                    await connection.rpc.close_session(session_id=self._id)
            except (RequestError, ConnectionError, TimeoutError):
                await self._agent.discard(connection)

    async def _settle(self, run: _Run) -> None:
        if run.task is None:
            return
        _, late = await asyncio.wait({run.task}, timeout=_CLOSE_SECONDS)
        if late and self._connection is not None:
            await self._agent.discard(self._connection)
            run.task.cancel()
            await asyncio.wait(late)

    async def _ask(self, run: _Run, prompt: Prompt) -> list[HostEvent]:
        async with self._dialect.asking(self._opening.settings, prompt, run.put) as meta:
            connection = await self.attach()
            connection.client.attach(self._id, lambda update: self._take(run, update))
            run.sent = True
            run.called = not self._dialect.tells_calling
            try:
                async with connection.call():
                    response = await connection.rpc.prompt(
                        session_id=self._id, prompt=[text_block(sendable(prompt.text))], **meta
                    )
            except RequestError as error:
                if run.interrupted:
                    return [PromptEnded("cancelled")]
                raise self._dialect.failed(error, run.called) from error
            except ConnectionError as error:
                await self._agent.discard(connection)
                raise HostFault("host_crashed", called=run.called, exit_code=connection.process.exit_code) from error
            finally:
                connection.client.detach(self._id)
        *events, end = self._dialect.ended(response)
        return [*events, PromptEnded("cancelled") if run.interrupted else end]

    def _take(self, run: _Run, update: Update) -> None:
        if isinstance(update, Calling):
            run.called = True
        elif isinstance(update, HostProgress):
            run.put(update)
        elif isinstance(update, AgentThoughtChunk):
            if self._dialect.is_summary(update):
                run.put(ReasoningSummaryDelta(text_of(update)))
        elif text := text_of(update):
            run.put(TextDelta(text))


class _Run:
    """One prompt on its way. ``called``: may the provider have been reached?"""

    def __init__(self) -> None:
        self.events: asyncio.Queue[HostEvent | Fault] = asyncio.Queue()
        self.task: asyncio.Task[list[HostEvent]] | None = None
        self.sent = False
        self.called = False
        self.interrupted = False

    def put(self, event: HostEvent) -> None:
        self.events.put_nowait(event)

    def settle(self, task: asyncio.Task[list[HostEvent]]) -> None:
        """The last entries of the queue, however the task ended: always a PromptEnded or a fault."""
        if task.cancelled():
            crashed = HostFault("host_crashed", "closed", called=self.called)
            self.events.put_nowait(PromptEnded("cancelled") if self.interrupted else crashed)
            return
        error = task.exception()
        if isinstance(error, EnvironmentFault) and not isinstance(error, HostFault):
            self.events.put_nowait(HostFault(error.code, called=self.called))  # a key or an endpoint was not to be had
        elif isinstance(error, Fault):
            self.events.put_nowait(error)
        elif error is not None:  # a bug, which the supervisor reports; who listens must not wait for ever
            self.events.put_nowait(HostFault("host_crashed", type(error).__name__, called=self.called))
        else:
            for event in task.result():
                self.put(event)
