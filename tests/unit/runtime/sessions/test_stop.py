"""Stop: the wish first, then the host's interrupt, then, after five seconds, its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from runtime.hosts.port import (
    PromptEnded,
    TextDelta,
)
from runtime.sessions.model import TurnState
from tests.fakes.host import Hold, Line
from tests.unit.runtime.sessions.kit import Rig, reservation, submission


def _forever(*lines: Line) -> Sequence[Line]:
    return [*lines, Hold(asyncio.Event()), TextDelta("never"), PromptEnded("completed")]


async def test_a_stopped_turn_keeps_its_text_and_never_runs_again(rig: Rig) -> None:
    rig.host.scripts = [_forever(TextDelta("partial"))]
    await rig.send()
    await rig.heard.text("partial")
    await rig.controller.stop("ses-one")
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code, turn.finish_reason) == (TurnState.CANCELLED, "stopped", "cancelled")
    states = [turn.state.value for turn in rig.heard.turns()]
    assert states[states.index("interrupting") :] == ["interrupting", "cancelled"]
    assert [(item.kind, item.state, item.text) for item in (await rig.items())[1:]] == [
        ("assistant", "interrupted", "partial")
    ]
    assert rig.host.interrupts == 1
    assert rig.controller.running("ses-one") is None


async def test_a_host_that_ignores_the_stop_is_closed_after_five_seconds(rig: Rig) -> None:
    rig.host.deaf = True
    rig.host.scripts = [_forever(TextDelta("partial"))]
    await rig.send()
    await rig.heard.text("partial")
    stopping = rig.tasks.spawn("stop", rig.controller.stop("ses-one"))
    await rig.heard.turn(TurnState.INTERRUPTING)
    await rig.clock.advance(4.9)
    assert rig.host.sessions[0].closed == 0
    await rig.clock.advance(0.2)
    await stopping
    assert rig.host.sessions[0].closed == 1
    assert (await rig.heard.ended()).state is TurnState.CANCELLED
    rig.host.deaf = False
    await rig.send(text="again")
    assert (await rig.heard.ended(2)).state is TurnState.COMPLETED
    assert len(rig.host.sessions) == 2


async def test_a_stop_that_races_the_end_still_counts_as_stopped(rig: Rig) -> None:
    hold = asyncio.Event()
    rig.host.deaf = True
    rig.host.scripts = [[TextDelta("all of it"), Hold(hold), PromptEnded("completed")]]
    await rig.send()
    await rig.heard.text("all of it")
    stopping = rig.tasks.spawn("stop", rig.controller.stop("ses-one"))
    await rig.heard.turn(TurnState.INTERRUPTING)
    hold.set()
    await stopping
    turn = await rig.heard.ended()
    assert (turn.state, turn.finish_reason) == (TurnState.CANCELLED, "completed")


async def test_text_that_arrives_while_stopping_is_kept_and_does_not_show_running(rig: Rig) -> None:
    hold = asyncio.Event()
    rig.host.deaf = True
    rig.host.scripts = [[Hold(hold), TextDelta("late"), PromptEnded("cancelled")]]
    await rig.send()
    await rig.heard.turn(TurnState.STARTING)
    stopping = rig.tasks.spawn("stop", rig.controller.stop("ses-one"))
    await rig.heard.turn(TurnState.INTERRUPTING)
    hold.set()
    await stopping
    assert TurnState.RUNNING not in [turn.state for turn in rig.heard.turns()]
    assert [item.text for item in await rig.items()] == ["Hello", "late"]


async def test_a_stop_while_the_host_starts_means_it_is_never_asked(rig: Rig) -> None:
    rig.host.open_hold = asyncio.Event()
    await rig.store.create(reservation())
    await rig.gateway.admit(submission())
    await rig.host.opening.wait()
    assert rig.heard.turns()[-1].state is TurnState.ADMITTED
    await rig.controller.stop("ses-one")
    assert (await rig.heard.ended()).state is TurnState.CANCELLED
    assert rig.host.prompts == []


async def test_stopping_what_does_not_run_is_harmless(rig: Rig) -> None:
    await rig.controller.stop("ses-one")
    await rig.send()
    await rig.heard.ended()
    await rig.controller.stop("ses-one")
    await rig.gateway.cancel_turn("ses-one", "sub-one")
    assert rig.host.interrupts == 0


async def test_two_stops_interrupt_once(rig: Rig) -> None:
    rig.host.scripts = [_forever(TextDelta("partial"))]
    await rig.send()
    await rig.heard.text("partial")
    await asyncio.gather(rig.controller.stop("ses-one"), rig.gateway.cancel_turn("ses-one", "sub-one"))
    assert rig.host.interrupts == 1
