"""Look again, for a while, at an operation whose result could not be told. Reads receipts, dispatches nothing."""

from __future__ import annotations

import logging

from drafts.phases import Operation, Phase
from drafts.settlement import Outcome, Settled, settle
from drafts.workbench import Workbench
from runtime.base.errors import EnvironmentFault, Fault

log = logging.getLogger(__name__)
DELAYS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 60.0, 60.0, 60.0)
"""Seconds between looks: five minutes in all, then only *Check again* and the next start look."""


async def settle_free(bench: Workbench, operation_id: str) -> Settled:
    """Settle an operation unless somebody works on it right now. Raises :class:`Fault` as :func:`settle` does."""
    operation = await bench.read(operation_id)
    if bench.leases.is_held("request", operation.draft_id, operation.request_id):
        return Settled(operation, Outcome.BUSY)
    lease = bench.leases.try_acquire("worker", operation.session_id)
    if lease is None:
        return Settled(operation, Outcome.BUSY)
    try:
        return await settle(bench, await bench.read(operation_id))
    finally:
        lease.release()


async def watch(bench: Workbench, operation_id: str) -> Operation | None:
    """Look at growing intervals until the operation is no longer unknown; None when the looks are used up.

    A fault of the stores only costs one look: the operation is not worse than it was.
    """
    for seconds in DELAYS:
        await bench.clock.sleep(seconds)
        try:
            settled = await settle_free(bench, operation_id)
        except Fault as fault:
            log.info("an operation cannot be settled yet", extra={"operation": operation_id, "code": fault.code})
            continue
        if settled.outcome is not Outcome.BUSY and settled.operation.phase is not Phase.DISPATCH_UNKNOWN:
            return settled.operation
    return None


def busy() -> EnvironmentFault:
    """Somebody else is at work on this operation."""
    return EnvironmentFault("lease_unavailable", "another worker has the operation")
