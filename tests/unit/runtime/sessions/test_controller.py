"""A turn from its receipt to its terminal record."""

from __future__ import annotations

import asyncio

from runtime.hosts.port import PromptEnded, TextDelta
from runtime.sessions.model import TurnState
from tests.fakes.host import Hold, says
from tests.unit.runtime.sessions.kit import Rig


async def test_a_first_submission_is_answered_and_completed(rig: Rig) -> None:
    rig.host.scripts = [says("Hel", "lo ", "there")]
    receipt = await rig.send(text="Say hello\nplease")
    turn = await rig.heard.ended()
    assert (turn.id, turn.state, turn.finish_reason) == (receipt.turn_id, TurnState.COMPLETED, "completed")
    items = await rig.items()
    assert [(item.seq, item.kind, item.state, item.text) for item in items] == [
        (1, "user", "final", "Say hello\nplease"),
        (2, "assistant", "final", "Hello there"),
    ]
    assert items[1].parent_item == items[0].id
    [session] = await rig.store.list()
    assert (session.title, session.title_source, session.turn_state) == ("Say hello", "first_line", TurnState.COMPLETED)
    assert (session.last_seq, session.item_count) == (2, 2)
    assert session.observed == {"model": "fake-1", "host": "fake"}
    assert session.requested == {"model": "scripted:demo"}
    assert len(rig.host.prompts) == 1
    assert await rig.rows("SELECT count(*) FROM item_chunks") == [(0,)]


async def test_states_come_in_order_and_each_is_published_after_its_commit(rig: Rig) -> None:
    await rig.send()
    await rig.heard.ended()
    assert [turn.state.value for turn in rig.heard.turns()] == ["admitted", "starting", "running", "completed"]


async def test_a_stopped_turn_keeps_its_text_and_never_runs_again(rig: Rig) -> None:
    rig.host.scripts = [[TextDelta("partial"), Hold(asyncio.Event()), TextDelta("never"), PromptEnded("completed")]]
    await rig.send()
    await rig.heard.text("partial")
    await rig.controller.stop("ses-one")
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code, turn.finish_reason) == (TurnState.CANCELLED, "stopped", "cancelled")
    states = [turn.state.value for turn in rig.heard.turns()]
    assert states[states.index("interrupting"):] == ["interrupting", "cancelled"]
    assert [(item.kind, item.state, item.text) for item in (await rig.items())[1:]] == [
        ("assistant", "interrupted", "partial")
    ]
    assert rig.host.interrupts == 1
