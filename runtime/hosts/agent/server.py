"""The agent's side of the protocol: sessions without history, one prompt at a time each."""

from __future__ import annotations

import asyncio
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, update_agent_message_text
from acp.interfaces import Client
from acp.schema import (
    AgentCapabilities,
    CloseSessionResponse,
    Implementation,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    TextContentBlock,
)
from pydantic import ValidationError

from runtime.base.ids import new_id
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.acp.notices import CALLING, PROGRESS, Calling, Progress
from runtime.hosts.agent.answering import Listener, answer
from runtime.hosts.agent.transport import CallFailed
from runtime.hosts.agent.wire import META, Ended, Failure, Question

_STOPS = {
    "completed": "end_turn",
    "no_finish_mark": "end_turn",
    "length": "max_tokens",
    "refused": "refusal",
    "cancelled": "cancelled",
}
_FAILED = -32001


class OwnAgent:
    """Answers over OpenAI-compatible servers. Everything it needs comes with each prompt's ``_meta``."""

    def __init__(self, version: str, tasks: TaskSupervisor) -> None:
        self._version = version
        self._tasks = tasks
        self._client: Client | None = None
        self._sessions: dict[str, asyncio.Task[Ended] | None] = {}

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_capabilities=AgentCapabilities(
                session_capabilities=SessionCapabilities(close=SessionCloseCapabilities())
            ),
            agent_info=Implementation(name="inkfast", version=self._version),
        )

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        session_id = new_id("own")
        self._sessions[session_id] = None
        return NewSessionResponse(session_id=session_id)

    async def prompt(self, session_id: str, prompt: list[Any], **meta: Any) -> PromptResponse:
        if session_id not in self._sessions:
            raise RequestError.invalid_params({"session": "unknown"})
        if self._sessions[session_id] is not None:
            raise RequestError.invalid_request({"session": "busy"})
        try:
            question = Question.model_validate(meta.get(META))
        except ValidationError as error:
            places = [".".join(map(str, fault["loc"])) for fault in error.errors(include_input=False)]
            raise RequestError.invalid_params({"meta": places}) from None
        text = "\n\n".join(block.text for block in prompt if isinstance(block, TextContentBlock))
        task = self._tasks.spawn("answer", answer(question, text, self._listener(session_id)))
        self._sessions[session_id] = task
        try:
            ended = await self._settled(task)
        finally:
            if session_id in self._sessions:
                self._sessions[session_id] = None
        return PromptResponse(stop_reason=_STOPS[ended.reason], field_meta={META: ended.model_dump()})  # pyright: ignore[reportArgumentType]

    async def cancel(self, session_id: str, **_: Any) -> None:
        task = self._sessions.get(session_id)
        if task is not None:
            task.cancel()

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        await self.cancel(session_id)
        self._sessions.pop(session_id, None)
        return CloseSessionResponse()

    async def _settled(self, task: asyncio.Task[Ended]) -> Ended:
        """The end of an answer; a cancelled one ended on request, a failed one is the protocol's error."""
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
        if task.cancelled():
            return Ended(reason="cancelled")
        error = task.exception()
        if error is None:
            return task.result()
        failure = (
            error.failure
            if isinstance(error, CallFailed)
            else Failure(code="host_crashed", message=type(error).__name__, called=True)
        )
        raise RequestError(_FAILED, failure.code, {META: failure.model_dump()})

    def _listener(self, session_id: str) -> Listener:
        client = self._client
        if client is None:
            raise RequestError.internal_error()

        async def text(more: str) -> None:
            await client.session_update(session_id=session_id, update=update_agent_message_text(more))

        async def progress(code: str) -> None:
            await client.ext_notification(PROGRESS, Progress(session_id=session_id, code=code).model_dump())

        async def calling() -> None:
            await client.ext_notification(CALLING, Calling(session_id=session_id).model_dump())

        return Listener(text, progress, calling)
