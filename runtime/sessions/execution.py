"""One turn from its receipt to its terminal record. The host is called at most once (spec/sessions.md section 2)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Any, cast

import apsw

from runtime.base.errors import EnvironmentFault, Fault, RejectedFault
from runtime.base.handover import JsonObject
from runtime.hosts.faults import HostFault
from runtime.hosts.port import HostSession, Prompt
from runtime.sessions import context
from runtime.sessions.live import LiveHosts, host_settings, observed_object
from runtime.sessions.model import Session, Turn, TurnState
from runtime.sessions.store import SessionStore
from runtime.sessions.stream import HostStream
from runtime.sessions.turnjournal import TurnJournal
from runtime.sessions.turnlog import Ending
from runtime.sessions.waiting import Patience

log = logging.getLogger(__name__)
STOP_SECONDS = 5.0
_RETRY_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)
# Answers of the provider itself: nothing was generated. Anything else before the first event proves nothing.
_DEFINITE = frozenset(
    {"auth_failed", "not_found", "rate_limited", "server_error", "stream_error", "model_missing", "model_damaged"}
)
STOPPED = Ending(TurnState.CANCELLED, "stopped")


@dataclass(frozen=True, slots=True)
class Workshop:
    """What every turn of this process uses."""

    store: SessionStore
    hosts: LiveHosts
    owner_id: str
    patience: Patience


@dataclass(frozen=True, slots=True)
class _Question:
    user_item: str
    text: str
    history: context.Context


class TurnRun:
    """Runs one admitted turn; :meth:`stop` may be called at any moment of it."""

    def __init__(self, workshop: Workshop, session: Session, turn: Turn) -> None:
        self._shop = workshop
        self._session = session
        self._journal = TurnJournal(workshop.store, turn, workshop.patience.tasks)
        self._host: HostSession | None = None
        self._stream: HostStream | None = None
        self._opening: asyncio.Task[tuple[HostSession, bool]] | None = None
        self._stopping = False
        self._called = False
        self._broken = False
        self._done = asyncio.Event()

    @property
    def turn(self) -> Turn:
        """The turn as last committed."""
        return self._journal.turn

    async def run(self) -> None:
        """Never raises a fault: every failure becomes the turn's terminal record. Bugs are recorded and raised."""
        ending, attempts = Ending(TurnState.FAILED, "internal_error"), 1_000_000
        try:
            ending = await self._asked()
        except asyncio.CancelledError:
            ending, attempts = Ending(TurnState.INTERRUPTED, "app_closed"), 1
            raise
        finally:
            try:
                await self._conclude(ending, attempts)
            finally:
                self._done.set()
        if self._broken:
            await self._shop.hosts.drop(self._session.id)

    async def stop(self) -> None:
        """The wish first, then the host's interrupt, then, after five seconds, the end of the host session."""
        if self._stopping:
            await self._done.wait()
            return
        self._stopping = True
        try:
            await self._journal.intend_stop()
        except EnvironmentFault as fault:
            log.warning("the wish to stop could not be stored", extra={"code": fault.code})
        if self._opening is not None:
            self._opening.cancel()
        if self._host is not None and self._stream is not None and not self._done.is_set():
            self._shop.patience.tasks.spawn("interrupt", self._host.interrupt())
        if not await self._shop.patience.for_event(self._done, STOP_SECONDS):
            await self._cut_off()
            await self._done.wait()

    async def _asked(self) -> Ending:
        """The whole conversation with the host, as the ending it leads to."""
        try:
            if self._stopping or not await self._ask():
                return STOPPED
        except HostFault as fault:
            self._broken = True
            return self._after_host_fault(fault)
        except Fault as fault:
            await self._shop.hosts.drop(self._session.id)  # nobody can store what it would still say
            return self._after_our_fault(fault)
        return self._after_stream()

    async def _ask(self) -> bool:
        """False if the turn was stopped before the host was called."""
        host = await self._open()
        if host is None:
            return False
        question = await self._shop.store.database.read(lambda connection: self._question(connection, host))
        if question is None:
            raise EnvironmentFault("content_missing")
        sent = len(question.history.messages)
        detail: JsonObject = {"context": {"sent": sent, "left_out": question.history.left_out}}
        started = await self._journal.start(self._shop.owner_id, detail, question.history.left_out, question.user_item)
        if not started or self._stopping:
            return False
        self._host, self._called = host, True
        self._stream = HostStream(host.prompt(Prompt(question.text, question.history.messages)), self._shop.patience)
        try:
            while (batch := await self._stream.next_batch()) is not None:
                await self._journal.write(batch)
        finally:
            await self._stream.close()
        return True

    async def _open(self) -> HostSession | None:
        """The live host session, or None if the turn was stopped meanwhile."""
        opening = self._shop.patience.tasks.spawn("open host", self._shop.hosts.ensure(self._session))
        self._opening = opening
        try:
            await asyncio.wait([opening])
        finally:
            self._opening = None
            if not opening.done():
                opening.cancel()
        if self._stopping or opening.cancelled():
            return None
        host, fresh = opening.result()
        if fresh:
            await self._shop.store.observe(self._session.id, observed_object(host), host.host_session_id)
        return host

    def _question(self, connection: apsw.Connection, host: HostSession) -> _Question | None:
        row = connection.execute(
            "SELECT id, seq, text, parent_item FROM items WHERE session_id = ? AND turn_id = ? AND kind = 'user'"
            " ORDER BY seq DESC LIMIT 1",
            (self._session.id, self.turn.id),
        ).fetchone()
        if row is None:
            return None
        item_id, seq, text, parent = cast("tuple[str, int, str, str]", row)
        if host.capabilities.keeps_history:
            return _Question(item_id, text, context.Context((), 0))
        asked = context.Asked(self._session.id, seq, parent)
        instructions = host_settings(self._session.requested).instructions
        budget = context.budget_of(host.capabilities.context_tokens, text, instructions)
        return _Question(item_id, text, context.build(connection, asked, budget))

    def _after_stream(self) -> Ending:
        reason = self._journal.reason
        if self._stopping:
            return Ending(TurnState.CANCELLED, "stopped", finish_reason=reason or "")
        if reason == "cancelled":
            return Ending(TurnState.INTERRUPTED, "host_cancelled", finish_reason=reason)
        return Ending(TurnState.COMPLETED, finish_reason=reason or "no_finish_mark")

    def _after_host_fault(self, fault: HostFault) -> Ending:
        cause: dict[str, Any] = {"cause": fault.code}
        if self._stopping:
            return Ending(TurnState.CANCELLED, "stopped", detail=cause)
        words = str(fault) if str(fault) != fault.code else ""
        if self._journal.answered:
            state = TurnState.TIMED_OUT if fault.code == "timed_out" else TurnState.FAILED
            return Ending(state, fault.code, words)
        if fault.called and fault.code not in _DEFINITE:
            return Ending(TurnState.UNKNOWN, "outcome_unknown", words, detail=cause)
        return Ending(TurnState.FAILED, fault.code, words)

    def _after_our_fault(self, fault: Fault) -> Ending:
        """The host could not be opened, or the store failed in the middle."""
        if self._stopping:
            return STOPPED
        refused = isinstance(fault, RejectedFault)  # which proves that nothing was asked
        if self._called and not self._journal.answered and not refused:
            return Ending(TurnState.UNKNOWN, "outcome_unknown", detail={"cause": fault.code})
        called = self._called and not refused
        return Ending(TurnState.INTERRUPTED if called else TurnState.FAILED, fault.code)

    async def _conclude(self, ending: Ending, attempts: int) -> None:
        """Write the terminal record, again and again while the disk refuses.

        A program that closes tries once; the next start settles what could not be stored.
        """
        for attempt in range(attempts):
            try:
                await self._journal.end(ending)
                return
            except EnvironmentFault as fault:
                log.warning("a turn's end could not be stored", extra={"code": fault.code, "attempt": attempt})
                if attempt + 1 < attempts:
                    await self._shop.patience.clock.sleep(_RETRY_SECONDS[min(attempt, len(_RETRY_SECONDS) - 1)])

    async def _cut_off(self) -> None:
        await self._shop.hosts.drop(self._session.id)
        if self._stream is not None:
            await self._stream.close()
