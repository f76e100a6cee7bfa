"""What a person does around a send between two kills. The gateway writes what it was handed to a ledger."""

from __future__ import annotations

from drafts.model import DraftKey
from drafts.phases import Phase
from runtime.base.clock import SystemClock
from runtime.base.errors import EnvironmentFault
from runtime.base.folder import DataFolder
from tests.crash.harness import painted
from tests.fakes.desk import Desk, open_desk
from tests.fakes.gateway import FakeGateway

LEDGER = "ledger.jsonl"
TEXT = "né plan 👋\n"
SESSION = DraftKey.session("ses-1")


def gateway(folder: DataFolder) -> FakeGateway:
    """A gateway that remembers the receipts of killed processes."""
    return FakeGateway(ledger=folder.root / LEDGER)


async def desk_of(folder: DataFolder, sessions: FakeGateway) -> Desk:
    return await open_desk(folder, sessions, SystemClock())


async def send(folder: DataFolder) -> None:
    """Type and send."""
    await _send(folder, gateway(folder))


async def die_handed_over(folder: DataFolder) -> None:
    """The process ends between the hand-over and the receipt."""
    sessions = gateway(folder)
    sessions.dies_at = "handed_over"
    await _send(folder, sessions)


async def die_receipt_written(folder: DataFolder) -> None:
    """The process ends after the receipt, before anyone heard of it."""
    sessions = gateway(folder)
    sessions.dies_at = "receipt_written"
    await _send(folder, sessions)


async def fail_continue_cancel(folder: DataFolder) -> None:
    """A host that does not start, once more, then cancelled, then sent again."""
    sessions = gateway(folder)
    sessions.fail["start"] = EnvironmentFault("engine_failed")
    desk = await desk_of(folder, sessions)
    failed = await desk.sent(TEXT)
    await desk.first.resume(failed.id)
    await desk.first.cancel(failed.id)
    sessions.fail.clear()
    await desk.sent()
    await desk.close()


async def unknown_then_new(folder: DataFolder) -> None:
    """An answer without a receipt; the person sends again as new."""
    sessions = gateway(folder)
    sessions.forgets = True
    desk = await desk_of(folder, sessions)
    unknown = await desk.sent(TEXT)
    sessions.forgets = False
    await desk.first.send_as_new(unknown.id)
    await desk.close()


async def follow_up(folder: DataFolder) -> None:
    """A follow-up of a formal session."""
    desk = await desk_of(folder, gateway(folder))
    draft = await desk.draft(TEXT, SESSION)
    result = await desk.follow_up.send(draft.id)
    painted(result.outcome)
    await desk.close()


async def look(folder: DataFolder) -> None:
    """Start: fold the journals, let the receipts decide, recover; start nothing, send nothing."""
    desk = await desk_of(folder, gateway(folder))
    await desk.store.recover_journals()
    for summary in await desk.store.summaries():
        await desk.store.open(summary.key, summary.place)
    await desk.follow_up.reconcile()
    await desk.recovery.reconcile()
    painted(({step for step, _ in desk.gateway.calls} & {"start", "publish", "admit"} and "acted") or "inert")
    await desk.close()


async def go_on(folder: DataFolder) -> None:
    """After a recovery: continue what can be continued, send what can be sent."""
    desk = await desk_of(folder, gateway(folder))
    for summary in await desk.store.summaries():
        operation = await desk.first.latest(summary.id)
        if operation is not None and operation.phase.is_resumable:
            await desk.first.resume(operation.id)
        elif operation is None or operation.phase.is_editable:
            draft = await desk.store.open(summary.key, summary.place)
            await desk.first.submit(desk.first.capture(draft.id))
        elif operation.phase is Phase.DISPATCH_UNKNOWN:
            await desk.first.check_again(operation.id)
    await desk.close()


async def _send(folder: DataFolder, sessions: FakeGateway) -> None:
    desk = await desk_of(folder, sessions)
    operation = await desk.sent(TEXT)
    painted(operation.phase.value)
    await desk.close()
