"""Steps 6 to 8 of first execution, by whoever holds the worker lease: start, hand over once, accept.

Every way out is a phase. Only a :class:`RejectedFault` of admission proves that nothing was admitted; whatever
else goes wrong after the hand-over leaves the result unknown, and nothing here tries twice.
"""

from __future__ import annotations

import logging

from drafts.attempt import Failed, attempt
from drafts.gateway import StartedHost
from drafts.operations import DISPATCHING, PHASE, STARTING, Change
from drafts.phases import Operation, Phase
from drafts.settlement import GONE, look, settle
from drafts.workbench import PUBLICATION_SECONDS, Workbench, reservation
from runtime.base import failpoints
from runtime.base.handover import JsonObject, SessionPresence, Submission
from runtime.storage.leases import Lease

log = logging.getLogger(__name__)
BEFORE_ADMIT = failpoints.declare("submission.before_admit", "handed over or not: unknown, and never replayed")
AFTER_ADMIT = failpoints.declare("submission.after_admit", "the receipt decides, and nothing is admitted again")


async def carry(bench: Workbench, operation: Operation, execution: JsonObject, patience: float = 0.0) -> Operation:
    """Take a reserved or resumable operation as far as it goes; unchanged if another worker keeps it.

    ``patience`` is how many seconds it waits for that: the worker of an operation that has just ended may still hold
    the session, and a send that comes right then must not stay reserved with nobody at work on it.

    Raises :class:`Fault` only if the drafts store itself cannot be written; the operation then waits for
    :func:`drafts.watch.watch`.
    """
    lease = await bench.leases.acquire("worker", operation.session_id, seconds=patience)
    if lease is None:
        return await bench.read(operation.id)
    try:
        reached = await _carry(bench, operation, execution)
        if reached.phase is Phase.CANCEL_REQUESTED:
            reached = (await settle(bench, reached)).operation
        return reached
    finally:
        lease.release()


async def _carry(bench: Workbench, operation: Operation, execution: JsonObject) -> Operation:
    starting = await bench.move(STARTING, operation, Phase.STARTING)
    if starting is None:
        return await bench.read(operation.id)
    host = await _start(bench, starting)
    if isinstance(host, Operation):
        return host
    published = False
    lease: Lease | None = None
    try:
        lease = await bench.leases.acquire("publication", operation.id, seconds=PUBLICATION_SECONDS)
        if lease is None:
            change = Change("lease_unavailable", "the publication lease is held")
            return await bench.move_or_read(PHASE, starting, Phase.RESUME_REQUIRED, change)
        reached = await _publish(bench, starting, host, execution)
        published = reached.phase.is_dispatching
        return await _admit(bench, reached, execution) if published else reached
    finally:
        if lease is not None:
            lease.release()
        if not published:
            await host.close()


async def _start(bench: Workbench, starting: Operation) -> StartedHost | Operation:
    """The started host, or the operation in the phase that its failure means; the identities are kept."""
    presence = await attempt("presence", bench.gateway.presence(starting.session_id), "host_unavailable")
    if isinstance(presence, SessionPresence) and presence in GONE:
        change = Change(f"session_{presence.value}")
        return await bench.move_or_read(PHASE, starting, Phase.TERMINAL_FAILED, change)
    started = (
        presence
        if isinstance(presence, Failed)
        else await attempt("start", _created_and_started(bench, starting), "host_unavailable")
    )
    if isinstance(started, Failed):
        return await bench.move_or_read(PHASE, starting, Phase.RUNTIME_FAILED, _change(started))
    return started


async def _created_and_started(bench: Workbench, starting: Operation) -> StartedHost:
    held, began = reservation(starting), bench.clock.monotonic()
    await bench.gateway.create(held)
    _took("session_created", bench, starting, began)
    began = bench.clock.monotonic()
    started = await bench.gateway.start(held)
    _took("host_ready", bench, starting, began)
    return started


async def _publish(bench: Workbench, starting: Operation, host: StartedHost, execution: JsonObject) -> Operation:
    """Under the publication lease: publish, unless the operation was cancelled meanwhile, and mark the dispatch."""
    current = await bench.read(starting.id)
    if (current.phase, current.operation_revision) != (starting.phase, starting.operation_revision):
        return current
    failed = await attempt("publish", bench.gateway.publish(host), "host_unavailable")
    if isinstance(failed, Failed):
        return await bench.move_or_read(PHASE, starting, Phase.RUNTIME_FAILED, _change(failed))
    shell = execution.get("kind") == "shell"
    target = Phase.DISPATCHING_SHELL if shell else Phase.DISPATCHING
    return await bench.move_or_read(DISPATCHING, starting, target, Change(execution=execution))


async def _admit(bench: Workbench, dispatching: Operation, execution: JsonObject) -> Operation:
    """Hand over, once. An answer is not a receipt: only the durable one counts."""
    submission = Submission(dispatching.submission_id, dispatching.session_id, dispatching.fingerprint, execution)
    failpoints.hit(BEFORE_ADMIT)
    began = bench.clock.monotonic()
    answer = await attempt("admit", bench.gateway.admit(submission), "outcome_unknown")
    if isinstance(answer, Failed) and not answer.refused:
        return await bench.move_or_read(PHASE, dispatching, Phase.DISPATCH_UNKNOWN, _change(answer))
    if isinstance(answer, Failed):
        _, receipt = await look(bench, dispatching)  # a refusal after the receipt would refuse something else
        if receipt is None:
            return await bench.move_or_read(PHASE, dispatching, Phase.TERMINAL_FAILED, _change(answer))
    failpoints.hit(AFTER_ADMIT)
    reached = (await settle(bench, dispatching)).operation
    if reached.phase is Phase.ACCEPTED:
        _took("accepted", bench, dispatching, began)
    return reached


def _took(step: str, bench: Workbench, operation: Operation, began: float) -> None:
    """Ids and milliseconds, nothing of the text (spec/drafts.md section 11)."""
    spent = round(1000 * (bench.clock.monotonic() - began))
    log.info(
        "operation step done",
        extra={"operation": operation.id, "session": operation.session_id, "step": step, "ms": spent},
    )


def _change(failed: Failed) -> Change:
    return Change(failed.code, failed.message)
