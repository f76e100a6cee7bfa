"""The recovery table, row by row, and that three runs give what one gives."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from drafts.events import DraftConverted, OperationChanged
from drafts.operations import RECEIPT_FOUND
from drafts.phases import Operation, Phase
from drafts.settlement import Outcome
from runtime.base.errors import EnvironmentFault
from runtime.base.folder import DataFolder
from runtime.base.handover import SessionPresence
from tests.fakes.clock import FakeClock
from tests.fakes.desk import Desk, desk_at, open_desk
from tests.fakes.gateway import FakeGateway

D = Phase.DISPATCHING
MARKED = [(Phase.STARTING, D), (Phase.STARTING, Phase.DISPATCHING_SHELL)]
UNKNOWN = (Phase.STARTING, D, Phase.DISPATCH_UNKNOWN)
STARTS_NOTHING = {"start", "publish", "admit", "expand", "resolve_model"}


@pytest.fixture
async def desk(data_folder: DataFolder) -> AsyncIterator[Desk]:
    async with desk_at(data_folder) as opened:
        yield opened


def receive(desk: Desk, operation: Operation) -> None:
    desk.gateway.receive(operation.submission_id, operation.session_id, operation.fingerprint)


async def reconciled(desk: Desk, operation: Operation) -> tuple[Operation, Outcome]:
    """After the first of three runs; the second and the third change nothing. Nothing is started or dispatched."""
    before = len(desk.gateway.calls)
    report = await desk.recovery.reconcile()
    first = await desk.bench.read(operation.id)
    status = await desk.status(operation.draft_id)
    for _ in range(2):
        await desk.recovery.reconcile()
        assert await desk.bench.read(operation.id) == first
        assert await desk.status(operation.draft_id) == status
    assert not {step for step, _ in desk.gateway.calls[before:]} & STARTS_NOTHING
    outcomes = [settled.outcome for settled in report.settled if settled.operation.id == operation.id]
    assert sum(report.counts.values()) == len(report.settled)
    return first, outcomes[0]


async def test_without_an_operation_the_draft_is_editable(desk: Desk) -> None:
    draft = await desk.draft("plan")
    assert (await desk.recovery.reconcile()).settled == ()
    assert desk.is_editable(draft.id)
    assert desk.gateway.calls == []


@pytest.mark.parametrize("path", [(), (Phase.STARTING,)])
async def test_reserved_or_starting_with_a_free_lease_can_be_continued_with_the_same_ids(
    desk: Desk, path: tuple[Phase, ...]
) -> None:
    operation = await desk.reserved("plan", *path)
    found, outcome = await reconciled(desk, operation)
    assert (found.phase, outcome) == (Phase.RESUME_REQUIRED, Outcome.RESUME_REQUIRED)
    assert not desk.is_editable(operation.draft_id)
    resumed = await desk.first.resume(operation.id)
    assert (resumed.phase, resumed.session_id, resumed.submission_id) == (
        Phase.ACCEPTED,
        operation.session_id,
        operation.submission_id,
    )


@pytest.mark.parametrize("path", [(), (Phase.STARTING,), (Phase.RESUME_REQUIRED,)])
async def test_a_session_that_exists_unbound_is_bound_to_the_recorded_workspace(
    desk: Desk, path: tuple[Phase, ...]
) -> None:
    operation = await desk.reserved("plan", *path)
    desk.gateway.sessions[operation.session_id] = SessionPresence.UNBOUND
    found, _ = await reconciled(desk, operation)
    assert found.phase is Phase.RESUME_REQUIRED
    assert [(made.session_id, made.place.workspace_id) for made in desk.gateway.reservations] == [
        (operation.session_id, "global")
    ]


async def test_a_session_that_cannot_be_bound_says_why_and_can_be_continued(desk: Desk) -> None:
    operation = await desk.reserved("plan")
    desk.gateway.sessions[operation.session_id] = SessionPresence.UNBOUND
    desk.gateway.fail["create"] = EnvironmentFault("workspace_unavailable")
    found, _ = await reconciled(desk, operation)
    assert (found.phase, found.error_code) == (Phase.RESUME_REQUIRED, "workspace_unavailable")


async def test_a_failed_host_start_stays_and_its_retry_has_the_same_session(desk: Desk) -> None:
    desk.gateway.fail["start"] = EnvironmentFault("engine_failed")
    operation = await desk.sent()
    desk.gateway.fail.clear()
    found, outcome = await reconciled(desk, operation)
    assert (found, outcome) == (operation, Outcome.UNCHANGED)
    assert (await desk.first.resume(operation.id)).session_id == operation.session_id


@pytest.mark.parametrize("path", [*MARKED, UNKNOWN])
async def test_a_dispatch_with_a_receipt_is_accepted_and_converted_together(
    desk: Desk, path: tuple[Phase, ...]
) -> None:
    operation = await desk.reserved("plan", *path)
    receive(desk, operation)
    found, outcome = await reconciled(desk, operation)
    assert (found.phase, outcome) == (Phase.ACCEPTED, Outcome.ACCEPTED)
    assert await desk.status(operation.draft_id) == "converted"
    assert [e.session_id for e in desk.events if isinstance(e, DraftConverted)] == [operation.session_id]


@pytest.mark.parametrize("path", MARKED)
async def test_S04_a_dispatch_without_a_receipt_is_unknown_and_never_replayed(
    desk: Desk, path: tuple[Phase, ...]
) -> None:
    operation = await desk.reserved("plan", *path)
    found, outcome = await reconciled(desk, operation)
    assert (found.phase, outcome) == (Phase.DISPATCH_UNKNOWN, Outcome.DISPATCH_UNKNOWN)
    assert await desk.first.watch() == 1
    assert (await desk.first.resume(operation.id)).phase is Phase.DISPATCH_UNKNOWN
    assert desk.gateway.admissions() == []
    again = await desk.first.send_as_new(operation.id)
    assert again.id != operation.id
    assert desk.gateway.admissions() == [again.submission_id]


async def test_a_dispatch_whose_receipt_cannot_be_read_is_unknown(desk: Desk) -> None:
    operation = await desk.reserved("plan", *MARKED[0])
    desk.gateway.fail["find_receipt"] = EnvironmentFault("unknown_receipt_version")
    found, _ = await reconciled(desk, operation)
    assert (found.phase, found.error_code) == (Phase.DISPATCH_UNKNOWN, "unknown_receipt_version")


async def test_an_unknown_one_without_a_receipt_stays_and_stays_locked(desk: Desk) -> None:
    operation = await desk.reserved("plan", *UNKNOWN)
    found, outcome = await reconciled(desk, operation)
    assert (found, outcome) == (operation, Outcome.UNCHANGED)
    assert not desk.is_editable(operation.draft_id)


async def test_an_accepted_one_whose_draft_is_active_only_finishes_the_conversion(desk: Desk) -> None:
    operation = await desk.reserved("plan", *MARKED[0], Phase.ACCEPTED)
    assert await desk.status(operation.draft_id) == "active"
    found, outcome = await reconciled(desk, operation)
    assert (found, outcome) == (operation, Outcome.ACCEPTED)
    assert await desk.status(operation.draft_id) == "converted"


GONE = [SessionPresence.ARCHIVED, SessionPresence.TRASHED, SessionPresence.ERASED]


@pytest.mark.parametrize("presence", GONE)
@pytest.mark.parametrize("path", [(), (Phase.STARTING,), (Phase.RESUME_REQUIRED,)])
async def test_a_session_that_went_away_before_dispatch_is_reported_and_the_text_is_given_back(
    desk: Desk, presence: SessionPresence, path: tuple[Phase, ...]
) -> None:
    operation = await desk.reserved("plan", *path)
    desk.gateway.sessions[operation.session_id] = presence
    found, outcome = await reconciled(desk, operation)
    assert (found.phase, found.error_code) == (Phase.TERMINAL_FAILED, f"session_{presence.value}")
    assert outcome is Outcome.LIFECYCLE_CONFLICT
    assert desk.is_editable(operation.draft_id)
    assert desk.gateway.reservations == []


@pytest.mark.parametrize("presence", GONE)
async def test_a_session_that_went_away_after_dispatch_leaves_the_result_unknown_and_says_so(
    desk: Desk, presence: SessionPresence
) -> None:
    operation = await desk.reserved("plan", *MARKED[0])
    desk.gateway.sessions[operation.session_id] = presence
    found, _ = await reconciled(desk, operation)
    assert (found.phase, found.error_code) == (Phase.DISPATCH_UNKNOWN, f"session_{presence.value}")
    again = await desk.recovery.reconcile()
    assert again.settled[0].outcome is Outcome.LIFECYCLE_CONFLICT


@pytest.mark.parametrize(
    ("path", "receipt", "phase"),
    [
        ((Phase.CANCEL_REQUESTED,), False, Phase.CANCELLED),
        ((Phase.STARTING, Phase.CANCEL_REQUESTED), False, Phase.CANCELLED),
        ((*MARKED[0], Phase.CANCEL_REQUESTED), False, Phase.DISPATCH_UNKNOWN),
        ((*MARKED[0], Phase.CANCEL_REQUESTED), True, Phase.ACCEPTED),
    ],
)
async def test_a_cancel_that_was_asked_for_ends_as_the_receipt_proves(
    desk: Desk, path: tuple[Phase, ...], receipt: bool, phase: Phase
) -> None:
    operation = await desk.reserved("plan", *path)
    if receipt:
        receive(desk, operation)
    found, _ = await reconciled(desk, operation)
    assert found.phase is phase
    assert desk.gateway.count("cancel_turn") == (1 if receipt else 0)
    assert await desk.status(operation.draft_id) == ("converted" if receipt else "active")


async def test_an_abandoned_one_with_a_late_receipt_is_shown_and_its_draft_is_left_alone(desk: Desk) -> None:
    operation = await desk.reserved("plan", *UNKNOWN, Phase.ABANDONED)
    draft = await desk.draft(" and more")
    receive(desk, operation)
    desk.events.clear()
    found, outcome = await reconciled(desk, operation)
    assert (found.phase, found.error_code, outcome) == (Phase.ABANDONED, RECEIPT_FOUND, Outcome.LATE_RECEIPT)
    assert (draft.text, desk.is_editable(draft.id)) == ("plan and more", True)
    assert [e.operation for e in desk.events if isinstance(e, OperationChanged)] == [found]


@pytest.mark.parametrize("kind", ["worker", "request"])
async def test_an_operation_with_a_live_worker_is_left_to_it(desk: Desk, data_folder: DataFolder, kind: str) -> None:
    operation = await desk.reserved("plan", Phase.STARTING)
    async with desk_at(data_folder) as other:
        book = other.bench.leases
        lease = (
            book.try_acquire("worker", operation.session_id)
            if kind == "worker"
            else book.try_acquire("request", operation.draft_id, operation.request_id)
        )
        assert lease is not None
        report = await desk.recovery.reconcile()
        assert [settled.outcome for settled in report.settled] == [Outcome.BUSY]
        assert await desk.bench.read(operation.id) == operation
        lease.release()
    assert (await desk.recovery.reconcile()).counts == {"resume_required": 1}


async def test_one_that_cannot_be_settled_does_not_stop_the_others(desk: Desk) -> None:
    operation = await desk.reserved("plan")
    desk.gateway.fail["presence"] = EnvironmentFault("database_locked")
    report = await desk.recovery.reconcile()
    assert [(s.outcome, s.code) for s in report.settled] == [(Outcome.FAILED, "database_locked")]
    assert await desk.bench.read(operation.id) == operation
    assert not desk.is_editable(operation.draft_id)


async def test_a_second_process_recovers_what_the_first_left(data_folder: DataFolder) -> None:
    gateway = FakeGateway(forgets=True)
    async with desk_at(data_folder, gateway) as first:
        operation = await first.reserved("plan", *MARKED[0])
    async with desk_at(data_folder, gateway) as second:
        draft = await second.draft()
        await second.recovery.reconcile()
        assert (draft.text, draft.locked) == ("plan", "dispatch_unknown")
        assert (await second.bench.read(operation.id)).phase is Phase.DISPATCH_UNKNOWN


async def test_a_draft_that_is_opened_later_is_locked_by_its_operation_at_once(data_folder: DataFolder) -> None:
    async with desk_at(data_folder) as first:
        operation = await first.reserved("plan", *UNKNOWN)
    async with desk_at(data_folder) as second:
        draft = await second.draft()
        assert (draft.text, draft.locked) == ("plan", "dispatch_unknown")
        await second.first.keep_as_draft(operation.id)
        assert second.is_editable(draft.id)


@pytest.mark.parametrize("path", [(), MARKED[0], (Phase.CANCEL_REQUESTED,)])
async def test_what_could_not_be_settled_at_the_start_is_looked_at_again_by_itself(
    data_folder: DataFolder, clock: FakeClock, path: tuple[Phase, ...]
) -> None:
    """A store that is locked for a moment must not lock an editor until the next start."""
    desk = await open_desk(data_folder, clock=clock)
    operation = await desk.reserved("plan", *path)
    desk.gateway.fail = {step: EnvironmentFault("database_locked") for step in ("presence", "find_receipt")}
    await desk.recovery.reconcile()
    desk.gateway.fail.clear()
    await desk.first.watch()
    await clock.advance(1.0)
    for _read in range(10):
        await desk.bench.read(operation.id)
    found = await desk.bench.read(operation.id)
    expected = {(): Phase.RESUME_REQUIRED, (Phase.CANCEL_REQUESTED,): Phase.CANCELLED}
    assert found.phase is expected.get(path, Phase.DISPATCH_UNKNOWN)
    assert desk.gateway.admissions() == []
    await desk.close()
    assert desk.bugs == []
