"""What the first paint shows of conversations, read without a loop and without writing (DESIGN.md, "first paint").

Synchronous and light: apsw only. Dead turns are shown as recovery will settle them. A store that is missing,
locked, damaged or of a later version gives a code and an empty glimpse, never an exception: the program itself
says what is wrong when it opens the store.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import cast

import apsw

from runtime.base.errors import Fault
from runtime.base.handover import SessionPresence
from runtime.base.record import record
from runtime.sessions.model import Item, Session, Turn
from runtime.sessions.queries import read_items, read_session, recent_sessions, recent_turns
from runtime.sessions.tables import VERSION
from runtime.sessions.turnlog import Ending, ending_of
from runtime.storage.faults import translate
from runtime.storage.lockfiles import looks_held

_BUSY_MS = 150
_Dead = dict[str, Ending]  # by turn id


@record
class Glimpse:
    """``code`` is empty, ``missing``, ``future_schema``, ``unsupported_schema`` or a storage code.

    ``sessions`` are the newest; ``session`` is the asked one with its newest ``items`` and their ``turns``, None
    if it is not open.
    """

    code: str = ""
    sessions: tuple[Session, ...] = ()
    session: Session | None = None
    items: tuple[Item, ...] = ()
    turns: tuple[Turn, ...] = ()


def peek(
    database: Path, leases: Path, *, session_id: str = "", item_limit: int = 50, session_limit: int = 100
) -> Glimpse:
    """One consistent look. ``leases`` is the folder of the lease files; at most about 150 ms behind a lock."""
    if not database.exists():
        return Glimpse("missing")
    try:
        connection = apsw.Connection(os.fspath(database), flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error as error:
        return Glimpse(_code(error))
    try:
        connection.set_busy_timeout(_BUSY_MS)
        connection.execute("BEGIN").fetchall()
        version = cast("int", connection.execute("PRAGMA user_version").get)
        if version != VERSION:
            return Glimpse("future_schema" if version > VERSION else "unsupported_schema")
        return _look(connection, leases, session_id, (item_limit, session_limit))
    except apsw.Error as error:
        return Glimpse(_code(error))
    except (ValueError, TypeError):
        return Glimpse("database_damaged")
    finally:
        connection.close(True)


def _look(connection: apsw.Connection, leases: Path, session_id: str, limits: tuple[int, int]) -> Glimpse:
    dead, latest = _dead_turns(connection, leases)
    sessions = tuple(_settled(session, latest) for session in recent_sessions(connection, limits[1]))
    session = read_session(connection, session_id) if session_id else None
    if session is None or session.presence is not SessionPresence.OPEN or session.last_seq == 0:
        return Glimpse("", sessions)
    items = tuple(
        replace(item, state="interrupted") if item.state == "streaming" and item.turn_id in dead else item
        for item in read_items(connection, session_id, None, limits[0])
    )
    turns = tuple(_ended(turn, dead) for turn in recent_turns(connection, session_id, limits[0]))
    return Glimpse("", sessions, _settled(session, latest), items, turns)


def _dead_turns(connection: apsw.Connection, leases: Path) -> tuple[_Dead, _Dead]:
    """How turns without a live owner will be settled, by turn id and by session id."""
    by_turn: _Dead = {}
    by_session: _Dead = {}
    alive: dict[str, bool] = {}
    for turn_id, session_id, owner, called_at, answered_at in cast(
        "list[tuple[str, str, str, int | None, int | None]]",
        connection.execute(
            "SELECT id, session_id, owner, called_at, answered_at FROM turns WHERE ended_at IS NULL"
        ).fetchall(),
    ):
        if owner not in alive:
            alive[owner] = looks_held(leases, "owner", "process", owner)
        if not alive[owner]:
            by_turn[turn_id] = by_session[session_id] = ending_of(called_at, answered_at)
    return by_turn, by_session


def _settled(session: Session, latest: _Dead) -> Session:
    ending = latest.get(session.id)
    return session if ending is None else replace(session, turn_state=ending.state)


def _ended(turn: Turn, dead: _Dead) -> Turn:
    ending = dead.get(turn.id)
    return turn if ending is None else replace(turn, state=ending.state, error_code=ending.code)


def _code(error: apsw.Error) -> str:
    fault = translate(error)
    return fault.code if isinstance(fault, Fault) else "database_damaged"
