"""A turn from its receipt to its terminal record."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import apsw
import pytest

from runtime.base.errors import RejectedFault
from runtime.hosts.faults import HostFault
from runtime.hosts.port import (
    HostProgress,
    Observed,
    ObservedChanged,
    PromptEnded,
    ReasoningSummaryDelta,
    TextDelta,
    UsageReported,
)
from runtime.sessions.events import ItemAppended, ItemExtended, SessionEvent, TurnChanged
from runtime.sessions.fold import ConversationFold
from runtime.sessions.model import TurnState
from runtime.sessions.queries import read_items
from tests.fakes.clock import FakeClock, settle
from tests.fakes.host import Hold, Line, Pause, says
from tests.unit.runtime.sessions.kit import Rig, reservation, submission


def _forever(*lines: Line) -> Sequence[Line]:
    return [*lines, Hold(asyncio.Event()), TextDelta("never"), PromptEnded("completed")]


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
    assert [prompt.text for prompt in rig.host.prompts] == ["Say hello\nplease"]
    assert await rig.rows("SELECT count(*) FROM item_chunks") == [(0,)]


async def test_states_come_in_order(rig: Rig) -> None:
    await rig.send()
    await rig.heard.ended()
    assert [turn.state.value for turn in rig.heard.turns()] == ["admitted", "starting", "running", "completed"]


async def test_everything_that_is_published_is_durable(rig: Rig) -> None:
    order = [state.value for state in TurnState]
    other = apsw.Connection(str(rig.database.path), flags=apsw.SQLITE_OPEN_READONLY)
    checked: list[str] = []

    def look(event: SessionEvent) -> None:
        """Through another connection, at the moment of publication."""
        if isinstance(event, TurnChanged):
            stored = str(other.execute("SELECT state FROM turns WHERE id = ?", (event.turn.id,)).get)
            assert order.index(stored) >= order.index(event.turn.state.value)
            checked.append(stored)
        elif isinstance(event, ItemAppended | ItemExtended):
            item_id = event.item.id if isinstance(event, ItemAppended) else event.item_id
            text = event.item.text if isinstance(event, ItemAppended) else event.text
            assert text in "".join(item.text for item in read_items(other, "ses-one", None, 99) if item.id == item_id)
            checked.append("text")

    rig.store.subscribe(look)
    rig.host.scripts = [[TextDelta("one "), Pause(1), TextDelta("two "), Pause(1), *says("three")]]
    await rig.send()
    for text in ("one", "two"):
        await rig.heard.text(text)
        await rig.clock.advance(1)
    await rig.heard.ended()
    other.close()
    assert checked.count("text") == 4


async def test_a_host_that_was_never_called_fails_the_turn(rig: Rig) -> None:
    rig.host.scripts = [[HostFault("server_unreachable", "connection refused", called=False)]]
    await rig.send()
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code, turn.error) == (TurnState.FAILED, "server_unreachable", "connection refused")


async def test_a_host_that_cannot_start_fails_the_turn_without_a_call(rig: Rig) -> None:
    rig.host.open_fault = RejectedFault("model_unavailable")
    await rig.store.create(reservation())
    await rig.gateway.admit(submission())
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code) == (TurnState.FAILED, "model_unavailable")
    assert rig.host.prompts == []


@pytest.mark.parametrize("code", ["timed_out", "host_crashed", "server_unreachable", "outcome_unknown"])
async def test_silence_after_the_call_is_unknown(rig: Rig, code: str) -> None:
    rig.host.scripts = [[HostFault(code, called=True)]]
    await rig.send()
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code, turn.detail["cause"]) == (TurnState.UNKNOWN, "outcome_unknown", code)
    assert len(rig.host.prompts) == 1


@pytest.mark.parametrize("code", ["auth_failed", "not_found", "rate_limited", "server_error", "stream_error"])
async def test_an_error_that_the_server_answers_is_a_definite_failure(rig: Rig, code: str) -> None:
    rig.host.scripts = [[HostFault(code, "the server's words", called=True)]]
    await rig.send()
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code, turn.error) == (TurnState.FAILED, code, "the server's words")


@pytest.mark.parametrize(
    ("code", "state"),
    [("timed_out", TurnState.TIMED_OUT), ("host_crashed", TurnState.FAILED), ("stream_error", TurnState.FAILED)],
)
async def test_a_fault_after_text_keeps_the_text(rig: Rig, code: str, state: TurnState) -> None:
    rig.host.scripts = [[TextDelta("l1\nl2"), HostFault(code, called=True)]]
    await rig.send()
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code) == (state, code)
    assert [(item.state, item.text) for item in (await rig.items())[1:]] == [("interrupted", "l1\nl2")]


async def test_after_a_host_fault_the_next_turn_gets_a_new_host_session(rig: Rig) -> None:
    rig.host.scripts = [[TextDelta("half"), HostFault("host_crashed", called=True)]]
    await rig.send()
    await rig.heard.ended()
    await rig.send(text="again")
    assert (await rig.heard.ended(2)).state is TurnState.COMPLETED
    assert [session.closed for session in rig.host.sessions] == [1, 0]


async def test_an_answer_without_a_finish_mark_is_kept_and_marked(rig: Rig) -> None:
    rig.host.scripts = [[TextDelta("text")]]
    await rig.send()
    turn = await rig.heard.ended()
    assert (turn.state, turn.finish_reason) == (TurnState.COMPLETED, "no_finish_mark")


async def test_a_host_that_cancels_unasked_interrupts_the_turn(rig: Rig) -> None:
    rig.host.scripts = [[TextDelta("text"), PromptEnded("cancelled")]]
    await rig.send()
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code) == (TurnState.INTERRUPTED, "host_cancelled")


async def test_a_bug_in_a_host_ends_the_turn_and_is_reported(rig: Rig) -> None:
    rig.host.scripts = [[TextDelta("text"), ZeroDivisionError("bug")]]
    await rig.send()
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code) == (TurnState.FAILED, "internal_error")
    await rig.clock.advance(0)
    assert [type(bug) for bug in rig.bugs] == [ZeroDivisionError]
    rig.bugs.clear()


async def test_closing_the_program_interrupts_with_the_partial_text(rig: Rig) -> None:
    rig.host.scripts = [_forever(TextDelta("partial"))]
    await rig.send()
    await rig.heard.text("partial")
    await rig.controller.close()
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code) == (TurnState.INTERRUPTED, "app_closed")
    assert [(item.state, item.text) for item in (await rig.items())[1:]] == [("interrupted", "partial")]
    assert rig.host.sessions[0].closed == 1


async def test_a_follow_up_right_at_the_end_of_a_turn_is_run(rig: Rig) -> None:
    followed: list[asyncio.Task[object]] = []

    def on_event(event: object) -> None:
        if isinstance(event, TurnChanged) and event.turn.state.is_terminal and len(followed) < 5:
            followed.append(rig.tasks.spawn("follow", rig.send(text=f"next {len(followed)}")))

    rig.store.subscribe(on_event)
    await rig.send()
    turn = await rig.heard.ended(6)
    assert turn.state is TurnState.COMPLETED
    assert len(rig.host.prompts) == 6


async def test_a_caller_that_goes_away_after_admission_does_not_strand_the_turn(rig: Rig) -> None:
    await rig.store.create(reservation())
    caller = rig.tasks.spawn("caller", rig.gateway.admit(submission()))
    await asyncio.sleep(0)
    caller.cancel()
    assert (await rig.heard.ended()).state is TurnState.COMPLETED


async def test_beginning_twice_calls_the_host_once(rig: Rig) -> None:
    receipt = await rig.send()
    await asyncio.gather(*(rig.controller.begin(receipt) for _ in range(5)))
    await rig.heard.ended()
    await rig.controller.begin(receipt)
    assert len(rig.host.prompts) == 1


async def test_progress_before_the_first_event_does_not_count_as_running(rig: Rig) -> None:
    hold = asyncio.Event()
    rig.host.scripts = [[HostProgress("model_loading"), Hold(hold), *says("ok")]]
    await rig.send()
    await rig.heard.until(lambda: "progress" in rig.heard.turns()[-1].detail)
    turn = rig.heard.turns()[-1]
    assert (turn.state, turn.detail["progress"]) == (TurnState.STARTING, "model_loading")
    hold.set()
    await rig.heard.ended()


async def test_what_the_host_reports_is_kept_apart_from_what_was_requested(rig: Rig) -> None:
    rig.host.scripts = [[ObservedChanged(Observed("other-2", "fake")), UsageReported(7, 9), *says("ok")]]
    await rig.send()
    turn = await rig.heard.ended()
    assert turn.detail["usage"] == {"input": 7, "output": 9}
    [session] = await rig.store.list()
    assert (session.observed["model"], session.requested["model"]) == ("other-2", "scripted:demo")


async def test_reasoning_and_answer_are_items_of_their_own(rig: Rig) -> None:
    rig.host.scripts = [[ReasoningSummaryDelta("hm"), ReasoningSummaryDelta("m"), *says("an", "swer")]]
    await rig.send()
    await rig.heard.ended()
    assert [(item.kind, item.state, item.text) for item in (await rig.items())[1:]] == [
        ("reasoning_summary", "final", "hmm"),
        ("assistant", "final", "answer"),
    ]


async def test_the_host_gets_the_requested_settings_and_the_bound_folder(rig: Rig) -> None:
    settings = {"model": "local:tiny", "instructions": "Be brief", "sampling": {"temperature": 0.5}, "effort": "low"}
    await rig.store.create(reservation(settings=settings))
    await rig.gateway.admit(submission())
    await rig.heard.ended()
    [(binding, asked)] = rig.host.opened
    assert (binding.session_id, binding.workspace_root) == ("ses-one", "")
    assert (asked.model, asked.instructions, asked.sampling, asked.effort) == (
        "tiny",
        "Be brief",
        {"temperature": 0.5},
        "low",
    )
    assert rig.registry.asked == ["local:tiny"]


@pytest.mark.logs_warnings
async def test_a_full_disk_stops_the_host_keeps_the_text_and_ends_the_turn_when_there_is_room(rig: Rig) -> None:
    [(pages,)] = await rig.rows("PRAGMA page_count")
    hold = asyncio.Event()
    rig.host.scripts = [[TextDelta("first "), Hold(hold), TextDelta("x" * 200_000), PromptEnded("completed")]]
    await rig.send()
    await rig.heard.text("first ")
    await rig.rows(f"PRAGMA max_page_count = {pages + 2}")
    hold.set()
    await rig.host.ending.wait()
    await settle()
    await rig.rows("SELECT 1")  # behind the first attempt to store the end
    await settle()
    assert rig.clock.sleepers == 1
    assert not rig.heard.turns()[-1].state.is_terminal
    await rig.rows("PRAGMA max_page_count = 100000")
    await rig.clock.advance(60)
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code) == (TurnState.INTERRUPTED, "disk_full")
    assert [item.text for item in (await rig.items())[1:]] == ["first " + "x" * 200_000]
    assert rig.host.sessions[0].closed == 1


@pytest.mark.logs_warnings
async def test_closing_does_not_wait_for_a_disk_that_stays_full(rig: Rig, clock: FakeClock) -> None:
    hold = asyncio.Event()
    rig.host.scripts = [[TextDelta("first "), Hold(hold), TextDelta("x" * 200_000), Hold(asyncio.Event())]]
    await rig.send()
    await rig.heard.text("first ")
    [(pages,)] = await rig.rows("PRAGMA page_count")
    await rig.rows(f"PRAGMA max_page_count = {pages + 2}")
    hold.set()
    await rig.host.ending.wait()
    await rig.controller.close()
    assert await rig.rows("SELECT state FROM turns") == [("running",)]
    await rig.rows("PRAGMA max_page_count = 100000")
    rig.owner.release()
    other = await Rig.make(rig.folder, clock)
    assert await other.recover() == 1
    assert [item.text for item in await other.items()] == ["Hello", "first "]
    await other.close()


async def test_a_lone_surrogate_never_breaks_a_turn(rig: Rig) -> None:
    rig.host.scripts = [says("a\ud800b")]
    await rig.send(text="c\udfffd")
    assert (await rig.heard.ended()).state is TurnState.COMPLETED
    assert [item.text for item in await rig.items()] == ["c\ufffdd", "a\ufffdb"]
    assert rig.host.prompts[0].text == "c\ufffdd"


async def test_S13_leaving_the_conversation_neither_stops_nor_hides_the_stream(rig: Rig) -> None:
    script: list[Line] = []
    for second in range(60):
        script += [TextDelta(f"[{second}]"), Pause(1.0)]
    rig.host.scripts = [[*script, PromptEnded("completed")]]
    page = ConversationFold("ses-one")
    changed: list[int | None] = []
    leave = rig.store.subscribe(lambda event: changed.append(page.apply(event)))
    await rig.send()
    await rig.heard.text("[0]")
    for second in (1, 2):
        await rig.clock.advance(1.0)
        await rig.heard.text(f"[{second}]")
    leave()
    for second in range(3, 11):
        await rig.clock.advance(1.0)
        await rig.heard.text(f"[{second}]")
    back = ConversationFold("ses-one")
    rig.store.subscribe(lambda event: changed.append(back.apply(event)))
    back.merge(await rig.items(), await rig.store.turns("ses-one"))
    assert back.items[-1].text == "".join(f"[{second}]" for second in range(11))
    assert [turn.state for turn in back.turns.values()] == [TurnState.RUNNING]
    await rig.clock.advance(1.0)
    await rig.heard.text("[11]")
    assert back.items[-1].text.endswith("[10][11]")
    await rig.controller.stop("ses-one")
    assert (back.items[-1].state, [turn.state for turn in back.turns.values()]) == (
        "interrupted",
        [TurnState.CANCELLED],
    )


async def test_a_prompt_that_was_refused_before_the_call_failed_and_is_not_unknown(rig: Rig) -> None:
    rig.host.scripts = [[RejectedFault("context_too_large")]]
    await rig.send()
    turn = await rig.heard.ended()
    assert (turn.state, turn.error_code) == (TurnState.FAILED, "context_too_large")
