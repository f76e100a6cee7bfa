"""Steps 2 to 5 of first execution as one: from a capture to an operation that is stored, or to an editable draft."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from drafts import operations
from drafts.begin import BeginRequest, begin
from drafts.capture import Capture
from drafts.operations import RESERVE
from drafts.phases import Operation
from drafts.preparation import Prepared, prepare
from drafts.watch import busy
from drafts.workbench import Workbench
from runtime.base.errors import EnvironmentFault, Fault
from runtime.base.handover import JsonObject
from runtime.storage.leases import Lease

log = logging.getLogger(__name__)
REQUEST_SECONDS = 5.0
READ_AGAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Reserved:
    """A stored operation and its payload. ``lease`` is the request lease: held until the send has ended."""

    operation: Operation
    execution: JsonObject
    lease: Lease


async def reserve(bench: Workbench, captured: Capture) -> Reserved | Operation:
    """Reserve the operation of this capture; an operation of an earlier try of the same request comes back alone.

    Raises :class:`Fault` if nothing was reserved: the editor is then free again, unless another operation
    holds the draft.
    """
    try:
        earlier = await _by_request(bench, captured.draft_id, captured.request_id)
        if earlier is not None:
            return earlier
        prepared = await prepare(bench.store, bench.gateway, captured)
        lease = await bench.leases.acquire(
            "request", prepared.request.draft_id, captured.request_id, seconds=REQUEST_SECONDS
        )
        if lease is None:
            raise busy()
    except BaseException:
        await _give_back(bench, captured.draft_id)
        raise
    return await _reserve(bench, prepared, lease)


async def _reserve(bench: Workbench, prepared: Prepared, lease: Lease) -> Reserved:
    try:
        operation = await _begin(bench, prepared.request)
    except Fault:
        lease.release()
        await _give_back(bench, prepared.request.draft_id)
        raise
    except BaseException:  # a bug or the end of the program: whether it is stored is for recovery to read
        lease.release()
        raise
    reused = operation.request_id != prepared.request.snapshot.request_id
    log.info("operation reserved", extra={"operation": operation.id, "outcome": "reused" if reused else "new"})
    bench.announce(operation)
    return Reserved(operation, prepared.execution, lease)


async def _begin(bench: Workbench, request: BeginRequest) -> Operation:
    """Begin in one transaction; a lost answer is settled by reading, and nothing new is allocated until then."""
    now = bench.clock.now_ms()
    try:
        return await bench.database.run(RESERVE, lambda c: begin(c, request, now))
    except (EnvironmentFault, OSError) as error:
        found = await _read_until_known(bench, request)
        if found is not None:
            return found
        if isinstance(error, Fault):
            raise
        raise EnvironmentFault("io_error", type(error).__name__) from error


async def _read_until_known(bench: Workbench, request: BeginRequest) -> Operation | None:
    while True:
        try:
            return await _by_request(bench, request.draft_id, request.snapshot.request_id)
        except EnvironmentFault as fault:
            log.info("a lost answer cannot be settled yet", extra={"draft": request.draft_id, "code": fault.code})
            await bench.clock.sleep(READ_AGAIN_SECONDS)


async def _by_request(bench: Workbench, draft_id: str, request_id: str) -> Operation | None:
    return await bench.database.read(lambda c: operations.by_request(c, draft_id, request_id))


async def _give_back(bench: Workbench, draft_id: str) -> None:
    """Free the editor, unless an operation holds the draft; if that cannot be read, saving will tell."""
    try:
        await bench.release(draft_id)
    except EnvironmentFault:
        bench.free(draft_id)
