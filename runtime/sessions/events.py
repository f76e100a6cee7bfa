"""The closed list of events that sessions publish. Everything in them is already durable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from runtime.sessions.model import Item, Session, Turn


@dataclass(frozen=True, slots=True)
class SessionChanged:
    """A session was created, renamed, bound, or its settings or activity changed."""

    session: Session


@dataclass(frozen=True, slots=True)
class TurnChanged:
    """A turn entered a state."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class ItemAppended:
    """A new item with the next ``seq``."""

    item: Item


@dataclass(frozen=True, slots=True)
class ItemExtended:
    """Streamed text was stored. ``offset`` is the length in characters before it, so folding is idempotent."""

    session_id: str
    item_id: str
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class ItemSettled:
    """An item is final or interrupted and will not grow any more."""

    item: Item


SessionEvent: TypeAlias = SessionChanged | TurnChanged | ItemAppended | ItemExtended | ItemSettled
