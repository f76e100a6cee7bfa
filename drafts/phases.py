"""Phases of an operation and the closed list of allowed transitions (spec/drafts.md section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from runtime.base.handover import JsonObject
from runtime.base.record import record


class Phase(StrEnum):
    """The durable state of one attempt to turn a draft into a session."""

    RESERVED = "reserved"
    STARTING = "starting"
    DISPATCHING = "dispatching"
    DISPATCHING_SHELL = "dispatching_shell"
    DISPATCH_UNKNOWN = "dispatch_unknown"
    ACCEPTED = "accepted"
    RESUME_REQUIRED = "resume_required"
    RUNTIME_FAILED = "runtime_failed"
    TERMINAL_FAILED = "terminal_failed"
    CANCEL_REQUESTED = "cancel_requested"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"

    @property
    def is_editable(self) -> bool:
        """The operation is over without a session: the draft belongs to its writer again."""
        return self in EDITABLE

    @property
    def is_resumable(self) -> bool:
        """*Continue* is offered: stopped before dispatch, identities kept."""
        return self in RESUMABLE

    @property
    def is_dispatching(self) -> bool:
        return self in DISPATCHING


EDITABLE = frozenset({Phase.TERMINAL_FAILED, Phase.CANCELLED, Phase.ABANDONED})
ENDED = EDITABLE | {Phase.ACCEPTED}
RESUMABLE = frozenset({Phase.RESUME_REQUIRED, Phase.RUNTIME_FAILED})
DISPATCHING = frozenset({Phase.DISPATCHING, Phase.DISPATCHING_SHELL})

_HANDED_OVER = frozenset({Phase.ACCEPTED, Phase.TERMINAL_FAILED, Phase.DISPATCH_UNKNOWN, Phase.CANCEL_REQUESTED})
ALLOWED: Mapping[Phase, frozenset[Phase]] = MappingProxyType(
    {
        Phase.RESERVED: frozenset(
            {Phase.STARTING, Phase.RESUME_REQUIRED, Phase.TERMINAL_FAILED, Phase.CANCEL_REQUESTED}
        ),
        Phase.STARTING: frozenset({*DISPATCHING, *RESUMABLE, Phase.TERMINAL_FAILED, Phase.CANCEL_REQUESTED}),
        Phase.DISPATCHING: _HANDED_OVER,
        Phase.DISPATCHING_SHELL: _HANDED_OVER,
        Phase.DISPATCH_UNKNOWN: frozenset({Phase.ACCEPTED, Phase.ABANDONED, Phase.CANCEL_REQUESTED}),
        Phase.RESUME_REQUIRED: frozenset({Phase.STARTING, Phase.TERMINAL_FAILED, Phase.CANCEL_REQUESTED}),
        Phase.RUNTIME_FAILED: frozenset({Phase.STARTING, Phase.TERMINAL_FAILED, Phase.CANCEL_REQUESTED}),
        Phase.CANCEL_REQUESTED: frozenset({Phase.CANCELLED, Phase.ACCEPTED, Phase.DISPATCH_UNKNOWN}),
        Phase.ACCEPTED: frozenset(),
        Phase.TERMINAL_FAILED: frozenset(),
        Phase.CANCELLED: frozenset(),
        Phase.ABANDONED: frozenset(),
    }
)
"""The closed list: from each phase to the phases that may follow. Anything else is a bug."""


@record
class Operation:
    """One row of the operations table. ``request`` is the frozen snapshot, ``execution`` what was sent."""

    id: str
    draft_id: str
    workspace_id: str
    draft_revision: int
    session_id: str
    topic_id: str
    submission_id: str
    fingerprint: str
    request: JsonObject
    execution: JsonObject | None
    phase: Phase
    error_code: str
    error: str
    request_id: str
    source_digest: str
    operation_revision: int
    created_at: int
    updated_at: int
