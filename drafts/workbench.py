"""What every part of first execution works with, and the one way in which it changes an operation."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from drafts import operations
from drafts.events import DraftConverted, OperationChanged
from drafts.gateway import SessionGateway
from drafts.operations import ACCEPT, PHASE, Change
from drafts.phases import Operation, Phase
from drafts.records import settings_object
from drafts.snapshot import Snapshot, read_snapshot
from drafts.store import DraftStore
from runtime.base.clock import Clock
from runtime.base.errors import EnvironmentFault, Fault
from runtime.base.failpoints import Step
from runtime.base.handover import Receipt, Reservation
from runtime.base.tasks import TaskSupervisor
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook

log = logging.getLogger(__name__)
PUBLICATION_SECONDS = 5.0
_TITLE_CHARACTERS = 200
_PLAIN = Change()


@dataclass(frozen=True, slots=True)
class Workbench:
    """The collaborators of first execution. Every phase change is committed, then shown, then published."""

    store: DraftStore
    database: Database
    gateway: SessionGateway
    leases: LeaseBook
    clock: Clock
    tasks: TaskSupervisor

    async def read(self, operation_id: str) -> Operation:
        """The operation as it is stored now."""
        return await self.database.read(lambda c: operations.read(c, operation_id))

    async def latest(self, draft_id: str) -> Operation | None:
        """The newest operation of a draft."""
        return await self.database.read(lambda c: operations.latest(c, draft_id))

    async def move(self, step: Step, seen: Operation, target: Phase, change: Change = _PLAIN) -> Operation | None:
        """Compare-and-swap and announce; None if the operation has moved on meanwhile."""
        now = self.clock.now_ms()
        return await self.database.run(step, lambda c: operations.move(c, seen, target, now, change), self._moved)

    async def move_or_read(self, step: Step, seen: Operation, target: Phase, change: Change = _PLAIN) -> Operation:
        """:meth:`move`, or the operation as somebody else has left it."""
        moved = await self.move(step, seen, target, change)
        return await self.read(seen.id) if moved is None else moved

    async def accept(self, operation_id: str) -> Operation:
        """Accept, convert and clear the restore slot in one transaction. The receipt must be durable."""
        now = self.clock.now_ms()
        operation, draft = await self.database.run(ACCEPT, lambda c: operations.accept_convert(c, operation_id, now))
        if draft is not None:
            await self._let_go(draft.id)
        self.announce(operation)
        if draft is not None:
            self.store.publish(DraftConverted(draft.id, draft.key, operation.session_id, operation.id))
        return operation

    async def _let_go(self, draft_id: str) -> None:
        """Forget the text of a converted draft; the next draft of its key takes its place."""
        if self.store.by_id(draft_id) is None:
            return
        try:
            await self.store.reload(draft_id)
        except Fault as fault:
            log.info("a converted draft is still open", extra={"draft": draft_id, "code": fault.code})

    async def note_receipt(self, seen: Operation) -> Operation:
        """Record that an abandoned operation was executed after all; the draft is left alone."""
        now = self.clock.now_ms()
        noted = await self.database.run(PHASE, lambda c: operations.note_receipt(c, seen, now))
        if noted is None:
            return await self.read(seen.id)
        self.store.publish(OperationChanged(noted))
        return noted

    def _moved(self, moved: Operation | None) -> None:
        if moved is not None:
            self.announce(moved)

    def announce(self, operation: Operation) -> None:
        """Lock or free the open draft as the phase says and tell everyone who listens."""
        log.info(
            "operation changed",
            extra={
                "operation": operation.id,
                "draft": operation.draft_id,
                "session": operation.session_id,
                "phase": operation.phase.value,
                "code": operation.error_code,
            },
        )
        self.hold(operation)
        self.store.publish(OperationChanged(operation))

    def hold(self, operation: Operation) -> None:
        """Make the lock of the open draft agree with its newest operation."""
        if self.store.by_id(operation.draft_id) is None:
            return
        if operation.phase.is_editable:
            self.store.unlock(operation.draft_id)
        else:
            self.store.lock(operation.draft_id, operation.phase.value)

    async def release(self, draft_id: str) -> None:
        """Give the editor back unless an operation (of any process) holds the draft."""
        held = await self.database.read(lambda c: operations.live(c, draft_id))
        if held is not None:
            self.announce(held)
        else:
            self.free(draft_id)

    def free(self, draft_id: str) -> None:
        """Give the editor of an open draft back."""
        if self.store.by_id(draft_id) is not None:
            self.store.unlock(draft_id)

    async def proof(self, operation: Operation) -> Receipt | None:
        """The durable receipt of this operation's submission.

        Raises :class:`Fault` ``unknown_receipt_version``, or ``receipt_mismatch`` if it proves another request.
        """
        receipt = await self.gateway.find_receipt(operation.submission_id)
        if receipt is None:
            return None
        if (receipt.session_id, receipt.fingerprint) != (operation.session_id, operation.fingerprint):
            raise EnvironmentFault("receipt_mismatch")
        return receipt


def reservation(operation: Operation) -> Reservation:
    """The identities of an operation with its frozen settings. Raises as :func:`read_snapshot` does."""
    snapshot = read_snapshot(operation.request)
    return Reservation(
        operation_id=operation.id,
        session_id=operation.session_id,
        topic_id=operation.topic_id,
        submission_id=operation.submission_id,
        place=snapshot.place,
        settings=settings_object(snapshot.settings),
        title_hint=_first_line(snapshot),
    )


def _first_line(snapshot: Snapshot) -> str:
    return snapshot.content.text.strip().partition("\n")[0].strip()[:_TITLE_CHARACTERS]
