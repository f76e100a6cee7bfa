"""Which follow-ups wait for their receipt: read only (spec/drafts.md section 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import apsw


@dataclass(frozen=True, slots=True)
class Waiting:
    """A draft of a session whose submission has been noted and not decided."""

    draft_id: str
    session_id: str
    submission_id: str


def read(connection: apsw.Connection, draft_id: str) -> Waiting | None:
    """What this draft waits for, if it waits."""
    found = _rows(connection, "id = ?", (draft_id,))
    return found[0] if found else None


def every(connection: apsw.Connection) -> list[Waiting]:
    """All that wait, in the order of their drafts' ids."""
    return _rows(connection, "surface = 'session' AND status = 'active'", ())


def _rows(connection: apsw.Connection, where: str, values: tuple[str, ...]) -> list[Waiting]:
    rows: Any = connection.execute(
        f"SELECT id, key, pending_submission_id FROM drafts WHERE pending_submission_id <> '' AND {where} ORDER BY id",
        values,
    )
    return [Waiting(draft_id, key, submission) for draft_id, key, submission in rows]
