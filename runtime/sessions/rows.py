"""Between rows and records. Light (no asyncio, no pydantic): the first paint reads with the same code.

One damaged row never takes the others with it: an unreadable JSON column reads as empty, and an item whose
content is gone says so in its data (``content_missing``).
"""

from __future__ import annotations

import json
from typing import Any, cast

import apsw

from runtime.base.handover import JsonObject, Place, Receipt, SessionPresence
from runtime.base.jsontypes import JsonValue
from runtime.sessions.model import Item, Session, Turn, TurnState

CONTENT_MISSING = "content_missing"
SESSION_COLUMNS = (
    "s.id, s.topic_id, s.workspace_id, w.scope, w.root, t.title, t.title_source, s.presence, s.requested_json,"
    " s.observed_json, s.host_session_id, s.last_seq, s.item_count, s.created_at, s.last_activity,"
    " (SELECT state FROM turns WHERE session_id = s.id ORDER BY number DESC LIMIT 1)"
)
SESSION_TABLES = "sessions s LEFT JOIN topics t ON t.id = s.topic_id LEFT JOIN workspaces w ON w.id = s.workspace_id"
RECENT_SESSIONS = (
    f"SELECT {SESSION_COLUMNS} FROM {SESSION_TABLES} WHERE s.presence = 'open' AND s.accepted_at IS NOT NULL"
    " ORDER BY s.last_activity DESC, s.id DESC LIMIT ?"
)
TURN_COLUMNS = (
    "id, session_id, submission_id, state, error_code, error, owner, finish_reason, started_at, ended_at, detail_json"
)
ITEM_COLUMNS = "id, session_id, seq, turn_id, kind, state, text, data_json, parent_item, branch, created_at"
ITEMS_BETWEEN = f"SELECT {ITEM_COLUMNS} FROM items WHERE session_id = ? AND seq BETWEEN ? AND ? ORDER BY seq"
RECEIPT_COLUMNS = "submission_id, session_id, turn_id, fingerprint, accepted_at, version"


def dump(value: JsonObject) -> str:
    """Compact JSON text for a column."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def load(text: str) -> dict[str, JsonValue]:
    """The object of a JSON column; empty if it cannot be read."""
    try:
        value: Any = json.loads(text)
    except (ValueError, TypeError):
        return {}
    return cast("dict[str, JsonValue]", value) if isinstance(value, dict) else {}


def session_of(row: tuple[Any, ...]) -> Session:
    """A row of :data:`SESSION_COLUMNS`; a lost topic or workspace row reads as untitled or unbound."""
    return Session(
        id=row[0],
        topic_id=row[1],
        place=Place(row[2] or "", row[3] or "global", row[4] or ""),
        title=row[5] or "",
        title_source=row[6] or "none",
        presence=SessionPresence(row[7]),
        requested=load(row[8]),
        observed=load(row[9]),
        host_session_id=row[10],
        last_seq=row[11],
        item_count=row[12],
        created_at=row[13],
        last_activity=row[14],
        turn_state=TurnState(row[15]) if row[15] else None,
    )


def turn_of(row: tuple[Any, ...]) -> Turn:
    """A row of :data:`TURN_COLUMNS`."""
    return Turn(
        id=row[0],
        session_id=row[1],
        submission_id=row[2],
        state=TurnState(row[3]),
        error_code=row[4],
        error=row[5],
        owner=row[6],
        finish_reason=row[7],
        started_at=row[8],
        ended_at=row[9],
        detail=load(row[10]),
    )


def item_of(connection: apsw.Connection, row: tuple[Any, ...]) -> Item:
    """A row of :data:`ITEM_COLUMNS`; a streaming item's text is put together from its chunks."""
    text, data = cast("str", row[6]), load(row[7])
    if row[5] == "streaming":
        text, whole = chunks_of(connection, row[0])
        if not whole:
            data = {**data, "code": CONTENT_MISSING}
    return Item(
        id=row[0],
        session_id=row[1],
        seq=row[2],
        turn_id=row[3],
        kind=row[4],
        state=row[5],
        text=text,
        data=data,
        parent_item=row[8],
        branch=row[9],
        created_at=row[10],
    )


def chunks_of(connection: apsw.Connection, item_id: str) -> tuple[str, bool]:
    """The journaled text of a streaming item and whether no chunk is missing before its end."""
    parts: list[str] = []
    length, whole = 0, True
    for start, text in connection.execute(
        "SELECT start, text FROM item_chunks WHERE item_id = ? ORDER BY start", (item_id,)
    ):
        whole = whole and start == length
        length = start + len(text)
        parts.append(text)
    return "".join(parts), whole and bool(parts)


def receipt_of(row: tuple[Any, ...]) -> Receipt:
    """A row of :data:`RECEIPT_COLUMNS`; the caller has looked at the version."""
    return Receipt(row[0], row[1], row[2], row[3], row[4])


def placeholder(session_id: str, seq: int) -> Item:
    """What is shown where a stored item has vanished: its place in the order is kept."""
    return Item(
        id=f"missing-{session_id}-{seq}",
        session_id=session_id,
        seq=seq,
        turn_id="",
        kind="notice",
        state="final",
        text="",
        data={"code": CONTENT_MISSING},
        parent_item="",
        branch=1,
        created_at=0,
    )


def items_between(connection: apsw.Connection, session_id: str, first: int, last: int) -> list[Item]:
    """The items ``first`` … ``last`` in order, with a placeholder for every one that has vanished."""
    found = {
        row[2]: item_of(connection, row)
        for row in connection.execute(ITEMS_BETWEEN, (session_id, first, last)).fetchall()
    }
    return [found.get(seq) or placeholder(session_id, seq) for seq in range(first, last + 1)]
