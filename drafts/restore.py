"""Which surface a window shows at the next start. A slot is ``active`` or a window id.

The surface object names ``surface`` and ``key`` (those of its draft: a session page names its follow-up
composer), ``workspace_id``, ``scope`` and ``root``; other members are kept unread.
"""

from __future__ import annotations

from typing import cast

import apsw

from drafts.model import DraftKey, Surface
from drafts.records import dump, load
from runtime.base.handover import JsonObject, Place

ACTIVE = "active"


def surface_object(key: DraftKey, place: Place) -> JsonObject:
    """What :func:`write_slot` stores for a surface."""
    return {
        "surface": str(key.surface),
        "key": key.key,
        "workspace_id": place.workspace_id,
        "scope": place.scope,
        "root": place.root,
    }


def surface_of(value: JsonObject) -> tuple[DraftKey, Place] | None:
    """Key and place of a stored surface; None if it is not one that this version knows."""
    surface, key, workspace = value.get("surface"), value.get("key"), value.get("workspace_id")
    scope, root = value.get("scope"), value.get("root")
    if not (isinstance(key, str) and isinstance(workspace, str) and isinstance(root, str)):
        return None
    if surface not in list(Surface) or scope not in ("project", "global"):
        return None
    return DraftKey(Surface(cast("str", surface)), key), Place(workspace, scope, root)


def write_slot(connection: apsw.Connection, slot: str, surface: JsonObject, now: int) -> None:
    connection.execute("INSERT OR REPLACE INTO restore_state VALUES (?,?,?)", (slot, dump(surface), now)).fetchall()


def read_slot(connection: apsw.Connection, slot: str) -> JsonObject | None:
    """The surface of ``slot``. Raises :class:`EnvironmentFault` ``record_damaged``."""
    text = connection.execute("SELECT surface_json FROM restore_state WHERE slot = ?", (slot,)).get
    return None if text is None else load(cast("str", text))


def clear_slot(connection: apsw.Connection, slot: str) -> None:
    connection.execute("DELETE FROM restore_state WHERE slot = ?", (slot,)).fetchall()
