"""Stored items and turns as the rows of a transcript. No Qt: the same fold serves a live stream and a restart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Literal, TypeAlias

from app.sentences import sentence
from app.turn_notes import older_not_sent, turn_note
from runtime.base.record import record
from runtime.sessions.model import Item, ItemKind, ItemState, Turn

RowKind: TypeAlias = Literal["user", "assistant", "reasoning", "notice", "error", "ending"]
Tone: TypeAlias = Literal["muted", "warn", "danger"]

_KINDS: Mapping[ItemKind, RowKind] = MappingProxyType({
    "user": "user", "assistant": "assistant", "reasoning_summary": "reasoning", "error": "error",
})  # fmt: skip
_LABELS: Mapping[RowKind, str] = MappingProxyType({
    "user": "", "assistant": "Assistant", "reasoning": "Reasoning summary",
    "notice": "", "error": "failed", "ending": "",
})  # fmt: skip


@record
class Row:
    """One row. ``label`` names the speaker or is the word of a chip; ``note`` is a quiet addition to it.

    ``text`` is plain text, never markup. ``created_at`` is milliseconds UTC, 0 if unknown.
    """

    id: str
    kind: RowKind
    text: str
    state: ItemState = "final"
    label: str = ""
    note: str = ""
    created_at: int = 0
    tone: Tone = "muted"

    def extended(self, offset: int, text: str) -> Row | None:
        """The row with streamed text in place; None if nothing is new or something before ``offset`` is missing.

        ``offset`` counts characters, so that a chunk that comes twice changes nothing.
        """
        have = len(self.text)
        if offset > have or offset + len(text) <= have:
            return None
        return replace(self, text=self.text + text[have - offset :])


def row_of(item: Item, reported_model: str = "") -> Row:
    """The row of one item. ``reported_model`` is what the host said about itself, if it said anything."""
    kind = _KINDS.get(item.kind, "notice")
    note = f"reported model: {reported_model}" if kind == "assistant" and reported_model else ""
    text = _notice_text(item) if kind == "notice" else item.text
    tone: Tone = "danger" if kind == "error" else "muted"
    return Row(item.id, kind, text, item.state, _LABELS[kind], note, item.created_at, tone)


def ending_row(turn: Turn) -> Row | None:
    """The row that says how a turn ended, where that is not simply "complete"; its id is ``ending:<turn id>``."""
    reported = {key: value for key, value in turn.detail.items() if isinstance(value, str | int | float | bool)}
    note = turn_note(turn.state.value, turn.finish_reason, turn.error_code, turn.error, reported)
    if note is None:
        return None
    return Row(f"ending:{turn.id}", "ending", note.text, "final", note.label, "", turn.ended_at or 0, note.tone)


def rows_of(items: Sequence[Item], turns: Iterable[Turn] = (), reported_model: str = "") -> list[Row]:
    """Items in order, and after the last item of each given turn the row of its ending, if it has one."""
    by_id = {turn.id: turn for turn in turns}
    last_of = {item.turn_id: place for place, item in enumerate(items)}
    rows: list[Row] = []
    for place, item in enumerate(items):
        rows.append(row_of(item, reported_model))
        turn = by_id.get(item.turn_id)
        ending = ending_row(turn) if turn is not None and last_of[item.turn_id] == place else None
        if ending is not None:
            rows.append(ending)
    return rows


def _notice_text(item: Item) -> str:
    code, count = item.data.get("code"), item.data.get("count")
    if code == "older_not_sent" and isinstance(count, int):
        return older_not_sent(count)
    if isinstance(code, str) and not item.text:
        return sentence(code).text
    return item.text
