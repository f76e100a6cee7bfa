"""States of a turn as compare-and-swap updates inside a caller's transaction (spec/sessions.md section 2).

Order: admitted, starting (just before the host is called), running (first event), one terminal state.
Each function returns the turn as it is now, or None where the swap lost: somebody else was first.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

import apsw

from runtime.base.handover import JsonObject
from runtime.base.record import record
from runtime.sessions.model import Turn, TurnState
from runtime.sessions.rows import TURN_COLUMNS, dump, turn_of

_ERROR_CHARACTERS = 500
_MERGE = "detail_json = json_patch(iif(json_valid(detail_json), detail_json, '{}'), ?)"
TerminalState: TypeAlias = Literal[
    TurnState.COMPLETED,
    TurnState.INTERRUPTED,
    TurnState.TIMED_OUT,
    TurnState.FAILED,
    TurnState.CANCELLED,
    TurnState.UNKNOWN,
]


@record
class Ending:
    """The one terminal record of a turn. ``error`` may hold the server's own words, cut at 500 characters."""

    state: TerminalState
    code: str = ""
    error: str = ""
    finish_reason: str = ""
    detail: JsonObject | None = None


def ending_of(called_at: int | None, answered_at: int | None) -> Ending:
    """What is known about a turn whose process is gone. The first paint says the same."""
    if called_at is None:
        return Ending(TurnState.INTERRUPTED, "not_started")
    if answered_at is None:
        return Ending(TurnState.UNKNOWN, "outcome_unknown")
    return Ending(TurnState.INTERRUPTED, "process_ended")


def starting(connection: apsw.Connection, turn_id: str, owner: str, detail: JsonObject, now: int) -> Turn | None:
    """The host will be called next, by ``owner`` only: this swap succeeds once per receipt."""
    return _swap(
        connection,
        "state = 'starting', called_at = ?, detail_json = ?",
        "state = 'admitted' AND owner = ?",
        turn_id,
        (now, dump(detail)),
        (owner,),
    )


def answered(connection: apsw.Connection, turn_id: str, now: int) -> Turn | None:
    """The first event arrived. A turn that is being stopped stays ``interrupting``."""
    return _swap(
        connection,
        "state = iif(state = 'starting', 'running', state), answered_at = ?",
        "state IN ('starting','interrupting') AND answered_at IS NULL",
        turn_id,
        (now,),
        (),
    )


def interrupting(connection: apsw.Connection, turn_id: str) -> Turn | None:
    """Somebody wants it stopped; the host has not been told yet."""
    return _swap(
        connection,
        "state = 'interrupting'",
        "state IN ('admitted','starting','running','awaiting_approval')",
        turn_id,
        (),
        (),
    )


def note(connection: apsw.Connection, turn_id: str, members: JsonObject) -> Turn | None:
    """Merge ``members`` into the turn's detail while it is live (progress, token counts)."""
    return _swap(connection, _MERGE, "1", turn_id, (dump(members),), ())


def end(connection: apsw.Connection, turn_id: str, ending: Ending, now: int) -> Turn | None:
    """Write the terminal record; None if the turn has one already."""
    return _swap(
        connection,
        f"state = ?, error_code = ?, error = ?, finish_reason = ?, {_MERGE}, ended_at = ?",
        "1",
        turn_id,
        (
            ending.state.value,
            ending.code,
            ending.error[:_ERROR_CHARACTERS],
            ending.finish_reason,
            dump(ending.detail or {}),
            now,
        ),
        (),
    )


def read(connection: apsw.Connection, turn_id: str) -> Turn | None:
    """One turn by id."""
    row = connection.execute(f"SELECT {TURN_COLUMNS} FROM turns WHERE id = ?", (turn_id,)).fetchone()
    return turn_of(cast("tuple[Any, ...]", row)) if row is not None else None


def _swap(
    connection: apsw.Connection,
    change: str,
    condition: str,
    turn_id: str,
    values: tuple[str | int, ...],
    condition_values: tuple[str | int, ...],
) -> Turn | None:
    rows = connection.execute(
        f"UPDATE turns SET {change} WHERE id = ? AND ended_at IS NULL AND ({condition}) RETURNING {TURN_COLUMNS}",
        (*values, turn_id, *condition_values),
    ).fetchall()
    return turn_of(cast("tuple[Any, ...]", rows[0])) if rows else None
