"""Phases of an operation and the closed list of allowed transitions (spec/drafts.md section 6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from runtime.base.handover import JsonObject


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


@dataclass(frozen=True, slots=True)
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
