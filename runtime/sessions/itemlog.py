"""The append-only log of items, as functions that run inside a caller's transaction.

``seq`` counts up per session without gaps: it is taken from the session row in the same transaction that
stores the item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import apsw

from runtime.base.errors import EnvironmentFault
from runtime.base.handover import JsonObject
from runtime.base.ids import new_id
from runtime.sessions.model import Item, ItemKind, ItemState
from runtime.sessions.rows import CONTENT_MISSING, ITEM_COLUMNS, chunks_of, dump, item_of

_LOST = dump({"code": CONTENT_MISSING})


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item before it has its place in the order."""

    session_id: str
    turn_id: str
    kind: ItemKind
    text: str = ""
    state: ItemState = "final"
    data: JsonObject | None = None
    parent_item: str = ""
    branch: int = 1


def storable(text: str) -> str:
    """``text`` with lone surrogates replaced: they have no UTF-8 form, so neither database nor host takes them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def append(connection: apsw.Connection, new: NewItem, now: int) -> Item:
    """Store ``new`` with the session's next seq. A streaming item's text becomes its first chunk."""
    row = connection.execute(
        "UPDATE sessions SET last_seq = last_seq + 1, item_count = item_count + 1 WHERE id = ? RETURNING last_seq",
        (new.session_id,),
    ).fetchall()
    if not row:
        raise EnvironmentFault("session_unknown")
    seq = cast("int", row[0][0])
    item_id = new_id("itm")
    streaming = new.state == "streaming"
    connection.execute(
        "INSERT INTO items (id, session_id, seq, turn_id, kind, state, parent_item, branch, created_at, data_json,"
        " text) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
        (
            item_id,
            new.session_id,
            seq,
            new.turn_id,
            new.kind,
            new.state,
            new.parent_item,
            new.branch,
            now,
            dump(new.data or {}),
            "" if streaming else new.text,
        ),
    ).fetchall()
    if streaming:
        extend(connection, item_id, 0, new.text)
    return Item(
        item_id,
        new.session_id,
        seq,
        new.turn_id,
        new.kind,
        new.state,
        new.text,
        new.data or {},
        new.parent_item,
        new.branch,
        now,
    )


def extend(connection: apsw.Connection, item_id: str, start: int, text: str) -> None:
    """Store the next chunk of a streaming item; ``start`` is the length in characters before it."""
    connection.execute(
        "INSERT INTO item_chunks (item_id, start, text) VALUES (?,?,?)", (item_id, start, text)
    ).fetchall()


def settle(connection: apsw.Connection, item_id: str, state: ItemState) -> Item | None:
    """Fold the chunks of a streaming item into its row; None if it is not streaming any more."""
    text, whole = chunks_of(connection, item_id)
    damage = "" if whole else f", data_json = '{_LOST}'"
    connection.execute(
        f"UPDATE items SET state = ?, text = ?{damage} WHERE id = ? AND state = 'streaming'", (state, text, item_id)
    ).fetchall()
    if not connection.changes():
        return None
    connection.execute("DELETE FROM item_chunks WHERE item_id = ?", (item_id,)).fetchall()
    return read(connection, item_id)


def settle_turn(connection: apsw.Connection, turn_id: str, state: ItemState) -> list[Item]:
    """Settle whatever of a turn is still streaming."""
    rows = connection.execute("SELECT id FROM items WHERE turn_id = ? AND state = 'streaming'", (turn_id,)).fetchall()
    settled = [settle(connection, cast("str", row[0]), state) for row in rows]
    return [item for item in settled if item is not None]


def read(connection: apsw.Connection, item_id: str) -> Item | None:
    """One item by id."""
    row = connection.execute(f"SELECT {ITEM_COLUMNS} FROM items WHERE id = ?", (item_id,)).fetchone()
    return item_of(connection, cast("tuple[Any, ...]", row)) if row is not None else None
