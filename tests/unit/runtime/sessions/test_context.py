"""The newest complete turns that fit go with a prompt; what was left out is said."""

from __future__ import annotations

from runtime.hosts.faults import HostFault
from runtime.hosts.port import Capabilities, HistoryMessage, ReasoningSummaryDelta, TextDelta
from runtime.sessions import context
from runtime.sessions.model import TurnState
from tests.fakes.host import says
from tests.unit.runtime.sessions.kit import Rig


async def _talk(rig: Rig, *questions: str, ended: int = 0) -> None:
    for number, question in enumerate(questions, start=ended + 1):
        await rig.send(text=question)
        await rig.heard.ended(number)


def _sent(rig: Rig) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in rig.host.prompts[-1].history]


async def test_earlier_turns_go_with_the_prompt_in_order(rig: Rig) -> None:
    rig.host.scripts = [[ReasoningSummaryDelta("thinking"), *says("a1")], says("a2"), says("a3")]
    await _talk(rig, "q1", "q2", "q3")
    assert _sent(rig) == [("user", "q1"), ("assistant", "a1"), ("user", "q2"), ("assistant", "a2")]
    assert rig.host.prompts[-1].text == "q3"
    [turn] = (await rig.store.turns("ses-one"))[-1:]
    assert turn.detail["context"] == {"sent": 4, "left_out": 0}


async def test_failed_and_interrupted_turns_are_ordinary_history(rig: Rig) -> None:
    rig.host.scripts = [
        [HostFault("rate_limited", called=True)],
        [TextDelta("half"), HostFault("host_crashed", called=True)],
        says("a3"),
    ]
    await _talk(rig, "q1", "q2", "q3")
    assert _sent(rig) == [("user", "q1"), ("user", "q2"), ("assistant", "half")]


async def test_a_host_that_keeps_its_own_history_gets_none(rig: Rig) -> None:
    rig.host.capabilities = Capabilities(keeps_history=True)
    await _talk(rig, "q1", "q2")
    assert _sent(rig) == []


async def test_what_does_not_fit_is_left_out_whole_and_said(rig: Rig) -> None:
    rig.host.capabilities = Capabilities(context_tokens=1_024)
    rig.host.scripts = [says("x" * 1_500), says("a2"), says("a3")]
    await _talk(rig, "q1", "q2", "q3", "q4")
    assert [text for _role, text in _sent(rig)] == ["q1", "x" * 1_500, "q2", "a2", "q3", "a3"]
    await _talk(rig, "y" * 900, ended=4)
    assert [text for _role, text in _sent(rig)] == ["q2", "a2", "q3", "a3", "q4", "ok"]
    notices = [item for item in await rig.items() if item.kind == "notice"]
    assert [notice.data for notice in notices] == [{"code": "older_not_sent", "count": 2}]
    turn = (await rig.store.turns("ses-one"))[-1]
    assert turn.detail["context"] == {"sent": 6, "left_out": 2}
    await _talk(rig, "z" * 900, ended=5)
    assert [role for role, _text in _sent(rig)] == ["user", "assistant"] * (len(_sent(rig)) // 2)


async def test_a_prompt_that_fills_the_window_is_sent_alone(rig: Rig) -> None:
    rig.host.capabilities = Capabilities(context_tokens=512)
    await _talk(rig, "q1", "w" * 5_000)
    assert _sent(rig) == []
    assert rig.heard.turns()[-1].state is TurnState.COMPLETED


async def test_history_never_passes_eight_megabytes(rig: Rig) -> None:
    rig.host.scripts = [says("\u4e00" * 1_500_000), says("\u4e00" * 1_500_000)]
    await _talk(rig, "q1", "q2", "q3")
    assert [role for role, _text in _sent(rig)] == ["user", "assistant"]
    assert [item.data["count"] for item in await rig.items() if item.kind == "notice"] == [2]


async def test_a_retried_turn_takes_the_place_of_the_first_try(rig: Rig) -> None:
    rig.host.scripts = [says("a1"), [TextDelta("half"), HostFault("host_crashed", called=True)], says("a2"), says("a3")]
    await _talk(rig, "q1", "q2")
    failed = (await rig.store.turns("ses-one"))[-1]
    receipt = await rig.gateway.retry(failed.id)
    await rig.heard.ended(3)
    assert receipt.submission_id != failed.submission_id
    assert _sent(rig) == [("user", "q1"), ("assistant", "a1")]
    first, again = [item for item in await rig.items() if item.kind == "user" and item.text == "q2"]
    assert (again.parent_item, again.branch) == (first.parent_item, 2)
    await _talk(rig, "q3", ended=3)
    assert _sent(rig) == [("user", "q1"), ("assistant", "a1"), ("user", "q2"), ("assistant", "a2")]


def test_wide_characters_count_as_one_token_each() -> None:
    assert context.estimate_tokens("\u4e00" * 300) == 301
    assert context.estimate_tokens("a" * 300) == 101
    assert context.estimate_tokens("\u0430" * 300) == 101


def test_without_a_reported_window_only_the_byte_limit_counts() -> None:
    assert context.budget_of(None, "x" * 10_000, "") is None
    assert context.budget_of(2_048, "", "") == 2_048 - 512 - 18
    assert context.budget_of(512, "x" * 10_000, "") == 0
    assert HistoryMessage("user", "x").text == "x"
