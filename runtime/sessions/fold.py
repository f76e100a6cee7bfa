"""Snapshot plus events is one picture, whatever the order they arrive in (spec/drafts.md section 6, step 9).

A page subscribes first and then loads; events of the meantime are in the snapshot too. Folding is idempotent:
items have their ``seq``, extensions their ``offset``, and a settled item or ended turn never goes back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import replace

from runtime.sessions.events import ItemAppended, ItemExtended, ItemSettled, SessionEvent, TurnChanged
from runtime.sessions.model import Item, Turn, TurnState

_RANK = {
    TurnState.ADMITTED: 0,
    TurnState.STARTING: 1,
    TurnState.RUNNING: 2,
    TurnState.AWAITING_APPROVAL: 2,
    TurnState.INTERRUPTING: 3,
}
_ENDED = 4


class ConversationFold:
    """The items and turns of one conversation as far as they are known, items in order of ``seq``."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.items: list[Item] = []
        self.turns: dict[str, Turn] = {}
        self._early: dict[str, list[tuple[int, str]]] = {}

    def merge(self, items: Iterable[Item], turns: Iterable[Turn] = ()) -> None:
        """Take in a snapshot: the newest page, or an older one that was scrolled to."""
        for item in items:
            self._take(item)
        for turn in turns:
            known = self.turns.get(turn.id)
            if known is None or _rank(turn) > _rank(known):
                self.turns[turn.id] = turn

    def apply(self, event: SessionEvent) -> int | None:
        """Take in an event; returns the index of the item that changed, if one did.

        Events of other conversations are ignored.
        """
        if isinstance(event, ItemAppended | ItemSettled):
            return self._take(event.item) if event.item.session_id == self.session_id else None
        if isinstance(event, ItemExtended):
            return self._extend(event) if event.session_id == self.session_id else None
        if isinstance(event, TurnChanged) and event.turn.session_id == self.session_id:
            known = self.turns.get(event.turn.id)
            if known is None or _rank(event.turn) >= _rank(known):
                self.turns[event.turn.id] = event.turn
        return None

    def _take(self, item: Item) -> int | None:
        index = self._index(item.seq)
        known = self.items[index] if index < len(self.items) and self.items[index].seq == item.seq else None
        if known is None:
            self.items.insert(index, item)
        elif not _is_newer(item, known):
            return None
        else:
            self.items[index] = item
        if item.state == "streaming":
            for offset, text in self._early.pop(item.id, []):
                self._grow(index, offset, text)
        else:
            self._early.pop(item.id, None)
        return index

    def _extend(self, event: ItemExtended) -> int | None:
        for index in range(len(self.items) - 1, -1, -1):
            if self.items[index].id == event.item_id:
                return self._grow(index, event.offset, event.text)
        self._early.setdefault(event.item_id, []).append((event.offset, event.text))
        return None

    def _grow(self, index: int, offset: int, text: str) -> int | None:
        item = self.items[index]
        if item.state != "streaming":
            return None
        if offset > len(item.text):  # what lies between comes with a snapshot
            self._early.setdefault(item.id, []).append((offset, text))
            return None
        fresh = text[len(item.text) - offset :]
        if not fresh:
            return None
        self.items[index] = replace(item, text=item.text + fresh)
        return index

    def _index(self, seq: int) -> int:
        if not self.items or seq > self.items[-1].seq:
            return len(self.items)
        return bisect_left(self.items, seq, key=lambda item: item.seq)


def _is_newer(item: Item, known: Item) -> bool:
    """Settled beats streaming, more text beats less; a settled item never changes."""
    if known.state != "streaming":
        return False
    return item.state != "streaming" or len(item.text) > len(known.text)


def _rank(turn: Turn) -> int:
    return _RANK.get(turn.state, _ENDED)
