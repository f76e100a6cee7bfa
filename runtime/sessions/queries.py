"""Reads that the first paint and the running program share. Light: no asyncio, no pydantic."""

from __future__ import annotations

from typing import Any, cast

import apsw

from runtime.sessions.model import Item, Session, Turn
from runtime.sessions.rows import (
    RECENT_SESSIONS,
    SESSION_COLUMNS,
    SESSION_TABLES,
    TURN_COLUMNS,
    items_between,
    session_of,
    turn_of,
)


def recent_sessions(connection: apsw.Connection, limit: int) -> list[Session]:
    """Open sessions with an accepted submission, last active first. One index walk, no sort."""
    return [session_of(row) for row in connection.execute(RECENT_SESSIONS, (limit,)).fetchall()]


def read_session(connection: apsw.Connection, session_id: str) -> Session | None:
    """One session, listed or not."""
    row = connection.execute(
        f"SELECT {SESSION_COLUMNS} FROM {SESSION_TABLES} WHERE s.id = ?", (session_id,)
    ).fetchone()
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
