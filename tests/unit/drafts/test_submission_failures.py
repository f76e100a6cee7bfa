"""Every way in which a send can fail, and the phase that it ends in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from drafts.phases import Operation, Phase
from drafts.watch import DELAYS
from runtime.base.errors import EnvironmentFault, Fault, RejectedFault
from runtime.base.folder import DataFolder
from runtime.base.handover import SessionPresence
from runtime.storage.leases import Lease
from runtime.storage.lockfiles import Kind
from tests.fakes.clock import FakeClock
from tests.fakes.desk import Desk, desk_at
from tests.fakes.gateway import FakeGateway


@pytest.fixture
async def desk(data_folder: DataFolder) -> AsyncIterator[Desk]:
    async with desk_at(data_folder) as opened:
        yield opened


async def text_of(desk: Desk, operation: Operation) -> str:
    stored = await desk.store.show(operation.draft_id)
    assert stored is not None
    return stored.content.text


async def advance(desk: Desk, seconds: float) -> None:
    clock = desk.bench.clock
    assert isinstance(clock, FakeClock)
    await clock.advance(seconds)


async def until(desk: Desk, operation: Operation, phase: Phase) -> Operation:
    """Let the watch look, one second at a time, until the operation is in ``phase``."""
    for _ in range(int(sum(DELAYS)) + 1):
        current = await desk.bench.read(operation.id)
        if current.phase is phase:
            return current
        await advance(desk, 1)
        for _ in range(5):
            await desk.bench.read(operation.id)  # the worker has done what the look asked for
    raise AssertionError(f"{current.phase} instead of {phase}")


HOST_FAULTS = [
    EnvironmentFault("engine_failed"),
    RejectedFault("model_missing"),
    Fault("auth_failed"),
    OSError("/p"),
    RuntimeError("text of the draft"),
]


@pytest.mark.logs_warnings
@pytest.mark.parametrize("step", ["presence", "create", "start", "publish"])
@pytest.mark.parametrize("error", HOST_FAULTS)
async def test_a_host_that_does_not_start_keeps_the_identities_for_a_retry(
    desk: Desk, step: str, error: Exception
) -> None:
    desk.gateway.fail[step] = error
    failed = await desk.sent()
    assert failed.phase is Phase.RUNTIME_FAILED
    assert failed.error_code == (error.code if isinstance(error, Fault) else "host_unavailable")
    assert "draft" not in failed.error
    assert desk.gateway.admissions() == []
    assert not desk.is_editable(failed.draft_id)
    assert all(host.closed == 1 for host in desk.gateway.hosts)
    desk.gateway.fail.clear()
    resumed = await desk.first.resume(failed.id)
    assert resumed.phase is Phase.ACCEPTED
    assert (resumed.id, resumed.session_id, resumed.submission_id) == (
        failed.id,
        failed.session_id,
        failed.submission_id,
    )
    assert resumed.error_code == ""
    assert desk.gateway.admissions() == [failed.submission_id]


async def test_D05_a_refused_key_is_a_state_of_the_operation_and_the_text_stays(desk: Desk) -> None:
    draft = await desk.draft("long prompt 1")
    desk.gateway.fail["start"] = EnvironmentFault("auth_failed")
    failed = await desk.first.submit(desk.first.capture(draft.id))
    assert (failed.phase, failed.error_code, draft.text) == (Phase.RUNTIME_FAILED, "auth_failed", "long prompt 1")
    cancelled = await desk.first.cancel(failed.id)
    assert cancelled.phase is Phase.CANCELLED
    assert (draft.text, desk.is_editable(draft.id), await desk.status(draft.id)) == ("long prompt 1", True, "active")
    desk.gateway.fail = {"admit": RejectedFault("auth_failed")}
    refused = await desk.first.submit(desk.first.capture(draft.id))
    assert (refused.phase, refused.error_code) == (Phase.TERMINAL_FAILED, "auth_failed")
    assert (draft.text, desk.is_editable(draft.id)) == ("long prompt 1", True)
    assert desk.gateway.count("admit") == 1


async def test_D06_nothing_is_cleared_when_no_session_could_be_created(desk: Desk) -> None:
    draft = await desk.draft("plan")
    desk.gateway.fail["create"] = EnvironmentFault("disk_full")
    failed = await desk.first.submit(desk.first.capture(draft.id))
    assert (failed.phase, failed.error_code) == (Phase.RUNTIME_FAILED, "disk_full")
    assert (draft.text, await desk.status(draft.id)) == ("plan", "active")
    assert desk.store.by_id(draft.id) is draft


async def test_a_held_publication_lease_closes_the_host_unpublished_and_can_be_continued(desk: Desk) -> None:
    gate = desk.gateway.hold("start")
    draft = await desk.draft("plan")
    send = asyncio.ensure_future(desk.first.submit(desk.first.capture(draft.id)))
    await desk.gateway.entered["start"].wait()
    operation = await desk.first.latest(draft.id)
    assert operation is not None
    lease = desk.bench.leases.try_acquire("publication", operation.id)
    gate.set()
    await advance(desk, 6)
    stopped = await send
    assert (stopped.phase, stopped.error_code) == (Phase.RESUME_REQUIRED, "lease_unavailable")
    assert (desk.gateway.hosts[0].closed, desk.gateway.published) == (1, [])
    assert lease is not None
    lease.release()
    assert (await desk.first.resume(operation.id)).phase is Phase.ACCEPTED


@pytest.mark.parametrize("code", ["session_busy", "model_unavailable", "conflict", "host_unavailable"])
async def test_a_coded_refusal_of_admission_proves_non_admission_and_gives_the_text_back(desk: Desk, code: str) -> None:
    desk.gateway.fail["admit"] = RejectedFault(code)
    refused = await desk.sent()
    assert (refused.phase, refused.error_code) == (Phase.TERMINAL_FAILED, code)
    assert desk.is_editable(refused.draft_id)
    assert await text_of(desk, refused) == "plan"


UNPROVEN = [
    EnvironmentFault("database_locked"),
    Fault("host_crashed"),
    OSError("reset"),
    TimeoutError(),
    RuntimeError("bug"),
    ValueError("bug"),
]


@pytest.mark.logs_warnings
@pytest.mark.parametrize("step", ["admit", "admitted"])
@pytest.mark.parametrize("error", UNPROVEN)
async def test_S02_any_other_error_of_the_hand_over_is_unknown_and_handed_over_once(
    desk: Desk, step: str, error: Exception
) -> None:
    desk.gateway.fail[step] = error
    desk.gateway.forgets = True
    unknown = await desk.sent()
    assert unknown.phase is Phase.DISPATCH_UNKNOWN
    assert not desk.is_editable(unknown.draft_id)
    assert desk.gateway.count("admit") == 1
    desk.gateway.fail.clear()
    await advance(desk, sum(DELAYS) + 1)
    assert (await desk.first.resume(unknown.id)).phase is Phase.DISPATCH_UNKNOWN
    assert (await desk.first.check_again(unknown.id)).phase is Phase.DISPATCH_UNKNOWN
    assert desk.gateway.count("admit") == 1


async def test_S11_an_answer_without_a_durable_receipt_is_not_an_acceptance(desk: Desk) -> None:
    desk.gateway.forgets = True
    unknown = await desk.sent()
    assert unknown.phase is Phase.DISPATCH_UNKNOWN
    assert await desk.status(unknown.draft_id) == "active"
    assert await text_of(desk, unknown) == "plan"


async def test_a_receipt_of_another_request_proves_nothing(desk: Desk) -> None:
    desk.gateway.forgets = True
    unknown = await desk.sent()
    desk.gateway.receive(unknown.submission_id, unknown.session_id, "another fingerprint")
    with pytest.raises(EnvironmentFault) as caught:
        await desk.first.check_again(unknown.id)
    assert caught.value.code == "receipt_mismatch"
    assert (await desk.bench.read(unknown.id)).phase is Phase.DISPATCH_UNKNOWN


async def test_a_receipt_that_cannot_be_read_leaves_the_result_unknown(desk: Desk) -> None:
    desk.gateway.fail["find_receipt"] = EnvironmentFault("unknown_receipt_version")
    unknown = await desk.sent()
    assert (unknown.phase, unknown.error_code) == (Phase.DISPATCH_UNKNOWN, "unknown_receipt_version")
    with pytest.raises(EnvironmentFault):
        await desk.first.send_as_new(unknown.id)
    assert (await desk.bench.read(unknown.id)).phase is Phase.DISPATCH_UNKNOWN
    assert (await desk.first.keep_as_draft(unknown.id)).phase is Phase.ABANDONED
    assert desk.is_editable(unknown.draft_id)


async def test_a_refusal_after_the_receipt_was_written_is_an_acceptance(desk: Desk) -> None:
    desk.gateway.fail["admitted"] = RejectedFault("host_unavailable")
    assert (await desk.sent()).phase is Phase.ACCEPTED


async def test_an_unknown_result_is_looked_at_again_until_its_receipt_appears(desk: Desk) -> None:
    desk.gateway.forgets = True
    unknown = await desk.sent()
    await advance(desk, 3.5)
    desk.gateway.receive(unknown.submission_id, unknown.session_id, unknown.fingerprint)
    await until(desk, unknown, Phase.ACCEPTED)
    assert await desk.status(unknown.draft_id) == "converted"
    assert desk.gateway.count("admit") == 1


async def test_looking_again_is_bounded_and_survives_faults(desk: Desk) -> None:
    desk.gateway.forgets = True
    unknown = await desk.sent()
    desk.gateway.fail["find_receipt"] = EnvironmentFault("database_locked")
    for seconds in DELAYS:
        await advance(desk, seconds)
        for _ in range(10):
            await desk.bench.read(unknown.id)
    assert desk.gateway.count("find_receipt") == 1 + len(DELAYS)
    assert not [name for name in desk.bench.tasks.names if "watch" in name]
    assert (await desk.bench.read(unknown.id)).phase is Phase.DISPATCH_UNKNOWN


async def test_send_as_new_gives_the_old_one_up_and_takes_new_ids(desk: Desk) -> None:
    desk.gateway.forgets = True
    unknown = await desk.sent()
    desk.gateway.forgets = False
    again = await desk.first.send_as_new(unknown.id)
    assert again.phase is Phase.ACCEPTED
    assert (await desk.bench.read(unknown.id)).phase is Phase.ABANDONED
    assert again.id != unknown.id
    assert again.session_id == unknown.session_id
    assert desk.gateway.admissions() == [unknown.submission_id, again.submission_id]
    assert again.request["content"] == unknown.request["content"]


async def test_send_as_new_looks_once_more_before_it_sends(desk: Desk) -> None:
    desk.gateway.forgets = True
    unknown = await desk.sent()
    desk.gateway.receive(unknown.submission_id, unknown.session_id, unknown.fingerprint)
    assert (await desk.first.send_as_new(unknown.id)).phase is Phase.ACCEPTED
    assert len(desk.gateway.admissions()) == 1


async def test_two_send_as_new_send_once(desk: Desk) -> None:
    desk.gateway.forgets = True
    unknown = await desk.sent()
    desk.gateway.forgets = False
    results = await asyncio.gather(
        desk.first.send_as_new(unknown.id), desk.first.send_as_new(unknown.id), return_exceptions=True
    )
    assert len(desk.gateway.admissions()) == 2
    assert any(isinstance(result, Operation) and result.phase is Phase.ACCEPTED for result in results)


async def test_keep_as_draft_gives_the_text_back_and_sends_nothing(desk: Desk) -> None:
    desk.gateway.forgets = True
    unknown = await desk.sent()
    kept = await desk.first.keep_as_draft(unknown.id)
    assert kept.phase is Phase.ABANDONED
    assert desk.is_editable(unknown.draft_id)
    assert await text_of(desk, unknown) == "plan"
    assert (await desk.first.keep_as_draft(unknown.id)) == kept
    assert len(desk.gateway.admissions()) == 1


async def test_a_lost_answer_of_begin_is_settled_by_reading_and_sent_once(desk: Desk) -> None:
    desk.database.lose["operations.reserve"] = 1
    operation = await desk.sent()
    assert operation.phase is Phase.ACCEPTED
    assert await desk.first.counts() == {"accepted": 1}
    assert len(desk.gateway.admissions()) == 1


async def test_until_a_lost_answer_can_be_read_the_editor_stays_locked(desk: Desk) -> None:
    draft = await desk.draft("plan")
    await desk.store.save(draft.id)
    expanded = desk.gateway.hold("expand")
    send = asyncio.ensure_future(desk.first.submit(desk.first.capture(draft.id)))
    await desk.gateway.entered["expand"].wait()
    desk.database.lose["operations.reserve"] = 1
    desk.database.deaf = 2
    expanded.set()
    while desk.database.deaf:
        assert draft.locked == "sending"
        with pytest.raises(RejectedFault):
            desk.first.capture(draft.id)
        await advance(desk, 1)
    while not send.done():
        await advance(desk, 1)
    assert (await send).phase is Phase.ACCEPTED
    assert await desk.first.counts() == {"accepted": 1}


async def test_a_begin_that_was_not_stored_gives_the_editor_back(desk: Desk) -> None:
    desk.database.refuse["operations.reserve"] = 1
    draft = await desk.draft("plan")
    with pytest.raises(EnvironmentFault) as caught:
        await desk.first.submit(desk.first.capture(draft.id))
    assert caught.value.code == "disk_full"
    assert desk.is_editable(draft.id)
    assert await desk.first.latest(draft.id) is None
    assert (await desk.first.submit(desk.first.capture(draft.id))).phase is Phase.ACCEPTED


@pytest.mark.parametrize(
    ("step", "phase"),
    [
        ("operations.starting", Phase.RESUME_REQUIRED),
        ("operations.dispatching", Phase.RESUME_REQUIRED),
        ("operations.accept_convert", Phase.ACCEPTED),
    ],
)
async def test_a_full_disk_between_the_steps_is_settled_when_there_is_space_again(
    desk: Desk, step: str, phase: Phase
) -> None:
    desk.database.refuse[step] = 1
    draft = await desk.draft("plan")
    with pytest.raises(EnvironmentFault) as caught:
        await desk.first.submit(desk.first.capture(draft.id))
    assert caught.value.code == "disk_full"
    operation = await desk.first.latest(draft.id)
    assert operation is not None
    settled = await until(desk, operation, phase)
    assert settled.id == operation.id
    assert len(desk.gateway.admissions()) == (1 if phase is Phase.ACCEPTED else 0)


@pytest.mark.parametrize("step", ["operations.starting", "operations.dispatching"])
async def test_a_lost_answer_between_the_steps_is_never_dispatched_twice(desk: Desk, step: str) -> None:
    desk.database.lose[step] = 1
    draft = await desk.draft("plan")
    with pytest.raises(EnvironmentFault):
        await desk.first.submit(desk.first.capture(draft.id))
    operation = await desk.first.latest(draft.id)
    assert operation is not None
    expected = Phase.RESUME_REQUIRED if step == "operations.starting" else Phase.DISPATCH_UNKNOWN
    await until(desk, operation, expected)
    assert desk.gateway.admissions() == []


@pytest.mark.parametrize("presence", [SessionPresence.ARCHIVED, SessionPresence.TRASHED, SessionPresence.ERASED])
async def test_a_reserved_session_that_went_away_ends_the_operation_and_the_next_send_takes_another(
    data_folder: DataFolder, presence: SessionPresence
) -> None:
    gateway = FakeGateway(fail={"start": EnvironmentFault("engine_failed")})
    async with desk_at(data_folder, gateway) as desk:
        failed = await desk.sent()
        gateway.fail.clear()
        gateway.sessions[failed.session_id] = presence
        gone = await desk.first.resume(failed.id)
        assert (gone.phase, gone.error_code) == (Phase.TERMINAL_FAILED, f"session_{presence.value}")
        assert desk.is_editable(failed.draft_id)
        again = await desk.sent(" b")
        assert again.phase is Phase.ACCEPTED
        assert again.session_id != failed.session_id


async def test_continue_refuses_another_model_than_the_frozen_one(desk: Desk) -> None:
    desk.gateway.fail["start"] = EnvironmentFault("engine_failed")
    failed = await desk.sent()
    desk.gateway.fail.clear()
    desk.gateway.models.discard("scripted:demo")
    desk.gateway.default_model = "local:small"
    with pytest.raises(RejectedFault) as caught:
        await desk.first.resume(failed.id)
    assert caught.value.code == "model_unavailable"
    assert (await desk.bench.read(failed.id)).phase is Phase.RUNTIME_FAILED


async def test_two_continues_are_one_dispatch(desk: Desk) -> None:
    desk.gateway.fail["start"] = EnvironmentFault("engine_failed")
    failed = await desk.sent()
    desk.gateway.fail.clear()
    await asyncio.gather(*(desk.first.resume(failed.id) for _ in range(5)))
    assert (await desk.bench.read(failed.id)).phase is Phase.ACCEPTED
    assert desk.gateway.admissions() == [failed.submission_id]


async def test_a_lease_that_cannot_be_used_closes_the_started_host(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    acquire = desk.bench.leases.acquire

    async def broken(kind: Kind, *identity: str, seconds: float) -> Lease | None:
        if kind == "publication":
            raise EnvironmentFault("lease_unavailable")
        return await acquire(kind, *identity, seconds=seconds)

    monkeypatch.setattr(desk.bench.leases, "acquire", broken)
    with pytest.raises(EnvironmentFault):
        await desk.sent()
    assert (desk.gateway.hosts[0].closed, desk.gateway.published) == (1, [])
