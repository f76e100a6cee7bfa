"""Sending from a session's composer: the pending id first, the text cleared only by its receipt."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from drafts import waiting
from drafts.follow_up import UNKNOWN
from drafts.model import DraftKey
from drafts.open_draft import OpenDraft
from runtime.base.errors import EnvironmentFault, Fault, RejectedFault
from runtime.base.failpoints import Step
from runtime.base.folder import DataFolder
from tests.fakes.desk import Desk, desk_at
from tests.fakes.gateway import FakeGateway

SESSION = DraftKey.session("ses-1")
_STEP = Step("tests.any")


@pytest.fixture
async def desk(data_folder: DataFolder) -> AsyncIterator[Desk]:
    async with desk_at(data_folder) as opened:
        yield opened


async def typed(desk: Desk, text: str = "go on") -> OpenDraft:
    return await desk.draft(text, SESSION)


async def pending(desk: Desk, draft: OpenDraft) -> str:
    found = await desk.database.read(lambda c: waiting.read(c, draft.id))
    assert (found.submission_id if found else "") == draft.pending_submission_id
    return draft.pending_submission_id


async def stored_text(desk: Desk, draft: OpenDraft) -> str:
    stored = await desk.store.show(draft.id)
    assert stored is not None
    return stored.content.text


async def test_it_is_admitted_once_and_the_unchanged_text_is_cleared(desk: Desk) -> None:
    draft = await typed(desk)
    result = await desk.follow_up.send(draft.id)
    assert (result.outcome, result.cleared) == ("accepted", True)
    assert (draft.text, await stored_text(desk, draft), await pending(desk, draft)) == ("", "", "")
    [submission] = desk.gateway.submissions
    assert (submission.session_id, submission.payload) == ("ses-1", {"text": "go on"})
    assert desk.is_editable(draft.id)
    assert (await desk.follow_up.send((await typed(desk, "again")).id)).outcome == "accepted"
    assert len(set(desk.gateway.admissions())) == 2


async def test_the_pending_id_and_the_revision_are_stored_before_anything_is_handed_over(desk: Desk) -> None:
    gate = desk.gateway.hold("admit")
    draft = await typed(desk)
    send = asyncio.ensure_future(desk.follow_up.send(draft.id))
    await desk.gateway.entered["admit"].wait()
    row = await desk.database.read(
        lambda c: c.execute("SELECT pending_submission_id, pending_revision, revision FROM drafts").fetchone()
    )
    assert row == (desk.gateway.calls[-1][1], 1, 1)
    gate.set()
    await send


async def test_without_a_stored_pending_id_nothing_is_dispatched(desk: Desk) -> None:
    draft = await typed(desk)
    desk.database.refuse["drafts.pending"] = 1
    with pytest.raises(EnvironmentFault) as caught:
        await desk.follow_up.send(draft.id)
    assert caught.value.code == "disk_full"
    assert (desk.gateway.count("admit"), draft.text, await pending(desk, draft)) == (0, "go on", "")
    assert desk.is_editable(draft.id)
    assert (await desk.follow_up.send(draft.id)).outcome == "accepted"


async def test_a_lost_answer_of_the_pending_id_dispatches_nothing_and_leaves_no_trace(desk: Desk) -> None:
    draft = await typed(desk)
    desk.database.lose["drafts.pending"] = 1
    with pytest.raises(EnvironmentFault):
        await desk.follow_up.send(draft.id)
    assert (desk.gateway.count("admit"), await pending(desk, draft)) == (0, "")
    assert (await desk.follow_up.send(draft.id)).outcome == "accepted"


async def test_a_pending_id_that_was_left_behind_is_decided_before_the_next_send(desk: Desk) -> None:
    draft = await typed(desk)
    desk.database.lose["drafts.pending"] = 2
    with pytest.raises(EnvironmentFault):
        await desk.follow_up.send(draft.id)
    await desk.database.run(
        _STEP,
        lambda c: c.execute("UPDATE drafts SET pending_submission_id = 'sub-old', pending_revision = 1").fetchall(),
    )
    assert (await desk.follow_up.send(draft.id)).outcome == "accepted"
    assert len(desk.gateway.admissions()) == 1


async def test_typing_meanwhile_is_kept(desk: Desk) -> None:
    gate = desk.gateway.hold("admit")
    draft = await typed(desk)
    send = asyncio.ensure_future(desk.follow_up.send(draft.id))
    await desk.gateway.entered["admit"].wait()
    desk.type(draft, " and more")
    gate.set()
    result = await send
    assert (result.outcome, result.cleared) == ("accepted", False)
    assert (draft.text, await pending(desk, draft)) == ("go on and more", "")
    assert desk.gateway.submissions[0].payload == {"text": "go on"}


async def test_typing_before_the_save_is_over_is_not_sent_and_kept_also_after_a_restart(
    desk: Desk, data_folder: DataFolder
) -> None:
    draft = await typed(desk)
    send = asyncio.ensure_future(desk.follow_up.submit(desk.follow_up.capture(draft.id)))
    desk.type(draft, " and more")
    desk.gateway.fail["admitted"] = EnvironmentFault("io_error")
    assert (await send).outcome == "unknown"
    assert desk.gateway.submissions[0].payload == {"text": "go on"}
    async with desk_at(data_folder, desk.gateway) as second:
        assert await second.follow_up.reconcile() == 1
        assert (await second.draft("", SESSION)).text == "go on and more"


async def test_a_second_trigger_is_refused_until_the_first_has_ended(desk: Desk) -> None:
    draft = await typed(desk)
    captured = desk.follow_up.capture(draft.id)
    for _ in range(2):
        with pytest.raises(RejectedFault) as caught:
            desk.follow_up.capture(draft.id)
        assert caught.value.code == "draft_locked"
    await desk.follow_up.submit(captured)
    assert len(desk.gateway.admissions()) == 1


async def test_an_empty_composer_sends_nothing(desk: Desk) -> None:
    with pytest.raises(RejectedFault) as caught:
        await desk.follow_up.send((await typed(desk, "")).id)
    assert caught.value.code == "empty_draft"


async def test_a_workspace_draft_has_no_session_to_follow_up(desk: Desk) -> None:
    with pytest.raises(ValueError, match="no session"):
        desk.follow_up.capture((await desk.draft("plan")).id)


async def test_enter_while_a_turn_runs_keeps_the_text_and_says_so(desk: Desk) -> None:
    draft = await typed(desk)
    desk.gateway.fail["admit"] = RejectedFault("session_busy")
    result = await desk.follow_up.send(draft.id)
    assert (result.outcome, result.code) == ("refused", "session_busy")
    assert (draft.text, await pending(desk, draft), desk.is_editable(draft.id)) == ("go on", "", True)
    desk.gateway.fail.clear()
    assert (await desk.follow_up.send(draft.id)).outcome == "accepted"


@pytest.mark.parametrize("step", ["check_place", "expand"])
async def test_a_refusal_before_the_hand_over_keeps_the_text_free(desk: Desk, step: str) -> None:
    draft = await typed(desk)
    desk.gateway.fail[step] = RejectedFault("attachment_unreadable", "/home/me")
    with pytest.raises(RejectedFault):
        await desk.follow_up.send(draft.id)
    assert (draft.text, await pending(desk, draft), desk.is_editable(draft.id)) == ("go on", "", True)


UNPROVEN = [EnvironmentFault("database_locked"), Fault("host_crashed"), OSError("reset"), RuntimeError("bug")]


@pytest.mark.logs_warnings
@pytest.mark.parametrize("error", UNPROVEN)
@pytest.mark.parametrize("admitted", [True, False])
async def test_an_unknown_result_locks_until_the_receipt_decides(desk: Desk, error: Exception, admitted: bool) -> None:
    draft = await typed(desk)
    desk.gateway.fail["admitted" if admitted else "admit"] = error
    assert (await desk.follow_up.send(draft.id)).outcome == "unknown"
    assert (draft.locked, draft.text) == (UNKNOWN, "go on")
    assert await pending(desk, draft)
    with pytest.raises(RejectedFault):
        desk.follow_up.capture(draft.id)
    desk.gateway.fail = {"find_receipt": EnvironmentFault("database_locked")}
    with pytest.raises(EnvironmentFault):
        await desk.follow_up.check_again(draft.id)
    assert draft.locked == UNKNOWN
    desk.gateway.fail = {}
    result = await desk.follow_up.check_again(draft.id)
    assert result.outcome == ("accepted" if admitted else "not_sent")
    assert (draft.text, desk.is_editable(draft.id)) == ("" if admitted else "go on", True)
    assert await pending(desk, draft) == ""
    assert desk.gateway.count("admit") == 1


async def test_an_answer_without_a_durable_receipt_is_unknown(desk: Desk) -> None:
    draft = await typed(desk)
    desk.gateway.forgets = True
    assert (await desk.follow_up.send(draft.id)).outcome == "unknown"
    assert draft.text == "go on"


async def test_a_full_disk_at_the_clearing_locks_what_was_sent(desk: Desk) -> None:
    draft = await typed(desk)
    desk.database.refuse["drafts.clear"] = 1
    result = await desk.follow_up.send(draft.id)
    assert (result.outcome, result.code, draft.locked) == ("accepted", "disk_full", UNKNOWN)
    assert (await desk.follow_up.check_again(draft.id)).cleared
    assert (draft.text, desk.is_editable(draft.id)) == ("", True)


@pytest.mark.parametrize("admitted", [True, False])
async def test_at_startup_the_receipt_decides(data_folder: DataFolder, admitted: bool) -> None:
    gateway = FakeGateway(fail={"admitted" if admitted else "admit": EnvironmentFault("io_error")})
    async with desk_at(data_folder, gateway) as first:
        await first.follow_up.send((await typed(first)).id)
    gateway.fail.clear()
    async with desk_at(data_folder, gateway) as second:
        draft = await typed(second, "")
        assert await second.follow_up.reconcile() == 1
        assert (draft.text, await pending(second, draft)) == ("" if admitted else "go on", "")
        assert second.is_editable(draft.id)
        assert await second.follow_up.reconcile() == 0
    assert gateway.count("admit") == 1


async def test_at_startup_it_is_decided_without_opening_the_draft(data_folder: DataFolder) -> None:
    gateway = FakeGateway(fail={"admitted": EnvironmentFault("io_error")})
    async with desk_at(data_folder, gateway) as first:
        await first.follow_up.send((await typed(first)).id)
    async with desk_at(data_folder, gateway) as second:
        assert await second.follow_up.reconcile() == 1
        assert (await typed(second, "")).text == ""


async def test_what_was_typed_after_the_start_survives_the_clearing(data_folder: DataFolder) -> None:
    gateway = FakeGateway(fail={"admitted": EnvironmentFault("io_error")})
    async with desk_at(data_folder, gateway) as first:
        await first.follow_up.send((await typed(first)).id)
    async with desk_at(data_folder, gateway) as second:
        draft = await typed(second, " and more")
        assert await second.follow_up.reconcile() == 1
        assert (draft.text, await pending(second, draft)) == ("go on and more", "")


async def test_at_startup_a_send_of_a_live_process_is_left_to_it(desk: Desk, data_folder: DataFolder) -> None:
    gate = desk.gateway.hold("admit")
    draft = await typed(desk)
    send = asyncio.ensure_future(desk.follow_up.send(draft.id))
    await desk.gateway.entered["admit"].wait()
    async with desk_at(data_folder) as other:
        assert await other.follow_up.reconcile() == 0
    gate.set()
    assert (await send).cleared


async def test_a_text_that_an_earlier_submission_has_sent_is_not_sent_again(
    desk: Desk, data_folder: DataFolder
) -> None:
    """Another process sent this text and died before it could clear it; its receipt is there."""
    draft = await typed(desk)
    await desk.store.save(draft.id)
    gateway = desk.gateway
    async with desk_at(data_folder, gateway) as other:
        gateway.fail["admitted"] = EnvironmentFault("io_error")
        assert (await other.follow_up.send((await typed(other, "")).id)).outcome == "unknown"
    gateway.fail.clear()
    with pytest.raises(RejectedFault) as caught:
        await desk.follow_up.send(draft.id)
    assert caught.value.code == "conflict"
    assert len(gateway.admissions()) == 1
    assert (draft.text, await pending(desk, draft), desk.is_editable(draft.id)) == ("", "", True)
    assert (await desk.follow_up.send((await typed(desk, "next")).id)).outcome == "accepted"


async def test_a_refusal_that_cannot_be_noted_is_still_a_refusal_and_the_next_send_works(desk: Desk) -> None:
    draft = await typed(desk)
    gate = desk.gateway.hold("admit")
    send = asyncio.ensure_future(desk.follow_up.send(draft.id))
    await desk.gateway.entered["admit"].wait()
    desk.gateway.fail["admit"] = RejectedFault("session_busy")
    desk.database.refuse["drafts.pending"] = 1
    gate.set()
    result = await send
    assert (result.outcome, result.code) == ("refused", "session_busy")
    assert (draft.text, desk.is_editable(draft.id)) == ("go on", True)
    desk.gateway.fail.clear()
    desk.gateway.gates.clear()
    assert (await desk.follow_up.send(draft.id)).outcome == "accepted"
    assert len(desk.gateway.admissions()) == 1


async def test_what_could_not_be_decided_at_startup_is_decided_by_the_next_send(data_folder: DataFolder) -> None:
    gateway = FakeGateway(fail={"admit": EnvironmentFault("io_error")})
    async with desk_at(data_folder, gateway) as first:
        await first.follow_up.send((await typed(first)).id)
    gateway.fail = {"find_receipt": EnvironmentFault("database_locked")}
    async with desk_at(data_folder, gateway) as second:
        assert await second.follow_up.reconcile() == 0
        gateway.fail.clear()
        draft = await typed(second, "")
        assert (await second.follow_up.send(draft.id)).outcome == "accepted"
        assert (draft.text, len(gateway.admissions())) == ("", 1)
