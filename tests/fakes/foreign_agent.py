"""An agent of someone else, as a program: keeps its own history and asks for everything it may not have.

``python -m tests.fakes.foreign_agent``; the prompt's text chooses what happens.
"""

from __future__ import annotations

import asyncio
from typing import Any

from acp import (
    PROTOCOL_VERSION,
    RequestError,
    run_agent,
    update_agent_message_text,
    update_agent_thought_text,
)
from acp.interfaces import Client
from acp.schema import (
    Implementation,
    InitializeResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ToolCallUpdate,
    Usage,
)


class ForeignAgent:
    """One session; remembers how often it was asked."""

    def __init__(self) -> None:
        self._client: Client | None = None
        self._asked = 0
        self._cancelled = asyncio.Event()

    def on_connect(self, conn: Client) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION, agent_info=Implementation(name="foreign", title="Foreign", version="3")
        )

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        return NewSessionResponse(session_id=f"foreign:{cwd}")

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        assert self._client is not None
        self._asked += 1
        wish = prompt[0].text
        if wish == "sign in":
            raise RequestError.auth_required()
        if wish == "wait":
            await self._client.session_update(session_id=session_id, update=update_agent_message_text("waiting"))
            await self._cancelled.wait()
            return PromptResponse(stop_reason="end_turn")  # the race: a cancelled turn that ends as if nothing was
        answer = await self._refused(session_id, wish) if wish != "count" else str(self._asked)
        await self._client.session_update(session_id=session_id, update=update_agent_thought_text("raw thought"))
        await self._client.session_update(session_id=session_id, update=update_agent_message_text(answer))
        usage = Usage(input_tokens=5, output_tokens=2, total_tokens=7)
        return PromptResponse(stop_reason="end_turn", usage=usage)

    async def cancel(self, session_id: str, **_: Any) -> None:
        self._cancelled.set()

    async def _refused(self, session_id: str, wish: str) -> str:
        client = self._client
        assert client is not None
        if wish == "permission":
            option = PermissionOption(option_id="yes", name="Yes", kind="allow_once")
            call = ToolCallUpdate(tool_call_id="1", title="rm")
            reply = await client.request_permission(session_id=session_id, tool_call=call, options=[option])
            return reply.outcome.outcome
        try:
            if wish == "read":
                await client.read_text_file(session_id=session_id, path="/etc/hostname")
            elif wish == "write":
                await client.write_text_file(session_id=session_id, path="/tmp/x", content="x")
            else:
                await client.create_terminal(session_id=session_id, command="ls")
        except RequestError as error:
            return str(error.code)
        return "allowed"


if __name__ == "__main__":
    asyncio.run(run_agent(ForeignAgent()))  # type: ignore[arg-type]
