"""Follows one conversation through its events, and prints the answer as it is stored."""

from __future__ import annotations

import asyncio

from app.commands.output import write
from runtime.base.errors import Fault
from runtime.sessions.events import ItemAppended, ItemExtended, ItemSettled, SessionEvent, TurnChanged
from runtime.sessions.fold import ConversationFold
from runtime.sessions.model import Turn
from runtime.sessions.store import SessionStore


class Watcher:
    """Subscribes when it is made, so that nothing is missed between the receipt and :meth:`end_of`."""

    def __init__(self, sessions: SessionStore, *, streams: bool) -> None:
        self._sessions = sessions
        self._streams = streams
        self._fold = ConversationFold("")
        self._early: list[SessionEvent] = []
        self._printed = 0
        self._failure: Fault | None = None
        self._ended: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self._unsubscribe = sessions.subscribe(self._heard)

    @property
    def answer(self) -> str:
        """Everything the assistant has said so far."""
        return "".join(item.text for item in self._fold.items if item.kind == "assistant")

    async def end_of(self, session_id: str) -> Turn:
        """The conversation's turn once it has ended."""
        self._fold = ConversationFold(session_id)
        self._fold.merge(await self._sessions.items(session_id), await self._sessions.turns(session_id))
        for event in self._early:
            self._fold.apply(event)
        self._early.clear()
        self._show()
        return await self._ended

    def finish(self) -> None:
        """End the printed answer with a line break. Raises ``output_failed`` if some of it could not be printed."""
        if self._failure is not None:
            raise self._failure
        if self._printed and not self.answer.endswith("\n"):
            write("\n")

    def close(self) -> None:
        self._unsubscribe()

    def _heard(self, event: SessionEvent) -> None:
        if not isinstance(event, ItemAppended | ItemExtended | ItemSettled | TurnChanged):
            return
        if not self._fold.session_id:
            self._early.append(event)
            return
        self._fold.apply(event)
        self._show()

    def _show(self) -> None:
        answer = self.answer
        if self._streams and len(answer) > self._printed:
            self._print(answer[self._printed :])
            self._printed = len(answer)
        ended = next((turn for turn in self._fold.turns.values() if turn.state.is_terminal), None)
        if ended is not None and not self._ended.done():
            self._ended.set_result(ended)

    def _print(self, text: str) -> None:
        """An output that fails ends the printing; the answer is stored all the same."""
        try:
            write(text)
        except Fault as fault:
            self._failure = fault
            self._streams = False
