"""Writes what a host says into one turn: stored first, published after.

Kinds of text that alternate become items of their own; the open one grows by chunks until the other kind, or the
end of the turn, settles it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import apsw

from runtime.base import failpoints
from runtime.base.handover import JsonObject
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.port import (
    EndReason,
    HostEvent,
    HostProgress,
    ObservedChanged,
    PromptEnded,
    ReasoningSummaryDelta,
    TextDelta,
    UsageReported,
)
from runtime.sessions import itemlog, turnlog
from runtime.sessions.events import ItemAppended, ItemExtended, ItemSettled, TurnChanged
from runtime.sessions.itemlog import NewItem
from runtime.sessions.model import ItemKind, ItemState, Turn, TurnState
from runtime.sessions.rows import dump
from runtime.sessions.store import Publish, SessionStore, announce
from runtime.sessions.turnlog import Ending

STARTING = failpoints.step("turns.starting", "the host has not been called before this is durable")
RUNNING = failpoints.step("turns.running", "the first event is stored with the state or not at all")
BATCH = failpoints.step("stream.batch", "every batch that was published is there")
STOP = failpoints.step("turns.interrupting", "the wish to stop is durable before the host is told")
END = failpoints.step("turns.end", "one terminal record, with the text folded, or a live turn with its chunks")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the next text goes. ``item_id`` is empty while no item is open."""

    item_id: str = ""
    kind: ItemKind = "assistant"
    length: int = 0
    answered: bool = False
    parent: str = ""


class TurnJournal:
    """One turn's writer. ``turn`` is the record as last committed."""

    def __init__(self, store: SessionStore, turn: Turn, tasks: TaskSupervisor) -> None:
        self._store = store
        self._tasks = tasks
        self._writing: asyncio.Task[None] | None = None
        self.turn = turn
        self._place = _Place()
        self._unwritten: list[HostEvent] = []
        self.reason: EndReason | None = None

    @property
    def answered(self) -> bool:
        """Whether an event arrived that proves the provider's answer, stored or waiting to be."""
        return self._place.answered or any(_answers(event) for event in self._unwritten)

    async def start(self, owner: str, detail: JsonObject, left_out: int, user_item: str) -> bool:
        """Durably ``starting``, with a notice if history was left out. False: the turn may not be asked any more."""
        now = self._store.clock.now_ms()
        turn = self.turn

        def body(connection: apsw.Connection, publish: Publish) -> Turn | None:
            started = turnlog.starting(connection, turn.id, owner, detail, now)
            if started is None:
                return None
            if left_out:
                data = {"code": "older_not_sent", "count": left_out}
                notice = NewItem(turn.session_id, turn.id, "notice", data=data, parent_item=user_item)
                publish(ItemAppended(itemlog.append(connection, notice, now)))
            publish(TurnChanged(started))
            return started

        started = await self._store.commit(STARTING, body)
        self.turn = started or self.turn
        self._place = replace(self._place, parent=user_item)
        return started is not None

    async def write(self, events: list[HostEvent]) -> None:
        """Store a batch, then publish it. What could not be stored is kept for :meth:`end`.

        A task of its own: a turn that is cancelled meanwhile must know whether the batch is in before it ends.
        """
        self._unwritten.extend(events)
        self._writing = self._tasks.spawn("write batch", self._write())
        await asyncio.shield(self._writing)

    async def _write(self) -> None:
        pending = list(self._unwritten)
        step = BATCH if self._place.answered or not any(_answers(event) for event in pending) else RUNNING

        def body(connection: apsw.Connection, publish: Publish) -> tuple[_Place, Turn | None]:
            return self._apply(connection, publish, pending)

        self._place, turn = await self._store.commit(step, body)
        self.turn = turn or self.turn
        self._taken(pending)

    async def intend_stop(self) -> bool:
        """Durably ``interrupting``; False if the turn has ended."""

        def body(connection: apsw.Connection, publish: Publish) -> Turn | None:
            turn = turnlog.interrupting(connection, self.turn.id)
            if turn is not None:
                publish(TurnChanged(turn))
            return turn

        turn = await self._store.commit(STOP, body)
        self.turn = turn or self.turn
        return turn is not None

    async def end(self, ending: Ending) -> None:
        """Store what is left, settle the items, write the terminal record: one transaction, at most once."""
        if self._writing is not None and not self._writing.done():
            await asyncio.wait([self._writing])
        pending = list(self._unwritten)
        now = self._store.clock.now_ms()
        state: ItemState = "final" if ending.state is TurnState.COMPLETED else "interrupted"
        turn = self.turn

        def body(connection: apsw.Connection, publish: Publish) -> Turn | None:
            stored = turnlog.read(connection, turn.id)
            if stored is None or stored.state.is_terminal:
                return stored
            if pending:
                self._apply(connection, publish, pending)
            for item in itemlog.settle_turn(connection, turn.id, state):
                publish(ItemSettled(item))
            ended = turnlog.end(connection, turn.id, ending, now)
            _touch(connection, turn.session_id, now)
            if ended is not None:
                publish(TurnChanged(ended))
            announce(connection, turn.session_id, publish)
            return ended

        self.turn = await self._store.commit(END, body) or self.turn
        self._taken(pending)

    def _taken(self, written: list[HostEvent]) -> None:
        del self._unwritten[: len(written)]
        for event in written:
            if isinstance(event, PromptEnded):
                self.reason = event.reason

    def _apply(
        self, connection: apsw.Connection, publish: Publish, events: list[HostEvent]
    ) -> tuple[_Place, Turn | None]:
        """Where the next text goes, and the turn if its record changed."""
        place, turn, changed = self._place, self.turn, None
        now = self._store.clock.now_ms()
        for event in events:
            if not place.answered and _answers(event):
                place = replace(place, answered=True)
                changed = _published(turnlog.answered(connection, turn.id, now), publish) or changed
            if isinstance(event, TextDelta | ReasoningSummaryDelta):
                place = _grow(connection, publish, event, (place, turn, now))
            else:
                changed = _note(connection, publish, event, turn) or changed
        return place, changed


