"""What becomes of an operation that nobody is working on: the recovery table of spec/drafts.md section 6.

The caller holds the worker lease of the reserved session. Nothing here starts a host or dispatches; settling
twice gives the same result as once.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from drafts import operations
from drafts.operations import PHASE, Change
from drafts.phases import Operation, Phase
from drafts.workbench import Workbench, reservation
from runtime.base.errors import Fault
from runtime.base.handover import Receipt, SessionPresence

GONE = frozenset({SessionPresence.ARCHIVED, SessionPresence.TRASHED, SessionPresence.ERASED})


class Outcome(StrEnum):
    """What settling found, for the banner, the log and the counts of ``inkfast doctor``."""

    UNCHANGED = "unchanged"
    RESUME_REQUIRED = "resume_required"
    ACCEPTED = "accepted"
    DISPATCH_UNKNOWN = "dispatch_unknown"
    CANCELLED = "cancelled"
    LIFECYCLE_CONFLICT = "lifecycle_conflict"
    LATE_RECEIPT = "late_receipt"
    BUSY = "busy"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Settled:
    """One operation after settling. ``code`` says why, if there is more to say than the outcome."""

    operation: Operation
    outcome: Outcome
    code: str = ""


async def settle(bench: Workbench, operation: Operation) -> Settled:
    """Apply the table to one operation. Raises :class:`Fault` if sessions or disk cannot be asked."""
    phase = operation.phase
    if phase in (Phase.RESERVED, Phase.STARTING) or phase.is_resumable:
        return await _before_dispatch(bench, operation)
    if phase.is_dispatching:
        return await _dispatching(bench, operation)
    if phase is Phase.DISPATCH_UNKNOWN:
        return await _unknown(bench, operation)
    if phase is Phase.CANCEL_REQUESTED:
        return await _cancelling(bench, operation)
    if phase is Phase.ACCEPTED:
        return Settled(await bench.accept(operation.id), Outcome.ACCEPTED)
    if phase is Phase.ABANDONED:
        return await _abandoned(bench, operation)
    return Settled(operation, Outcome.UNCHANGED)


async def _before_dispatch(bench: Workbench, operation: Operation) -> Settled:
    presence = await bench.gateway.presence(operation.session_id)
    if presence in GONE:
        return await _end_with_conflict(bench, operation, presence)
    code = await _bind(bench, operation) if presence is SessionPresence.UNBOUND else ""
    if operation.phase.is_resumable:
        bench.hold(operation)
        return Settled(operation, Outcome.UNCHANGED, code)
    moved = await bench.move_or_read(PHASE, operation, Phase.RESUME_REQUIRED, Change(code))
    return Settled(moved, Outcome.RESUME_REQUIRED, code)


async def _bind(bench: Workbench, operation: Operation) -> str:
    """Bind the session that exists to the recorded workspace; the code of what is in the way, if anything."""
    try:
        await bench.gateway.create(reservation(operation))
    except Fault as fault:
        return fault.code
    return ""


async def _end_with_conflict(bench: Workbench, operation: Operation, presence: SessionPresence) -> Settled:
    """It was not dispatched and its session has gone: the text is given back and the reason is told."""
    change = Change(f"session_{presence.value}")
    moved = await bench.move_or_read(PHASE, operation, Phase.TERMINAL_FAILED, change)
    return Settled(moved, Outcome.LIFECYCLE_CONFLICT, change.error_code)


async def _dispatching(bench: Workbench, operation: Operation) -> Settled:
    code, receipt = await look(bench, operation)
    if receipt is not None:
        return Settled(await bench.accept(operation.id), Outcome.ACCEPTED)
    code = code or await _conflict(bench, operation)
    moved = await bench.move_or_read(PHASE, operation, Phase.DISPATCH_UNKNOWN, Change(code))
    return Settled(moved, Outcome.DISPATCH_UNKNOWN, code)


async def _unknown(bench: Workbench, operation: Operation) -> Settled:
    if await bench.proof(operation) is not None:
        return Settled(await bench.accept(operation.id), Outcome.ACCEPTED)
    bench.hold(operation)
    code = await _conflict(bench, operation)
    return Settled(operation, Outcome.LIFECYCLE_CONFLICT if code else Outcome.UNCHANGED, code)


async def _cancelling(bench: Workbench, operation: Operation) -> Settled:
    handed_over = operation.execution is not None
    code, receipt = await look(bench, operation)
    if receipt is not None:  # cancel first: a crash in between leaves the request to cancel standing
        await bench.gateway.cancel_turn(operation.session_id, operation.submission_id)
        return Settled(await bench.accept(operation.id), Outcome.ACCEPTED)
    if handed_over:
        moved = await bench.move_or_read(PHASE, operation, Phase.DISPATCH_UNKNOWN, Change(code))
        return Settled(moved, Outcome.DISPATCH_UNKNOWN, code)
    return Settled(await bench.move_or_read(PHASE, operation, Phase.CANCELLED), Outcome.CANCELLED)


async def _abandoned(bench: Workbench, operation: Operation) -> Settled:
    """Given up, but it was executed after all: noted, so that it is shown and never hidden."""
    if operation.error_code == operations.RECEIPT_FOUND or await bench.proof(operation) is None:
        return Settled(operation, Outcome.UNCHANGED)
    noted = await bench.note_receipt(operation)
    return Settled(noted, Outcome.LATE_RECEIPT)


async def look(bench: Workbench, operation: Operation) -> tuple[str, Receipt | None]:
    """The receipt, or the code of why it cannot be told whether there is one."""
    try:
        return "", await bench.proof(operation)
    except Fault as fault:
        return fault.code, None


async def _conflict(bench: Workbench, operation: Operation) -> str:
    presence = await bench.gateway.presence(operation.session_id)
    return f"session_{presence.value}" if presence in GONE else ""
