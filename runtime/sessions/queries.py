"""Reads that the first paint and the running program share. Light: no asyncio, no pydantic."""

from __future__ import annotations

from typing import Any, cast

import apsw

from runtime.base.errors import RejectedFault
from runtime.base.handover import Submission
from runtime.sessions.model import Item, Session, Turn
from runtime.sessions.rows import (
    RECENT_SESSIONS,
    SESSION_COLUMNS,
    SESSION_TABLES,
    TURN_COLUMNS,
    items_between,
    load,
    session_of,
    turn_of,
)


def recent_sessions(connection: apsw.Connection, limit: int) -> list[Session]:
    """Open sessions with an accepted submission, last active first. One index walk, no sort."""
    return [session_of(row) for row in connection.execute(RECENT_SESSIONS, (limit,)).fetchall()]


def read_session(connection: apsw.Connection, session_id: str) -> Session | None:
    """One session, listed or not."""
    row = connection.execute(f"SELECT {SESSION_COLUMNS} FROM {SESSION_TABLES} WHERE s.id = ?", (session_id,)).fetchone()
    return session_of(cast("tuple[Any, ...]", row)) if row is not None else None


def read_items(connection: apsw.Connection, session_id: str, before: int | None, limit: int) -> list[Item]:
    """The newest ``limit`` items below seq ``before``, in order, with placeholders for vanished ones."""
    row = connection.execute("SELECT last_seq FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if row is None:
        return []
    last = cast("int", row[0]) if before is None else min(cast("int", row[0]), before - 1)
    return items_between(connection, session_id, max(1, last - limit + 1), last)


def recent_turns(connection: apsw.Connection, session_id: str, limit: int) -> list[Turn]:
    """The newest ``limit`` turns in order."""
    rows = connection.execute(
        f"SELECT {TURN_COLUMNS} FROM turns WHERE session_id = ? ORDER BY number DESC LIMIT ?", (session_id, limit)
    ).fetchall()
    return [turn_of(row) for row in reversed(rows)]


def read_question(connection: apsw.Connection, turn_id: str) -> Submission:
    """What was submitted with a turn. Raises :class:`RejectedFault` ``turn_unknown`` or ``content_missing``."""
    row = connection.execute(
        "SELECT t.submission_id, t.session_id, r.fingerprint, i.text, i.data_json FROM turns t"
        " LEFT JOIN receipts r ON r.submission_id = t.submission_id"
        " LEFT JOIN items i ON i.session_id = t.session_id AND i.turn_id = t.id AND i.kind = 'user'"
        " WHERE t.id = ? ORDER BY i.seq DESC LIMIT 1",
        (turn_id,),
    ).fetchone()
    if row is None:
        raise RejectedFault("turn_unknown")
    submission_id, session_id, fingerprint, text, data = cast("tuple[str, str, str | None, str | None, str]", row)
    if text is None:
        raise RejectedFault("content_missing")
    return Submission(submission_id, session_id, fingerprint or "", {**load(data), "text": text})