def _answers(event: HostEvent) -> bool:
    """Progress and a change of name may come before the provider was reached; everything else proves an answer."""
    return not isinstance(event, HostProgress | ObservedChanged)


def _published(turn: Turn | None, publish: Publish) -> Turn | None:
    if turn is not None:
        publish(TurnChanged(turn))
    return turn


def _grow(
    connection: apsw.Connection,
    publish: Publish,
    event: TextDelta | ReasoningSummaryDelta,
    at: tuple[_Place, Turn, int],
) -> _Place:
    place, turn, now = at
    kind: ItemKind = "assistant" if isinstance(event, TextDelta) else "reasoning_summary"
    text = itemlog.storable(event.text)
    if not text:
        return place
    if place.item_id and place.kind == kind:
        itemlog.extend(connection, place.item_id, place.length, text)
        publish(ItemExtended(turn.session_id, place.item_id, place.length, text))
        return replace(place, length=place.length + len(text))
    if place.item_id:
        settled = itemlog.settle(connection, place.item_id, "final")
        if settled is not None:
            publish(ItemSettled(settled))
    new = NewItem(turn.session_id, turn.id, kind, text, state="streaming", parent_item=place.parent)
    item = itemlog.append(connection, new, now)
    publish(ItemAppended(item))
    return replace(place, item_id=item.id, kind=kind, length=len(text))


def _note(connection: apsw.Connection, publish: Publish, event: HostEvent, turn: Turn) -> Turn | None:
    if isinstance(event, ObservedChanged):
        observed: JsonObject = {"model": event.observed.model, "host": event.observed.host}
        connection.execute(
            "UPDATE sessions SET observed_json = ? WHERE id = ?", (dump(observed), turn.session_id)
        ).fetchall()
        announce(connection, turn.session_id, publish)
        return None
    members: JsonObject
    if isinstance(event, HostProgress):
        members = {"progress": event.code}
    elif isinstance(event, UsageReported):
        members = {"usage": {"input": event.input_tokens, "output": event.output_tokens}}
    else:
        return None
    return _published(turnlog.note(connection, turn.id, members), publish)


def _touch(connection: apsw.Connection, session_id: str, now: int) -> None:
    connection.execute(
        "UPDATE sessions SET last_activity = max(last_activity, ?) WHERE id = ?", (now, session_id)
    ).fetchall()
