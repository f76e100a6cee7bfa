"""The operations table: reading, and phase changes as compare-and-swap (spec/drafts.md sections 3 and 6).

Functions take a connection and run inside a transaction of :class:`runtime.storage.database.Database`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import apsw

from drafts.model import Draft
from drafts.phases import ALLOWED, EDITABLE, ENDED, Operation, Phase
from drafts.records import dump, load
from drafts.repository import convert
from runtime.base import failpoints
from runtime.base.handover import JsonObject

LONGEST_ERROR = 500
RECEIPT_FOUND = "receipt_found"
"""Error code of an abandoned operation whose receipt appeared later: shown as a finished session."""

RESERVE = failpoints.step("operations.reserve", "the draft is editable, or the operation can be resumed")
STARTING = failpoints.step("operations.starting", "the operation can be resumed with the same ids")
DISPATCHING = failpoints.step("operations.dispatching", "resumable before the commit, never replayed after it")
ACCEPT = failpoints.step("operations.accept_convert", "operation and draft change together, and the receipt decides")
PHASE = failpoints.step("operations.phase", "the operation is in the earlier or the later phase")

_COLUMNS = (
    "id, draft_id, workspace_id, draft_revision, session_id, topic_id, submission_id, fingerprint, request_json, "
    "execution_json, phase, error_code, error, request_id, source_digest, operation_revision, created_at, updated_at"
)
_ENDED = "'accepted','terminal_failed','cancelled','abandoned'"  # as in the index operations_live


class PhaseError(AssertionError):
    """A transition outside the closed list was asked for: a bug, never the person's or the world's fault."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a phase change writes besides the phase. The error is cut to 500 characters."""

    error_code: str = ""
    error: str = ""
    execution: JsonObject | None = None


_PLAIN = Change()


def insert(connection: apsw.Connection, operation: Operation) -> None:
    """Store a new operation."""
    connection.execute(
        f"INSERT INTO operations ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            operation.id,
            operation.draft_id,
            operation.workspace_id,
            operation.draft_revision,
            operation.session_id,
            operation.topic_id,
            operation.submission_id,
            operation.fingerprint,
            dump(operation.request),
            None,
            operation.phase.value,
            operation.error_code,
            operation.error,
            operation.request_id,
            operation.source_digest,
            operation.operation_revision,
            operation.created_at,
            operation.updated_at,
        ),
    )


def move(
    connection: apsw.Connection, seen: Operation, target: Phase, now: int, change: Change = _PLAIN
) -> Operation | None:
    """Compare-and-swap from the phase and revision of ``seen``; None if the row has moved on.

    Raises :class:`PhaseError` if the closed list does not have this transition. ``now`` in milliseconds UTC.
    """
    if target not in ALLOWED[seen.phase]:
        raise PhaseError(f"{seen.phase} -> {target}")
    moved = replace(
        seen,
        phase=target,
        error_code=change.error_code,
        error=_cut(change.error),
        execution=seen.execution if change.execution is None else change.execution,
        operation_revision=seen.operation_revision + 1,
        updated_at=now,
    )
    return moved if _swap(connection, seen, moved) else None


def note_receipt(connection: apsw.Connection, seen: Operation, now: int) -> Operation | None:
    """Mark an abandoned operation whose receipt was found later; its phase stays. None if the row has moved on."""
    if seen.phase is not Phase.ABANDONED:
        raise PhaseError(f"{seen.phase} takes no late receipt")
    noted = replace(
        seen, error_code=RECEIPT_FOUND, error="", operation_revision=seen.operation_revision + 1, updated_at=now
    )
    return noted if _swap(connection, seen, noted) else None


def accept_convert(connection: apsw.Connection, operation_id: str, now: int) -> tuple[Operation, Draft | None]:
    """The receipt is durable: accept, convert the draft, clear its restore slots. Idempotent.

    An operation that was given up stays as it is (and no draft is returned). Raises :class:`PhaseError` from a
    phase before dispatch.
    """
    operation = read(connection, operation_id)
    if operation.phase in EDITABLE:
        return operation, None
    if operation.phase is not Phase.ACCEPTED:
        accepted = move(connection, operation, Phase.ACCEPTED, now)
        if accepted is None:  # one transaction reads and writes: nobody can have come between
            raise PhaseError("the row changed inside its own transaction")
        operation = accepted
    return operation, convert(connection, operation.draft_id, now)


