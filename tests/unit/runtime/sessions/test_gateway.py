"""What first execution asks of sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from drafts.gateway import SessionGateway
from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.base.handover import Submission
from runtime.hosts.faults import HostFault
from runtime.hosts.port import TextDelta
from runtime.sessions.model import TurnState
from runtime.workspaces.registry import GLOBAL
from tests.fakes.host import says
from tests.unit.runtime.sessions.kit import Rig, reservation, submission


async def test_it_has_the_shape_that_drafts_asks_for(rig: Rig) -> None:
    gateway: SessionGateway = rig.gateway
    assert await gateway.resolve_model("") == "scripted:demo"
    assert await gateway.resolve_model("local:x") == "local:x"


async def test_plain_text_is_expanded_as_it_is(rig: Rig) -> None:
    content = {"text": " a\n\tb ", "caret": 3, "anchor": 1, "attachments": [], "blocks": {}}
    assert await rig.gateway.expand(content, GLOBAL) == {"text": " a\n\tb "}


async def test_parts_that_cannot_be_sent_yet_are_refused_before_anything_is_reserved(rig: Rig) -> None:
    with pytest.raises(RejectedFault) as caught:
        await rig.gateway.expand({"text": "see this", "attachments": [{"name": "a.png"}]}, GLOBAL)
    assert caught.value.code == "attachment_unreadable"


async def test_a_started_host_is_not_live_until_it_is_published(rig: Rig) -> None:
    await rig.gateway.create(reservation())
    started = await rig.gateway.start(reservation())
    assert started.session_id == "ses-one"
    await started.close()
    await started.close()
    await rig.gateway.admit(submission())
    await rig.heard.ended()
    assert len(rig.host.sessions) == 2


async def test_publishing_replaces_and_ends_the_live_host_session(rig: Rig) -> None:
    await rig.send()
    await rig.heard.ended()
    await rig.gateway.publish(await rig.gateway.start(reservation()))
    assert [session.closed for session in rig.host.sessions] == [1, 0]
    [session] = await rig.store.list()
    assert session.host_session_id == "host-2"


async def test_what_start_did_not_return_cannot_be_published(rig: Rig) -> None:
    class Other:
        session_id = "ses-one"

        async def close(self) -> None: ...

    with pytest.raises(EnvironmentFault):
        await rig.gateway.publish(Other())


async def test_the_fault_of_a_host_that_does_not_start_is_passed_on(rig: Rig) -> None:
    rig.host.open_fault = HostFault("model_missing", called=False)
    with pytest.raises(HostFault) as caught:
        await rig.gateway.start(reservation())
    assert caught.value.code == "model_missing"


async def test_cancelling_the_turn_of_another_submission_stops_nothing(rig: Rig) -> None:
    rig.host.scripts = [says("a1"), [TextDelta("on"), *says("done")]]
    await rig.send()
    await rig.heard.ended()
    await rig.send(text="second")
    await rig.gateway.cancel_turn("ses-one", "sub-one")
    assert (await rig.heard.ended(2)).state is TurnState.COMPLETED


async def test_a_vanished_workspace_is_refused(rig: Rig, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    place = await rig.workspaces.open_folder(folder)
    await rig.gateway.check_place(place)
    folder.rmdir()
    with pytest.raises(RejectedFault) as caught:
        await rig.gateway.check_place(place)
    assert caught.value.code == "workspace_unavailable"


async def test_a_follow_up_in_a_vanished_folder_is_refused_but_an_accepted_one_keeps_its_receipt(
    rig: Rig, tmp_path: Path
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    await rig.gateway.create(reservation(place=await rig.workspaces.open_folder(folder)))
    receipt = await rig.gateway.admit(submission())
    await rig.heard.ended()
    folder.rmdir()
    with pytest.raises(RejectedFault) as caught:
        await rig.gateway.admit(submission(submission_id="sub-2"))
    assert caught.value.code == "workspace_unavailable"
    assert await rig.gateway.admit(submission()) == receipt


async def test_only_the_last_turn_can_be_tried_again(rig: Rig) -> None:
    first = await rig.send()
    await rig.heard.ended()
    await rig.send(text="second")
    await rig.heard.ended(2)
    for turn_id, code in ((first.turn_id, "not_last_turn"), ("trn-none", "turn_unknown")):
        with pytest.raises(RejectedFault) as caught:
            await rig.gateway.retry(turn_id)
        assert caught.value.code == code


async def test_a_running_turn_cannot_be_tried_again(rig: Rig) -> None:
    await rig.store.create(reservation())
    receipt = await rig.admission.admit(Submission("sub-one", "ses-one", "f", {"text": "Hi"}))
    with pytest.raises(RejectedFault) as caught:
        await rig.gateway.retry(receipt.turn_id)
    assert caught.value.code == "session_busy"
