"""Sessions, turns and items as frozen records (spec/sessions.md section 1). Light: the first paint uses them."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Literal

from runtime.base.handover import JsonObject, Place, SessionPresence
from runtime.base.record import record

_EMPTY: JsonObject = {}


class TurnState(StrEnum):
    """Admitted, executed and completed are three different facts."""

    ADMITTED = "admitted"
    STARTING = "starting"
    RUNNING = "running"
    AWAITING_APPROVAL = "awaiting_approval"
    INTERRUPTING = "interrupting"
    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    TIMED_OUT = "timed_out"
    FAILED = "failed"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"

    @property
    def is_terminal(self) -> bool:
        return self in _TERMINAL


_TERMINAL = frozenset(
    {
        TurnState.COMPLETED,
        TurnState.INTERRUPTED,
        TurnState.TIMED_OUT,
        TurnState.FAILED,
        TurnState.CANCELLED,
        TurnState.UNKNOWN,
    }
)

ItemKind = Literal[
    "user", "assistant", "reasoning_summary", "tool_call", "tool_result", "plan", "approval", "notice", "error"
]
ItemState = Literal["streaming", "final", "interrupted"]
TitleSource = Literal["none", "first_line", "job", "manual"]


@record
class Session:
    """A formal conversation. ``requested`` and ``observed`` settings are two fields and never mixed."""

    id: str
    topic_id: str
    place: Place
    title: str
    title_source: TitleSource
    presence: SessionPresence
    requested: JsonObject
    observed: JsonObject
    host_session_id: str
    last_seq: int
    item_count: int
    created_at: int
    last_activity: int
    turn_state: TurnState | None = None


@record
class Turn:
    """One accepted submission and what answers it."""

    id: str
    session_id: str
    submission_id: str
    state: TurnState
    error_code: str
    error: str
    owner: str
    finish_reason: str
    started_at: int
    ended_at: int | None
    detail: JsonObject = field(default_factory=lambda: _EMPTY)


@record
class Item:
    """One visible record. ``text`` is what is stored so far; ``data`` holds kind-specific members."""

    id: str
    session_id: str
    seq: int
    turn_id: str
    kind: ItemKind
    state: ItemState
    text: str
    data: JsonObject
    parent_item: str
    branch: int
    created_at: int
