"""First execution: a draft becomes a session, once (spec/drafts.md section 6).

Each send runs as a task of its own, so that whoever waits for it may go away without stopping it.
"""

from __future__ import annotations

import asyncio

from drafts import operations
from drafts.cancel import WORKER_SECONDS, cancel
from drafts.capture import Capture, capture
from drafts.operations import PHASE
from drafts.phases import Operation, Phase
from drafts.preparation import validate_frozen
from drafts.reserving import reserve
from drafts.settlement import settle
from drafts.snapshot import read_snapshot
from drafts.watch import busy, settle_free, watch
from drafts.workbench import Workbench
from drafts.worker import carry
from runtime.base.errors import Fault
from runtime.base.handover import JsonObject


class FirstExecution:
    """Capture, submit, and what a person may do with an operation afterwards."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._sends: dict[str, asyncio.Task[Operation]] = {}
        self._unreserved: dict[str, asyncio.Event] = {}
        self._watched: set[str] = set()

    def capture(self, draft_id: str, intent: int = 0) -> Capture:
        """Freeze the draft and lock its editor; synchronous. A second trigger changes nothing.

        Raises :class:`RejectedFault` ``draft_locked``, ``empty_draft``, ``text_unsendable``.
        """
        return capture(self._bench.store, draft_id, intent)

    async def submit(self, captured: Capture) -> Operation:
        """Steps 2 to 8; the operation in the phase that it reached. The same capture is sent once.

        Raises :class:`Fault` only before anything was reserved (the draft is then editable again), or if the
        drafts store cannot be written (the operation is then looked at again by itself).
        """
        request = captured.request_id
        task = self._sends.get(request)
        if task is None:
            self._unreserved[request] = asyncio.Event()
            task = self._bench.tasks.spawn(f"send {request}", self._send(captured))
            self._sends[request] = task
            task.add_done_callback(lambda _: self._forget(request))
        return await asyncio.shield(task)

    async def resume(self, operation_id: str) -> Operation:
        """*Continue*: the same ids, the frozen request. Unchanged if it cannot be resumed (any more).

        Raises :class:`Fault` (``model_unavailable``, ``workspace_unavailable``, ``unknown_snapshot_version`` …);
        the phase is then as it was.
        """
        operation = await self._bench.read(operation_id)
        if not operation.phase.is_resumable:
            return operation
        execution = await validate_frozen(self._bench.gateway, read_snapshot(operation.request))
        task = self._bench.tasks.spawn(f"continue {operation_id}", self._carry(operation, execution))
        return await asyncio.shield(task)

    async def cancel(self, operation_id: str) -> Operation:
        """See :func:`drafts.cancel.cancel`."""
        return await cancel(self._bench, operation_id)

    async def check_again(self, operation_id: str) -> Operation:
        """Look for the receipt of an unknown result. Raises :class:`Fault` if it cannot be looked for."""
        return (await settle_free(self._bench, operation_id)).operation

    async def send_as_new(self, operation_id: str) -> Operation:
        """Give up an unknown result and send the text again, under new ids: a person's explicit choice."""
        operation = await self._bench.read(operation_id)
        draft = await self._bench.store.show(operation.draft_id)
        if draft is None or draft.status != "active":
            return operation
        opened = await self._bench.store.open(draft.key, draft.place)
        abandoned = await self._abandon(operation, blind=False)
        if abandoned.phase is not Phase.ABANDONED:
            return abandoned
        return await self.submit(self.capture(opened.id))

    async def keep_as_draft(self, operation_id: str) -> Operation:
        """Give up an unknown result; the text is editable again. A receipt found now or later still counts."""
        return await self._abandon(await self._bench.read(operation_id), blind=True)

    async def latest(self, draft_id: str) -> Operation | None:
        """The operation that the draft's banner speaks of."""
        return await self._bench.latest(draft_id)

    async def counts(self) -> dict[str, int]:
        """Operations per phase, for ``inkfast doctor``."""
        return await self._bench.database.read(operations.counts)

    async def watch(self) -> int:
        """Begin to look again at all that only time can settle; how many there are.

        Those are unknown results, and what a start could not settle: a store was locked, or the worker of another
        process was at it. Without this their editors would stay locked until the next start.
        """
        found = await self._bench.database.read(operations.unsettled)
        open_ended = [one.id for one in found if not (one.phase.is_editable or one.phase.is_resumable)]
        for operation_id in open_ended:
            self._watch(operation_id)
        return len(open_ended)

    async def barrier(self) -> None:
        """Exit barrier: wait until every send that was triggered has stored its operation or failed."""
        for reserved in list(self._unreserved.values()):
            await reserved.wait()

    async def _send(self, captured: Capture) -> Operation:
        bench = self._bench
        reserved = await reserve(bench, captured)
        self._is_reserved(captured.request_id)
        if isinstance(reserved, Operation):
            return reserved
        operation = reserved.operation
        try:
            if operation.phase is not Phase.RESERVED or self._belongs_elsewhere(operation, captured):
                return operation
            return await self._carry(operation, reserved.execution, WORKER_SECONDS)
        finally:
            reserved.lease.release()

    def _belongs_elsewhere(self, operation: Operation, captured: Capture) -> bool:
        """Rule (e) gave us the operation of an equal request whose own sender is still alive."""
        return operation.request_id != captured.request_id and self._bench.leases.is_held(
            "request", operation.draft_id, operation.request_id
        )

    async def _carry(self, operation: Operation, execution: JsonObject, patience: float = 0.0) -> Operation:
        try:
            reached = await carry(self._bench, operation, execution, patience)
        except Exception:
            self._watch(operation.id)
            raise
        if reached.phase is Phase.DISPATCH_UNKNOWN:
            self._watch(reached.id)
        return reached

    async def _abandon(self, operation: Operation, *, blind: bool) -> Operation:
        """Give up an unknown result after a last look. ``blind``: also if it cannot be looked for."""
        if operation.phase is not Phase.DISPATCH_UNKNOWN:
            return operation
        lease = self._bench.leases.try_acquire("worker", operation.session_id)
        if lease is None:
            raise busy()
        try:
            current = await self._last_look(operation, blind=blind)
            if current.phase is not Phase.DISPATCH_UNKNOWN:
                return current
            return await self._bench.move_or_read(PHASE, current, Phase.ABANDONED)
        finally:
            lease.release()

    async def _last_look(self, operation: Operation, *, blind: bool) -> Operation:
        try:
            return (await settle(self._bench, operation)).operation
        except Fault:
            if not blind:
                raise
            return operation

    def _watch(self, operation_id: str) -> None:
        if operation_id in self._watched:
            return
        self._watched.add(operation_id)
        task = self._bench.tasks.spawn(f"watch {operation_id}", watch(self._bench, operation_id))
        task.add_done_callback(lambda _: self._watched.discard(operation_id))

    def _is_reserved(self, request_id: str) -> None:
        reserved = self._unreserved.pop(request_id, None)
        if reserved is not None:
            reserved.set()

    def _forget(self, request_id: str) -> None:
        self._sends.pop(request_id, None)
        self._is_reserved(request_id)
