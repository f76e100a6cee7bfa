"""Cancel in every phase: what was sent is never claimed to be unsent, and nothing is dispatched afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from drafts.events import DraftEvent, OperationChanged
from drafts.phases import Operation, Phase
from runtime.base.errors import EnvironmentFault
from runtime.base.folder import DataFolder
from tests.fakes.clock import FakeClock
from tests.fakes.desk import Desk, desk_at

D = Phase.DISPATCHING
BEFORE = [
    (),
    (Phase.STARTING,),
    (Phase.RESUME_REQUIRED,),
    (Phase.STARTING, Phase.RUNTIME_FAILED),
    (Phase.CANCEL_REQUESTED,),
]
AFTER = [
    (Phase.STARTING, D),
    (Phase.STARTING, Phase.DISPATCHING_SHELL),
    (Phase.STARTING, D, Phase.DISPATCH_UNKNOWN),
    (Phase.STARTING, D, Phase.CANCEL_REQUESTED),
]


@pytest.fixture
async def desk(data_folder: DataFolder) -> AsyncIterator[Desk]:
    async with desk_at(data_folder) as opened:
        yield opened


async def advance(desk: Desk, seconds: float) -> None:
    clock = desk.bench.clock
    assert isinstance(clock, FakeClock)
    await clock.advance(seconds)


async def sending(desk: Desk, step: str) -> tuple[asyncio.Future[Operation], Operation, asyncio.Event]:
    """A send that is held in ``step`` of the gateway."""
    gate = desk.gateway.hold(step)
    draft = await desk.draft("plan")
    send = asyncio.ensure_future(desk.first.submit(desk.first.capture(draft.id)))
    await desk.gateway.entered[step].wait()
    operation = await desk.first.latest(draft.id)
    assert operation is not None
    return send, operation, gate


@pytest.mark.parametrize("path", BEFORE)
async def test_before_dispatch_it_is_cancelled_and_the_text_is_editable(desk: Desk, path: tuple[Phase, ...]) -> None:
    operation = await desk.reserved("plan", *path)
    cancelled = await desk.first.cancel(operation.id)
    assert cancelled.phase is Phase.CANCELLED
    assert desk.is_editable(operation.draft_id)
    assert await desk.status(operation.draft_id) == "active"
    assert await desk.first.cancel(operation.id) == cancelled
    assert desk.gateway.count("cancel_turn") == 0


@pytest.mark.parametrize("path", AFTER)
async def test_after_the_hand_over_without_a_receipt_it_stays_unknown(desk: Desk, path: tuple[Phase, ...]) -> None:
    operation = await desk.reserved("plan", *path)
    for _ in range(2):
        assert (await desk.first.cancel(operation.id)).phase is Phase.DISPATCH_UNKNOWN
    assert not desk.is_editable(operation.draft_id)


@pytest.mark.parametrize("path", AFTER)
async def test_with_a_receipt_it_is_accepted_converted_and_its_turn_is_cancelled(
    desk: Desk, path: tuple[Phase, ...]
) -> None:
    operation = await desk.reserved("plan", *path)
    desk.gateway.receive(operation.submission_id, operation.session_id, operation.fingerprint)
    assert (await desk.first.cancel(operation.id)).phase is Phase.ACCEPTED
    assert await desk.status(operation.draft_id) == "converted"
    assert desk.gateway.count("cancel_turn") == 1
    assert operation.submission_id in desk.gateway.receipts


async def test_after_acceptance_it_cancels_the_turn_and_keeps_the_receipt(desk: Desk) -> None:
    accepted = await desk.sent()
    for _ in range(2):
        assert await desk.first.cancel(accepted.id) == accepted
    assert desk.gateway.calls[-1] == ("cancel_turn", accepted.submission_id)
    assert accepted.submission_id in desk.gateway.receipts


@pytest.mark.parametrize(
    "path", [(Phase.TERMINAL_FAILED,), (Phase.STARTING, D, Phase.DISPATCH_UNKNOWN, Phase.ABANDONED)]
)
async def test_cancelling_what_is_over_is_harmless(desk: Desk, path: tuple[Phase, ...]) -> None:
    operation = await desk.reserved("plan", *path)
    assert await desk.first.cancel(operation.id) == operation


async def test_a_starting_host_is_closed_unpublished_and_nothing_is_dispatched(desk: Desk) -> None:
    send, operation, gate = await sending(desk, "start")
    cancel = asyncio.ensure_future(desk.first.cancel(operation.id))
    while (await desk.bench.read(operation.id)).phase is not Phase.CANCEL_REQUESTED:
        await asyncio.sleep(0)
    assert not desk.is_editable(operation.draft_id)
    gate.set()
    assert (await send).phase is Phase.CANCELLED
    await advance(desk, 1)
    assert (await cancel).phase is Phase.CANCELLED
    assert ([host.closed for host in desk.gateway.hosts], desk.gateway.published) == ([1], [])
    assert desk.gateway.admissions() == []
    assert desk.is_editable(operation.draft_id)


async def test_a_worker_that_does_not_stop_in_time_ends_the_operation_itself(desk: Desk) -> None:
    send, operation, gate = await sending(desk, "start")
    cancel = asyncio.ensure_future(desk.first.cancel(operation.id))
    while not cancel.done():
        await advance(desk, 1)
        await desk.bench.read(operation.id)
    assert cancel.result().phase is Phase.CANCEL_REQUESTED
    gate.set()
    assert (await send).phase is Phase.CANCELLED
    assert desk.gateway.admissions() == []


async def test_during_the_hand_over_it_waits_for_the_publication_lease(desk: Desk) -> None:
    send, operation, gate = await sending(desk, "admit")
    cancel = asyncio.ensure_future(desk.first.cancel(operation.id))
    await advance(desk, 1)
    assert (await desk.bench.read(operation.id)).phase is Phase.DISPATCHING
    gate.set()
    assert (await send).phase is Phase.ACCEPTED
    while not cancel.done():
        await advance(desk, 1)
        await desk.bench.read(operation.id)
    assert cancel.result().phase is Phase.ACCEPTED
    assert desk.gateway.count("cancel_turn") == 1


async def test_a_hand_over_that_hangs_refuses_the_cancel_after_five_seconds(desk: Desk) -> None:
    send, operation, gate = await sending(desk, "admit")
    cancel = asyncio.ensure_future(desk.first.cancel(operation.id))
    while not cancel.done():
        await advance(desk, 1)
    error = cancel.exception()
    assert isinstance(error, EnvironmentFault)
    assert error.code == "lease_unavailable"
    gate.set()
    await send


async def test_a_cancel_before_the_reservation_was_carried_out_wins(desk: Desk) -> None:
    operation = await desk.reserved("plan")
    await desk.first.cancel(operation.id)
    assert (await desk.first.resume(operation.id)).phase is Phase.CANCELLED
    assert desk.gateway.count("create") == 0
    again = await desk.sent(" b")
    assert (again.phase, again.session_id) == (Phase.ACCEPTED, operation.session_id)


async def test_a_send_right_after_a_cancel_waits_for_the_worker_that_is_still_ending(desk: Desk) -> None:
    cancelled = await desk.first.cancel((await desk.reserved()).id)
    assert cancelled.phase is Phase.CANCELLED
    desk.events.clear()
    ending = desk.bench.leases.try_acquire("worker", cancelled.session_id)
    assert ending is not None
    send = asyncio.ensure_future(desk.first.submit(desk.first.capture(cancelled.draft_id)))
    while Phase.RESERVED not in [operation.phase for operation in map(_operation, desk.events) if operation]:
        await asyncio.sleep(0)
    await desk.first.latest(cancelled.draft_id)  # one more round: the lease was asked for
    ending.release()
    await advance(desk, 1)
    assert (await send).phase is Phase.ACCEPTED


def _operation(event: DraftEvent) -> Operation | None:
    return event.operation if isinstance(event, OperationChanged) else None