def read(connection: apsw.Connection, operation_id: str) -> Operation:
    """The operation with that id. Raises ``KeyError``: operations are never deleted."""
    found = _first(connection, "id = ?", (operation_id,))
    if found is None:
        raise KeyError(operation_id)
    return found


def by_request(connection: apsw.Connection, draft_id: str, request_id: str) -> Operation | None:
    """The operation that a request of this draft made."""
    return _first(connection, "draft_id = ? AND request_id = ?", (draft_id, request_id))


def latest(connection: apsw.Connection, draft_id: str) -> Operation | None:
    """The newest operation of a draft, whatever a clock that was set back says: its banner speaks of this one."""
    return _first(connection, "draft_id = ? ORDER BY rowid DESC LIMIT 1", (draft_id,))


def live(connection: apsw.Connection, draft_id: str) -> Operation | None:
    """The operation that holds the draft: not ended, or accepted with the draft still active."""
    found = latest(connection, draft_id)
    return None if found is None or found.phase in EDITABLE else found


def unsettled(connection: apsw.Connection) -> list[Operation]:
    """What recovery has to look at, oldest first: live, accepted but not converted, abandoned without a receipt."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM operations WHERE phase NOT IN ({_ENDED}) UNION ALL "
        f"SELECT {_COLUMNS} FROM operations WHERE phase = 'accepted' AND draft_id IN "
        "(SELECT id FROM drafts WHERE status = 'active') UNION ALL "
        f"SELECT {_COLUMNS} FROM operations WHERE phase = 'abandoned' AND error_code <> '{RECEIPT_FOUND}' "
        "ORDER BY id"
    )
    return _operations(rows)


def counts(connection: apsw.Connection) -> dict[str, int]:
    """How many operations there are in each phase that occurs."""
    return {
        str(phase): int(count)
        for phase, count in connection.execute("SELECT phase, count(*) FROM operations GROUP BY phase ORDER BY phase")
    }


def is_live(phase: Phase) -> bool:
    """Whether an operation in ``phase`` is still under way."""
    return phase not in ENDED


def _swap(connection: apsw.Connection, seen: Operation, moved: Operation) -> bool:
    """Write ``moved`` over the row that still has the phase and revision of ``seen``."""
    execution = None if moved.execution is None else dump(moved.execution)
    connection.execute(
        "UPDATE operations SET phase = ?, error_code = ?, error = ?, execution_json = ?, operation_revision = ?, "
        "updated_at = ? WHERE id = ? AND phase = ? AND operation_revision = ?",
        (
            moved.phase.value,
            moved.error_code,
            moved.error,
            execution,
            moved.operation_revision,
            moved.updated_at,
            seen.id,
            seen.phase.value,
            seen.operation_revision,
        ),
    )
    return connection.changes() == 1


def _first(connection: apsw.Connection, where: str, values: tuple[str, ...]) -> Operation | None:
    found = _operations(connection.execute(f"SELECT {_COLUMNS} FROM operations WHERE {where}", values))
    return found[0] if found else None


def _operations(rows: Iterable[Any]) -> list[Operation]:
    return [_operation(row) for row in rows]


def _operation(row: Any) -> Operation:
    return Operation(
        id=row[0],
        draft_id=row[1],
        workspace_id=row[2],
        draft_revision=row[3],
        session_id=row[4],
        topic_id=row[5],
        submission_id=row[6],
        fingerprint=row[7],
        request=load(row[8]),
        execution=None if row[9] is None else load(row[9]),
        phase=Phase(row[10]),
        error_code=row[11],
        error=row[12],
        request_id=row[13],
        source_digest=row[14],
        operation_revision=row[15],
        created_at=row[16],
        updated_at=row[17],
    )


def _cut(error: str) -> str:
    """At most 500 characters, and none that SQLite cannot store."""
    return error[:LONGEST_ERROR].encode(errors="replace").decode()
