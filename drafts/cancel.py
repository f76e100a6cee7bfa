"""Cancel, keyed by operation id, under the publication lease (spec/drafts.md section 6, "Cancel").

It never claims "not sent": what the receipt proves is what the operation becomes. Repeating it is harmless.
"""

from __future__ import annotations

from drafts.operations import PHASE
from drafts.phases import Operation, Phase
from drafts.settlement import settle
from drafts.watch import busy
from drafts.workbench import PUBLICATION_SECONDS, Workbench

WORKER_SECONDS = 5.0
"""How long the caller waits for the worker to stop; after that the worker itself ends the operation."""


async def cancel(bench: Workbench, operation_id: str) -> Operation:
    """Cancel before dispatch, or the turn of what was accepted; the operation as it then is.

    ``cancel_requested`` means that a worker has not stopped yet and will settle it. Raises
    :class:`EnvironmentFault` ``lease_unavailable`` if the hand-over takes longer than five seconds.
    """
    operation = await _request(bench, operation_id)
    if operation.phase is not Phase.CANCEL_REQUESTED:
        return operation
    worker = await bench.leases.acquire("worker", operation.session_id, seconds=WORKER_SECONDS)
    if worker is None:
        return await bench.read(operation_id)
    try:
        current = await bench.read(operation_id)
        return (await settle(bench, current)).operation if current.phase is Phase.CANCEL_REQUESTED else current
    finally:
        worker.release()


async def _request(bench: Workbench, operation_id: str) -> Operation:
    """Record the wish, or cancel the turn of an accepted operation."""
    lease = await bench.leases.acquire("publication", operation_id, seconds=PUBLICATION_SECONDS)
    if lease is None:
        raise busy()
    try:
        operation = await bench.read(operation_id)
        while operation.phase is not Phase.CANCEL_REQUESTED:
            if operation.phase is Phase.ACCEPTED:
                await bench.gateway.cancel_turn(operation.session_id, operation.submission_id)
                return operation
            if operation.phase.is_editable:
                return operation
            operation = await bench.move_or_read(PHASE, operation, Phase.CANCEL_REQUESTED)
        return operation
    finally:
        lease.release()
