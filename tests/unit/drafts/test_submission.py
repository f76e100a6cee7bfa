"""First execution from capture to conversion, against a written gateway."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from drafts.events import DraftConverted, OperationChanged
from drafts.model import DraftKey, DraftSettings
from drafts.phases import Operation, Phase
from drafts.restore import ACTIVE, surface_object
from runtime.base.errors import EnvironmentFault, Fault, RejectedFault
from runtime.base.folder import DataFolder
from tests.fakes.desk import GLOBAL, PRIMARY, Desk, desk_at


@pytest.fixture
async def desk(data_folder: DataFolder) -> AsyncIterator[Desk]:
    async with desk_at(data_folder) as opened:
        yield opened


def phases(desk: Desk) -> list[Phase]:
    return [event.operation.phase for event in desk.events if isinstance(event, OperationChanged)]


async def test_a_send_reserves_starts_publishes_admits_once_and_converts(desk: Desk) -> None:
    draft = await desk.draft("plan")
    await desk.store.set_restore(ACTIVE, surface_object(draft.key, GLOBAL))
    operation = await desk.first.submit(desk.first.capture(draft.id))
    assert [step for step, _ in desk.gateway.calls] == [
        "check_place",
        "resolve_model",
        "expand",
        "presence",
        "create",
        "start",
        "publish",
        "admit",
        "admitted",
        "find_receipt",
    ]
    assert phases(desk) == [Phase.RESERVED, Phase.STARTING, Phase.DISPATCHING, Phase.ACCEPTED]
    assert [event for event in desk.events if isinstance(event, DraftConverted)] == [
        DraftConverted(draft.id, PRIMARY, operation.session_id, operation.id)
    ]
    assert operation == await desk.first.latest(draft.id)
    assert await desk.status(draft.id) == "converted"
    assert await desk.store.restore(ACTIVE) is None
    assert [host.closed for host in desk.gateway.hosts] == [0]


async def test_after_the_conversion_the_same_place_has_a_new_empty_draft(desk: Desk) -> None:
    draft = await desk.draft("plan")
    await desk.first.submit(desk.first.capture(draft.id))
    again = await desk.draft()
    assert (again.id != draft.id, again.text, again.locked) == (True, "", "")


async def test_the_reservation_carries_the_recorded_identities_place_and_resolved_model(desk: Desk) -> None:
    operation = await desk.sent("first line\nsecond")
    made = desk.gateway.reservations[0]
    assert (made.operation_id, made.session_id, made.topic_id, made.submission_id) == (
        operation.id,
        operation.session_id,
        operation.topic_id,
        operation.submission_id,
    )
    assert (made.place, made.settings["model"], made.title_hint) == (GLOBAL, "scripted:demo", "first line")


async def test_an_explicit_model_is_asked_for_strictly_and_an_inherited_one_is_the_live_default(desk: Desk) -> None:
    draft = await desk.draft("plan")
    desk.store.set_settings(draft.id, DraftSettings(model="local:small", model_source="explicit"))
    await desk.first.submit(desk.first.capture(draft.id))
    other = await desk.draft("plan")
    desk.store.set_settings(other.id, DraftSettings(model="local:stale"))
    await desk.first.submit(desk.first.capture(other.id))
    assert [name for step, name in desk.gateway.calls if step == "resolve_model"] == ["local:small", ""]
    assert [made.settings["model"] for made in desk.gateway.reservations] == ["local:small", "scripted:demo"]


async def test_the_frozen_request_keeps_the_original_and_the_execution_what_was_sent(desk: Desk) -> None:
    operation = await desk.sent("plan  ")
    assert operation.request["content"] == {"text": "plan  "}
    assert operation.execution == {"text": "plan  "} == desk.gateway.submissions[0].payload
    assert operation.fingerprint == desk.gateway.submissions[0].fingerprint


async def test_the_execution_is_stored_before_anything_is_handed_over(desk: Desk) -> None:
    hand_over = desk.gateway.hold("admit")
    draft = await desk.draft("plan")
    send = asyncio.ensure_future(desk.first.submit(desk.first.capture(draft.id)))
    await desk.gateway.entered["admit"].wait()
    stored = await desk.first.latest(draft.id)
    assert stored is not None
    assert (stored.phase, stored.execution) == (Phase.DISPATCHING, {"text": "plan"})
    assert desk.bench.leases.is_held("worker", stored.session_id)
    assert desk.bench.leases.is_held("publication", stored.id)
    hand_over.set()
    await send
    assert not desk.bench.leases.is_held("worker", stored.session_id)
    assert not desk.bench.leases.is_held("publication", stored.id)
    assert not desk.bench.leases.is_held("request", draft.id, stored.request_id)


async def test_draft_operation_and_submission_ids_never_reach_the_provider(desk: Desk) -> None:
    operation = await desk.sent()
    payload = json.dumps(desk.gateway.submissions[0].payload)
    settings = json.dumps(desk.gateway.reservations[0].settings)
    for secret in (operation.id, operation.draft_id, operation.submission_id, operation.request_id):
        assert secret not in payload + settings


async def test_a_shell_command_takes_the_same_path_through_its_own_phase(desk: Desk) -> None:
    operation = await desk.sent("!ls")
    assert phases(desk) == [Phase.RESERVED, Phase.STARTING, Phase.DISPATCHING_SHELL, Phase.ACCEPTED]
    assert operation.execution == {"text": "!ls", "kind": "shell"}


async def test_an_empty_draft_is_not_sent_and_stays_editable(desk: Desk) -> None:
    draft = await desk.draft("  \n")
    with pytest.raises(RejectedFault) as caught:
        desk.first.capture(draft.id)
    assert caught.value.code == "empty_draft"
    assert desk.is_editable(draft.id)


async def test_text_that_cannot_be_encoded_is_refused_at_the_capture(desk: Desk) -> None:
    draft = await desk.draft("\ud800")
    with pytest.raises(RejectedFault) as caught:
        desk.first.capture(draft.id)
    assert caught.value.code == "text_unsendable"
    assert desk.is_editable(draft.id)


async def test_the_editor_is_locked_from_the_capture_to_the_end_and_the_text_is_that_of_the_capture(desk: Desk) -> None:
    gate = desk.gateway.hold("check_place")
    draft = await desk.draft("plan")
    captured = desk.first.capture(draft.id)
    with pytest.raises(RejectedFault) as caught:
        desk.type(draft, "more")
    assert caught.value.code == "draft_locked"
    send = asyncio.ensure_future(desk.first.submit(captured))
    await desk.gateway.entered["check_place"].wait()
    with pytest.raises(RejectedFault):
        desk.type(draft, "more")
    gate.set()
    await send
    assert desk.gateway.submissions[0].payload == {"text": "plan"}


async def test_S01_triggers_in_one_turn_and_key_repeats_send_once(desk: Desk) -> None:
    draft = await desk.draft("plan")
    captured = desk.first.capture(draft.id)
    for _ in range(2):  # the second click, then Return, in the same turn of the loop
        with pytest.raises(RejectedFault) as caught:
            desk.first.capture(draft.id)
        assert caught.value.code == "draft_locked"
    send = asyncio.ensure_future(desk.first.submit(captured))
    for _ in range(30):
        await asyncio.sleep(0)
        if desk.store.by_id(draft.id) is draft:
            with pytest.raises(RejectedFault):
                desk.first.capture(draft.id)
    await send
    assert await desk.first.counts() == {"accepted": 1}
    assert len(desk.gateway.sessions) == 1
    assert len(desk.gateway.admissions()) == 1


async def test_twelve_submits_of_one_capture_are_one_operation(desk: Desk) -> None:
    draft = await desk.draft("plan")
    captured = desk.first.capture(draft.id)
    operations = await asyncio.gather(*(desk.first.submit(captured) for _ in range(12)))
    operations.append(await desk.first.submit(captured))
    assert {operation.id for operation in operations} == {operations[0].id}
    assert len(desk.gateway.admissions()) == 1


async def test_whoever_waits_may_go_away_without_stopping_the_send(desk: Desk) -> None:
    gate = desk.gateway.hold("start")
    draft = await desk.draft("plan")
    captured = desk.first.capture(draft.id)
    waiting = asyncio.ensure_future(desk.first.submit(captured))
    await desk.gateway.entered["start"].wait()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    gate.set()
    assert (await desk.first.submit(captured)).phase is Phase.ACCEPTED


async def test_two_drafts_of_one_place_are_sent_side_by_side(desk: Desk) -> None:
    first, second = await desk.draft("one"), await desk.draft("two", DraftKey.workspace("global", "second"))
    sent = await asyncio.gather(*(desk.first.submit(desk.first.capture(d.id)) for d in (first, second)))
    assert {operation.phase for operation in sent} == {Phase.ACCEPTED}
    assert len({operation.session_id for operation in sent}) == 2


async def test_the_exit_barrier_waits_until_the_operation_is_stored(desk: Desk) -> None:
    expand, start = desk.gateway.hold("expand"), desk.gateway.hold("start")
    draft = await desk.draft("plan")
    send = asyncio.ensure_future(desk.first.submit(desk.first.capture(draft.id)))
    await desk.gateway.entered["expand"].wait()
    barrier = asyncio.ensure_future(desk.first.barrier())
    await asyncio.sleep(0)
    assert not barrier.done()
    expand.set()
    await barrier
    assert await desk.first.latest(draft.id) is not None
    start.set()
    await send
    await desk.first.barrier()


@pytest.mark.parametrize("step", ["check_place", "resolve_model", "expand"])
async def test_a_refusal_before_the_reservation_leaves_an_editable_draft_and_nothing_else(
    desk: Desk, step: str
) -> None:
    for fault in (RejectedFault("attachment_unreadable"), EnvironmentFault("io_error")):
        desk.gateway.fail = {step: fault}
        draft = await desk.draft()
        if not draft.text:
            desk.type(draft, "plan")
        with pytest.raises(Fault) as caught:
            await desk.first.submit(desk.first.capture(draft.id))
        assert caught.value.code == fault.code
        assert (draft.text, desk.is_editable(draft.id)) == ("plan", True)
        assert await desk.first.latest(draft.id) is None
        assert desk.gateway.sessions == {}
    desk.gateway.fail = {}
    assert (await desk.first.submit(desk.first.capture((await desk.draft()).id))).phase is Phase.ACCEPTED


@pytest.mark.parametrize("settings", [DraftSettings("gone:model", "explicit"), DraftSettings("", "explicit")])
async def test_an_unknown_explicit_model_is_refused_and_never_replaced(desk: Desk, settings: DraftSettings) -> None:
    draft = await desk.draft("plan")
    desk.store.set_settings(draft.id, settings)
    with pytest.raises(RejectedFault) as caught:
        await desk.first.submit(desk.first.capture(draft.id))
    assert caught.value.code == "model_unavailable"
    assert desk.is_editable(draft.id)
    assert desk.gateway.count("create") == 0


@pytest.mark.parametrize("entry", [{"name": "a", "state": "missing"}, {"name": "a", "state": "pending"}, "a"])
async def test_a_missing_attachment_blocks_the_send(desk: Desk, entry: object) -> None:
    draft = await desk.draft("plan")
    desk.store.set_parts(draft.id, {"attachments": [entry]})  # type: ignore[list-item]
    with pytest.raises(RejectedFault) as caught:
        await desk.first.submit(desk.first.capture(draft.id))
    assert (caught.value.code, caught.value.detail["count"]) == ("attachment_unreadable", 1)
    assert desk.is_editable(draft.id)


async def test_a_refused_attachment_names_no_path(desk: Desk) -> None:
    desk.gateway.fail["expand"] = RejectedFault(
        "attachment_unreadable", "no /home/me/secret.txt", file="/home/me/a", name="a.txt"
    )
    draft = await desk.draft("plan")
    with pytest.raises(RejectedFault) as caught:
        await desk.first.submit(desk.first.capture(draft.id))
    assert str(caught.value) == "attachment_unreadable"
    assert dict(caught.value.detail) == {"name": "a.txt"}
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("/clear", True),
        ("/new thing", True),
        (" /compact\n", True),
        ("/new/file.txt", False),
        ("/etc/hosts", False),
        ("/model x", False),
    ],
)
async def test_history_commands_are_refused_and_a_path_is_text(desk: Desk, text: str, refused: bool) -> None:
    draft = await desk.draft(text)
    if not refused:
        assert (await desk.first.submit(desk.first.capture(draft.id))).phase is Phase.ACCEPTED
        return
    with pytest.raises(RejectedFault) as caught:
        await desk.first.submit(desk.first.capture(draft.id))
    assert caught.value.code == "command_unavailable"
    assert desk.is_editable(draft.id)


async def test_a_save_that_loses_stops_the_send(desk: Desk, data_folder: DataFolder) -> None:
    draft = await desk.draft("plan")
    await desk.store.save(draft.id)
    async with desk_at(data_folder) as other:
        theirs = await other.draft("theirs")
        await other.store.save(theirs.id)
    desk.type(draft, " mine")
    with pytest.raises(RejectedFault) as caught:
        await desk.first.submit(desk.first.capture(draft.id))
    assert caught.value.code == "conflict"
    assert (draft.text, desk.is_editable(draft.id)) == ("plan mine", True)
    assert desk.gateway.calls == []


async def test_an_operation_of_another_process_holds_the_draft(desk: Desk, data_folder: DataFolder) -> None:
    draft = await desk.draft("plan")
    await desk.store.save(draft.id)
    async with desk_at(data_folder) as other:
        held = await other.reserved("", Phase.RESUME_REQUIRED)
    sent = await desk.first.submit(desk.first.capture(draft.id))
    assert (sent.id, sent.phase) == (held.id, Phase.RESUME_REQUIRED)
    assert draft.locked == "resume_required"
    assert desk.gateway.count("create") == 0


async def test_an_equal_request_that_another_process_is_just_sending_is_left_to_it(
    desk: Desk, data_folder: DataFolder
) -> None:
    draft = await desk.draft("plan")
    await desk.store.save(draft.id)
    async with desk_at(data_folder) as other:
        theirs = await other.reserved("")
        lease = other.bench.leases.try_acquire("request", theirs.draft_id, theirs.request_id)
        sent = await desk.first.submit(desk.first.capture(draft.id))
        assert (sent.id, sent.phase) == (theirs.id, Phase.RESERVED)
        assert desk.gateway.count("create") == 0
        assert lease is not None
        lease.release()


def with_new_ids(first: Operation, second: Operation) -> bool:
    return first.id != second.id and first.submission_id != second.submission_id


async def test_a_send_after_a_refusal_reuses_session_and_topic_under_new_ids(desk: Desk) -> None:
    desk.gateway.fail["admit"] = RejectedFault("model_unavailable")
    refused = await desk.sent("plan")
    assert refused.phase is Phase.TERMINAL_FAILED
    desk.gateway.fail.clear()
    again = await desk.sent(" b")
    assert again.phase is Phase.ACCEPTED
    assert (again.session_id, again.topic_id) == (refused.session_id, refused.topic_id)
    assert with_new_ids(refused, again)
    assert replace(refused, updated_at=0) == replace(await desk.bench.read(refused.id), updated_at=0)


async def test_the_log_has_the_durations_of_a_send_and_none_of_its_text(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await desk.sent("a secret plan")
    timed = [record for record in caplog.records if hasattr(record, "ms")]
    steps = [getattr(record, "step", "") for record in timed]
    assert [step for step in steps if step] == ["session_created", "host_ready", "accepted"]
    assert {"draft opened", "draft written"} <= {record.msg for record in timed}
    assert "secret" not in repr([record.__dict__ for record in caplog.records])
