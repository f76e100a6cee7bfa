"""Reads and small writes of conversations, and the place where their events are published.

Everything published is durable: events leave after the commit, in commit order (spec/sessions.md section 1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import apsw

from runtime.base import failpoints
from runtime.base.clock import Clock
from runtime.base.errors import RejectedFault
from runtime.base.failpoints import Step
from runtime.base.handover import JsonObject, Reservation, SessionPresence, Submission
from runtime.base.subscribers import Subscribers
from runtime.sessions.events import SessionChanged, SessionEvent
from runtime.sessions.model import Item, Session, Turn
from runtime.sessions.queries import read_items, read_question, read_session, recent_sessions, recent_turns
from runtime.sessions.rows import dump
from runtime.sessions.titles import clean_title
from runtime.storage.database import Database
from runtime.workspaces.registry import register

T = TypeVar("T")
CREATE = failpoints.step("sessions.create", "the reserved session exists once, unbound and unlisted, or not at all")
BIND = failpoints.step("sessions.bind", "the session is bound to its recorded workspace or still unbound")
OBSERVE = failpoints.step("sessions.observe", "what the host reported is stored whole or not at all")
TITLE = failpoints.step("titles.set", "the title is the old or the new one")
Publish = Callable[[SessionEvent], None]


class SessionStore:
    """Conversations of one state store. Writers of this package use :meth:`commit` to write and announce."""

    def __init__(self, database: Database, clock: Clock, on_bug: Callable[[BaseException], None]) -> None:
        self.database = database
        self.clock = clock
        self._subscribers: Subscribers[SessionEvent] = Subscribers(on_bug)

    def subscribe(self, callback: Callable[[SessionEvent], None]) -> Callable[[], None]:
        """Hear every event from now on; returns the way to stop."""
        return self._subscribers.subscribe(callback)

    async def commit(self, step: Step, body: Callable[[apsw.Connection, Publish], T]) -> T:
        """Run ``body`` as one transaction; what it hands to its second argument is published after the commit."""
        events: list[SessionEvent] = []

        def announce(_value: T) -> None:
            for event in events:
                self._subscribers.publish(event)

        return await self.database.run(step, lambda connection: body(connection, events.append), announce)

    async def create(self, reservation: Reservation) -> None:
        """Create exactly the reserved session and bind it to the recorded workspace; repeating it is harmless.

        It is listed only once its first submission is accepted. Raises :class:`RejectedFault` ``conflict`` if the
        id is taken by another topic or workspace, or ``session_archived`` / ``_trashed`` / ``_erased``.
        """
        now = self.clock.now_ms()
        await self.commit(CREATE, lambda connection, _: _create(connection, reservation, now))
        await self.commit(BIND, lambda connection, _: _bind(connection, reservation, now))

    async def presence(self, session_id: str) -> SessionPresence:
        """What the id stands for right now."""
        session = await self.get(session_id)
        return session.presence if session is not None else SessionPresence.ABSENT

    async def get(self, session_id: str) -> Session | None:
        return await self.database.read(lambda connection: read_session(connection, session_id))

    async def list(self, limit: int = 500) -> list[Session]:
        """Open sessions with an accepted submission, last active first. One index walk, no sort."""
        return await self.database.read(lambda connection: recent_sessions(connection, limit))

    async def items(self, session_id: str, *, before: int | None = None, limit: int = 200) -> list[Item]:
        """The newest ``limit`` items below seq ``before``, in order, with placeholders for vanished ones."""
        return await self.database.read(lambda connection: read_items(connection, session_id, before, limit))

    async def turns(self, session_id: str, *, limit: int = 200) -> list[Turn]:
        """The newest turns in order."""
        return await self.database.read(lambda connection: recent_turns(connection, session_id, limit))

    async def question_of(self, turn_id: str) -> Submission:
        """What was submitted with a turn, as stored. Raises ``turn_unknown`` or ``content_missing``."""
        return await self.database.read(lambda connection: read_question(connection, turn_id))

    async def rename(self, session_id: str, title: str) -> str:
        """Give a title by hand; nothing overwrites it later. Returns it as stored (cleaned, cut).

        Raises :class:`RejectedFault` ``empty_title`` or ``session_unknown``.
        """
        clean = clean_title(title)
        if not clean:
            raise RejectedFault("empty_title")

        def body(connection: apsw.Connection, publish: Publish) -> str:
            if read_session(connection, session_id) is None:
                raise RejectedFault("session_unknown")
            set_title(connection, session_id, clean, "manual")
            announce(connection, session_id, publish)
            return clean

        return await self.commit(TITLE, body)

    async def observe(self, session_id: str, observed: JsonObject, host_session_id: str) -> None:
        """Store what the live host session reported about itself, apart from what was requested."""

        def body(connection: apsw.Connection, publish: Publish) -> None:
            connection.execute(
                "UPDATE sessions SET observed_json = ?, host_session_id = ? WHERE id = ?",
                (dump(observed), host_session_id, session_id),
            ).fetchall()
            announce(connection, session_id, publish)

        await self.commit(OBSERVE, body)


def announce(connection: apsw.Connection, session_id: str, publish: Publish) -> None:
    """Publish the session as this transaction leaves it, unless nothing of it was accepted yet."""
    session = read_session(connection, session_id)
    if session is not None and session.last_seq > 0:
        publish(SessionChanged(session))


def set_title(connection: apsw.Connection, session_id: str, title: str, source: str) -> None:
    """Set a title unless one given by hand is there and ``source`` is not ``manual``."""
    connection.execute(
        "UPDATE topics SET title = ?1, title_source = ?2 WHERE id = (SELECT topic_id FROM sessions WHERE id = ?3)"
        " AND (?2 = 'manual' OR title_source = 'none' OR (?2 = 'job' AND title_source <> 'manual'))",
        (title, source, session_id),
    ).fetchall()


def _create(connection: apsw.Connection, reservation: Reservation, now: int) -> None:
    row = connection.execute(
        "SELECT topic_id, presence, accepted_at FROM sessions WHERE id = ?", (reservation.session_id,)
    ).fetchone()
    if row is not None:
        _reuse(connection, reservation, cast("tuple[str, str, int | None]", row))
        return
    connection.execute(
        "INSERT INTO topics (id, created_at) VALUES (?,?) ON CONFLICT (id) DO NOTHING", (reservation.topic_id, now)
    ).fetchall()
    taken = connection.execute("SELECT 1 FROM sessions WHERE topic_id = ?", (reservation.topic_id,)).fetchone()
    if taken is not None:
        raise RejectedFault("conflict")
    connection.execute(
        "INSERT INTO sessions (id, topic_id, presence, requested_json, created_at, last_activity)"
        " VALUES (?,?,'unbound',?,?,?)",
        (reservation.session_id, reservation.topic_id, dump(reservation.settings), now, now),
    ).fetchall()
    title = clean_title(reservation.title_hint)
    if title:
        set_title(connection, reservation.session_id, title, "first_line")


def _reuse(connection: apsw.Connection, reservation: Reservation, found: tuple[str, str, int | None]) -> None:
    """An earlier attempt made it. Until a submission is accepted, the newest attempt's settings count."""
    topic_id, presence, accepted_at = found
    if topic_id != reservation.topic_id:
        raise RejectedFault("conflict")
    if presence not in ("unbound", "open"):
        raise RejectedFault(f"session_{presence}")
    if accepted_at is None:
        connection.execute(
            "UPDATE sessions SET requested_json = ? WHERE id = ?",
            (dump(reservation.settings), reservation.session_id),
        ).fetchall()


def _bind(connection: apsw.Connection, reservation: Reservation, now: int) -> None:
    place = register(connection, reservation.place, now)
    connection.execute(
        "UPDATE topics SET workspace_id = ? WHERE id = ? AND workspace_id IS NULL",
        (place.workspace_id, reservation.topic_id),
    ).fetchall()
    connection.execute(
        "UPDATE sessions SET workspace_id = ?, presence = 'open' WHERE id = ? AND presence = 'unbound'",
        (place.workspace_id, reservation.session_id),
    ).fetchall()
    row = connection.execute("SELECT workspace_id FROM sessions WHERE id = ?", (reservation.session_id,)).fetchone()
    if row is None or row[0] != place.workspace_id:
        raise RejectedFault("conflict")
