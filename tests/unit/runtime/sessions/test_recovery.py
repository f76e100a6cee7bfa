"""After a crash: every dead turn has one terminal record before any list is shown, and nothing is sent."""

from __future__ import annotations

import asyncio
from pathlib import Path

from runtime.hosts.port import TextDelta
from runtime.sessions.model import TurnState
from runtime.sessions.peek import peek
from tests.fakes.clock import FakeClock
from tests.fakes.host import FakeHost, Hold, says
from tests.unit.runtime.sessions.kit import Rig, reservation, submission

_DUMP = "SELECT (SELECT json_group_array(json_array(id, seq, state, text)) FROM items)"


async def _killed_while_streaming(folder: Path, clock: FakeClock, names: tuple[str, ...] = ("one",)) -> FakeHost:
    """A program that dies while an answer streams in each of ``names``."""
    rig = await Rig.make(folder, clock)
    for name in names:
        rig.host.scripts.append([TextDelta("l1\n"), TextDelta("l2\nl3"), Hold(asyncio.Event())])
        await rig.send(name)
    await rig.heard.until(lambda: rig.heard.said().count("l3") == len(names))
    await rig.die()
    return rig.host


async def test_S07_a_crash_in_the_middle_keeps_the_partial_text_as_interrupted(
    tmp_path: Path, clock: FakeClock
) -> None:
    await _killed_while_streaming(tmp_path, clock)
    rig = await Rig.make(tmp_path, clock)
    assert await rig.recover() == 1
    [turn] = await rig.store.turns("ses-one")
    assert (turn.state, turn.error_code) == (TurnState.INTERRUPTED, "process_ended")
    assert [(item.kind, item.state, item.text) for item in (await rig.items())[1:]] == [
        ("assistant", "interrupted", "l1\nl2\nl3")
    ]
    assert await rig.rows("SELECT count(*) FROM item_chunks") == [(0,)]
    await rig.close()


async def test_S07_the_end_of_an_answer_without_a_newline_is_saved(rig: Rig) -> None:
    rig.host.scripts = [says("l1\n", "l2\n", "l3")]
    await rig.send()
    await rig.heard.ended()
    assert (await rig.items())[1].text == "l1\nl2\nl3"


async def test_S10_recovery_adds_no_message_and_sends_nothing(tmp_path: Path, clock: FakeClock) -> None:
    await _killed_while_streaming(tmp_path, clock)
    rig = await Rig.make(tmp_path, clock)
    before = [(item.seq, item.kind, item.text) for item in await rig.items()]
    await rig.recover()
    assert [(item.seq, item.kind, item.text) for item in await rig.items()] == before
    assert rig.host.prompts == [] and rig.host.opened == []
    await rig.close()


async def test_S19_turns_of_a_dead_program_are_interrupted_before_the_list_is_shown(
    tmp_path: Path, clock: FakeClock
) -> None:
    names = ("one", "two", "three")
    await _killed_while_streaming(tmp_path, clock, names)
    glimpse = peek(tmp_path / "state-v1.sqlite", tmp_path)
    assert [session.turn_state for session in glimpse.sessions] == [TurnState.INTERRUPTED] * 3
    rig = await Rig.make(tmp_path, clock)
    assert await rig.recover() == 3
    assert [session.turn_state for session in await rig.store.list()] == [TurnState.INTERRUPTED] * 3
    assert await rig.rows("SELECT count(*) FROM turns WHERE ended_at IS NOT NULL") == [(3,)]
    await rig.close()


async def test_S06_turns_are_committed_when_they_happen(tmp_path: Path, clock: FakeClock) -> None:
    rig = await Rig.make(tmp_path, clock)
    for number in (1, 2, 3):
        await rig.send(text=f"q{number}")
        await rig.heard.ended(number)
    await rig.die()
    later = await Rig.make(tmp_path, clock)
    assert await later.recover() == 0
    assert [turn.state for turn in await later.store.turns("ses-one")] == [TurnState.COMPLETED] * 3
    assert [item.text for item in await later.items()] == ["q1", "ok", "q2", "ok", "q3", "ok"]
    await later.close()


async def test_recovery_run_three_times_changes_nothing_after_the_first(tmp_path: Path, clock: FakeClock) -> None:
    await _killed_while_streaming(tmp_path, clock)
    rig = await Rig.make(tmp_path, clock)
    assert await rig.recover() == 1
    stored = await rig.rows(_DUMP)
    events = len(rig.heard.events)
    assert [await rig.recover(), await rig.recover()] == [0, 0]
    assert await rig.rows(_DUMP) == stored
    assert len(rig.heard.events) == events
    await rig.close()


async def test_a_turn_that_was_never_called_says_so(tmp_path: Path, clock: FakeClock) -> None:
    rig = await Rig.make(tmp_path, clock)
    await rig.store.create(reservation())
    await rig.admission.admit(submission())
    await rig.die()
    later = await Rig.make(tmp_path, clock)
    await later.recover()
    [turn] = await later.store.turns("ses-one")
    assert (turn.state, turn.error_code) == (TurnState.INTERRUPTED, "not_started")
    await later.close()


async def test_a_turn_that_was_called_without_an_event_is_unknown(tmp_path: Path, clock: FakeClock) -> None:
    rig = await Rig.make(tmp_path, clock)
    rig.host.scripts = [[Hold(asyncio.Event())]]
    await rig.send()
    await rig.heard.turn(TurnState.STARTING)
    await rig.die()
    later = await Rig.make(tmp_path, clock)
    await later.recover()
    [turn] = await later.store.turns("ses-one")
    assert (turn.state, turn.error_code) == (TurnState.UNKNOWN, "outcome_unknown")
    await later.close()


async def test_a_turn_of_a_living_process_is_left_alone(rig: Rig, tmp_path: Path, clock: FakeClock) -> None:
    rig.host.scripts = [[TextDelta("on its way"), Hold(asyncio.Event())]]
    await rig.send()
    await rig.heard.text("on its way")
    other = await Rig.make(tmp_path, clock)
    assert await other.recover() == 0
    assert await rig.recover() == 0
    assert [session.turn_state for session in await other.store.list()] == [TurnState.RUNNING]
    glimpse = peek(tmp_path / "state-v1.sqlite", tmp_path)
    assert [session.turn_state for session in glimpse.sessions] == [TurnState.RUNNING]
    await other.close()


async def test_a_released_owner_leaves_no_lock_file(tmp_path: Path, clock: FakeClock) -> None:
    rig = await Rig.make(tmp_path, clock)
    assert len(list(tmp_path.glob("owner-*.lock"))) == 1
    await rig.close()
    assert list(tmp_path.glob("owner-*.lock")) == []


async def test_after_recovery_the_conversation_goes_on_with_a_host_opened_at_need(
    tmp_path: Path, clock: FakeClock
) -> None:
    await _killed_while_streaming(tmp_path, clock)
    rig = await Rig.make(tmp_path, clock)
    await rig.recover()
    assert rig.host.opened == []
    await rig.send(text="Continue")
    assert (await rig.heard.ended(2)).state is TurnState.COMPLETED
    [(binding, _settings)] = rig.host.opened
    assert binding.host_session_id == "host-1"
    assert [message.text for message in rig.host.prompts[0].history] == ["Hello", "l1\nl2\nl3"]
    assert [item.seq for item in await rig.items()] == [1, 2, 3, 4]
    await rig.close()
