"""The window's side of the protocol: updates go to the session they belong to, everything else is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

from acp import RequestError
from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    DeniedOutcome,
    RequestPermissionResponse,
    TextContentBlock,
)

from runtime.hosts.acp.notices import CALLING, PROGRESS, Calling, Progress
from runtime.hosts.port import HostProgress

Update: TypeAlias = AgentMessageChunk | AgentThoughtChunk | HostProgress | Calling
Sink: TypeAlias = Callable[[Update], None]


def text_of(chunk: AgentMessageChunk | AgentThoughtChunk) -> str:
    """The text of a chunk; other content has none."""
    return chunk.content.text if isinstance(chunk.content, TextContentBlock) else ""


class WindowClient:
    """One per connection. Files, terminals and permissions are not offered yet: no request acts unasked."""

    def __init__(self) -> None:
        self._sinks: dict[str, Sink] = {}

    def attach(self, session_id: str, sink: Sink) -> None:
        self._sinks[session_id] = sink

    def detach(self, session_id: str) -> None:
        self._sinks.pop(session_id, None)

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        sink = self._sinks.get(session_id)
        if sink is not None and isinstance(update, AgentMessageChunk | AgentThoughtChunk):
            sink(update)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        if method == CALLING:
            calling = Calling.model_validate(params)
            self._deliver(calling.session_id, calling)
        elif method == PROGRESS:
            progress = Progress.model_validate(params)
            self._deliver(progress.session_id, HostProgress(progress.code))

    def _deliver(self, session_id: str, update: Update) -> None:
        sink = self._sinks.get(session_id)
        if sink is not None:
            sink(update)

    async def request_permission(self, **_: Any) -> RequestPermissionResponse:
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        raise RequestError.method_not_found(method)

    async def read_text_file(self, **_: Any) -> NoReturn:
        raise RequestError.method_not_found("fs/read_text_file")

    async def write_text_file(self, **_: Any) -> NoReturn:
        raise RequestError.method_not_found("fs/write_text_file")

    async def create_terminal(self, **_: Any) -> NoReturn:
        raise RequestError.method_not_found("terminal/create")

    async def terminal_output(self, **_: Any) -> NoReturn:
        raise RequestError.method_not_found("terminal/output")

    async def release_terminal(self, **_: Any) -> NoReturn:
        raise RequestError.method_not_found("terminal/release")

    async def wait_for_terminal_exit(self, **_: Any) -> NoReturn:
        raise RequestError.method_not_found("terminal/wait_for_exit")

    async def kill_terminal(self, **_: Any) -> NoReturn:
        raise RequestError.method_not_found("terminal/kill")
