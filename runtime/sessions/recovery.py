"""Turns whose process is gone, settled before any list is shown (spec/sessions.md section 1).

Adds no message, calls no host, sends nothing; run again it changes nothing.
"""

from __future__ import annotations

from typing import cast

import apsw

from runtime.base import failpoints
from runtime.sessions import itemlog, turnlog
from runtime.sessions.events import ItemSettled, TurnChanged
from runtime.sessions.owner import is_alive
from runtime.sessions.store import Publish, SessionStore, announce
from runtime.sessions.turnlog import ending_of
from runtime.storage.leases import LeaseBook

INTERRUPT = failpoints.step("recovery.interrupt", "each dead turn has one terminal record or is still found next time")
_LiveTurn = tuple[str, str, str, "int | None", "int | None"]


async def interrupt_dead_turns(store: SessionStore, leases: LeaseBook) -> int:
    """End the turns without a live owner; returns how many. Their partial text is kept.

    Never called: ``interrupted`` (``not_started``). Called, no event yet: ``unknown`` (``outcome_unknown``).
    Otherwise ``interrupted`` (``process_ended``).
    """
    owners = await store.database.read(_owners)
    dead = frozenset(owner for owner in owners if not is_alive(leases, owner))
    if not dead:
        return 0
    return await store.commit(INTERRUPT, lambda connection, publish: _interrupt(connection, publish, dead, store))


def _owners(connection: apsw.Connection) -> list[str]:
    rows = connection.execute("SELECT DISTINCT owner FROM turns WHERE ended_at IS NULL").fetchall()
    return [cast("str", row[0]) for row in rows]


def _interrupt(connection: apsw.Connection, publish: Publish, dead: frozenset[str], store: SessionStore) -> int:
    rows = connection.execute(
        "SELECT id, session_id, owner, called_at, answered_at FROM turns WHERE ended_at IS NULL"
    ).fetchall()
    count = 0
    for turn_id, session_id, owner, called_at, answered_at in cast("list[_LiveTurn]", rows):
        if owner not in dead:
            continue
        for item in itemlog.settle_turn(connection, turn_id, "interrupted"):
            publish(ItemSettled(item))
        ended = turnlog.end(connection, turn_id, ending_of(called_at, answered_at), store.clock.now_ms())
        if ended is not None:
            publish(TurnChanged(ended))
            announce(connection, session_id, publish)
            count += 1
    return count
