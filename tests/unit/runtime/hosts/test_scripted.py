"""The scripted host is deterministic and says what it is."""

from __future__ import annotations

import pytest

from runtime.base.errors import RejectedFault
from runtime.hosts.faults import HostFault
from runtime.hosts.port import Binding, HostEvent, HostSettings, Prompt, PromptEnded, TextDelta
from runtime.hosts.scripted import ANSWER, PAUSES, ScriptedHost, ScriptedSession
from tests.fakes.clock import FakeClock


class NoWait(FakeClock):
    """Sleeping takes no time and is counted."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


async def open_script(name: str, clock: NoWait) -> ScriptedSession:
    return await ScriptedHost(clock).open(Binding("ses-1", ""), HostSettings(model=name))


def text_of(events: list[HostEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize("name", ["demo", "fast", "slow"])
async def test_a_script_gives_the_same_marked_answer_at_its_own_speed(name: str) -> None:
    clock = NoWait()
    session = await open_script(name, clock)
    events = [event async for event in session.prompt(Prompt("hello"))]
    assert text_of(events) == ANSWER and ANSWER.startswith("**Scripted answer.**")
    assert events[-1] == PromptEnded("completed")
    assert set(clock.slept) == {PAUSES[name]}
    assert session.observed.host == "scripted"


async def test_the_failing_script_keeps_its_first_words() -> None:
    session = await open_script("fail", NoWait())
    events: list[HostEvent] = []
    with pytest.raises(HostFault, match="scripted failure") as caught:
        async for event in session.prompt(Prompt("hello")):
            events.append(event)
    assert caught.value.called and ANSWER.startswith(text_of(events)) and text_of(events)


async def test_a_script_can_be_stopped() -> None:
    session = await open_script("hold", NoWait())
    events: list[HostEvent] = []
    async for event in session.prompt(Prompt("hello")):
        events.append(event)
        if isinstance(event, TextDelta):
            await session.interrupt()
    assert events[-1] == PromptEnded("cancelled")


async def test_the_echo_repeats_the_question() -> None:
    session = await open_script("echo", NoWait())
    assert text_of([event async for event in session.prompt(Prompt("a\n b"))]).endswith("a\n b")


async def test_an_unknown_script_is_refused() -> None:
    with pytest.raises(RejectedFault, match="model_unavailable"):
        await open_script("nonsense", NoWait())
