"""What of the history goes with a prompt (spec/sessions.md section 5, Context).

The newest complete turns that fit the model's reported context, minus a reserve for the answer; never half a
turn. What people and models said is sent, also the partial text of an interrupted answer; notices, errors and
reasoning are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, cast

import apsw

from runtime.hosts.port import HistoryMessage

BYTES_AT_MOST = 8 << 20
RESERVE_SHARE = 4
RESERVE_AT_LEAST = 256
RESERVE_AT_MOST = 8_192
_MESSAGE_OVERHEAD_TOKENS = 8
_CHARACTERS_PER_TOKEN = 3
_WIDE_FROM = 0x2E80  # CJK radicals: from here on about one token a character
_Message = tuple[str, int, Literal["user", "assistant"], str, str]  # turn, seq, kind, text, parent


@dataclass(frozen=True, slots=True)
class Context:
    """``left_out`` counts the older messages that were not sent because they did not fit."""

    messages: tuple[HistoryMessage, ...]
    left_out: int


def estimate_tokens(text: str) -> int:
    """A careful guess without a tokenizer: three characters a token, CJK and the like one each."""
    if text.isascii():
        return len(text) // _CHARACTERS_PER_TOKEN + 1
    wide = sum(ord(character) >= _WIDE_FROM for character in text)
    return (len(text) - wide) // _CHARACTERS_PER_TOKEN + wide + 1


def budget_of(context_tokens: int | None, prompt: str, instructions: str) -> int | None:
    """Tokens left for history; None if the model reports no window (then only the byte limit counts)."""
    if context_tokens is None:
        return None
    reserve = max(RESERVE_AT_LEAST, min(RESERVE_AT_MOST, context_tokens // RESERVE_SHARE))
    asked = estimate_tokens(prompt) + estimate_tokens(instructions) + 2 * _MESSAGE_OVERHEAD_TOKENS
    return max(0, context_tokens - reserve - asked)


@dataclass(frozen=True, slots=True)
class Asked:
    """The user item that is about to be sent; history is what comes before it on its branch."""

    session_id: str
    seq: int
    parent_item: str


def build(connection: apsw.Connection, asked: Asked, budget: int | None) -> Context:
    """History before ``asked``, newest complete turns first until one does not fit.

    A turn that was tried again later (a newer sibling under the same parent) is not on the branch.
    """
    chosen: list[list[HistoryMessage]] = []
    session_id, before, parents = asked.session_id, asked.seq, {asked.parent_item}
    room, tokens, cut = BYTES_AT_MOST, budget, before
    for _turn_id, group in groupby(_newest_first(connection, session_id, before), key=lambda message: message[0]):
        turn = list(group)
        parent = next((message[4] for message in turn if message[2] == "user"), None)
        if parent in parents:
            continue
        if parent is not None:
            parents.add(parent)
        messages = [HistoryMessage(role, text) for _turn, _seq, role, text, _parent in reversed(turn) if text]
        room -= sum(_bytes(message) for message in messages)
        if tokens is not None:
            tokens -= sum(estimate_tokens(message.text) + _MESSAGE_OVERHEAD_TOKENS for message in messages)
        if room < 0 or (tokens is not None and tokens < 0):
            return Context(_in_order(chosen), _count(connection, session_id, cut))
        chosen.append(messages)
        cut = turn[-1][1]
    return Context(_in_order(chosen), 0)


def _newest_first(connection: apsw.Connection, session_id: str, before: int) -> Iterator[_Message]:
    rows = connection.execute(
        "SELECT turn_id, seq, kind, text, parent_item FROM items WHERE session_id = ? AND seq < ?"
        " AND kind IN ('user','assistant') ORDER BY seq DESC",
        (session_id, before),
    )
    return cast("Iterator[_Message]", iter(rows))


def _count(connection: apsw.Connection, session_id: str, before: int) -> int:
    found = connection.execute(
        "SELECT count(*) FROM items WHERE session_id = ? AND seq < ? AND kind IN ('user','assistant')",
        (session_id, before),
    ).get
    return int(found)


def _in_order(turns: list[list[HistoryMessage]]) -> tuple[HistoryMessage, ...]:
    return tuple(message for turn in reversed(turns) for message in turn)


def _bytes(message: HistoryMessage) -> int:
    return len(json.dumps(message.text, ensure_ascii=False).encode()) + 64
