"""The window and a configured server: asked once, whatever is killed, and never by a restart."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.base.folder import DataFolder
from tests.crash.invariants import check
from tests.e2e.conftest import Start
from tests.e2e.kit import Person, active_texts, answers, counts, turn_states, wait_gone
from tests.fakes.program import rows, wait_for
from tests.fakes.provider_process import ProviderProcess, choose_server

PROMPT = "write it down once"
DEAD_PROXY = "http://127.0.0.1:9"
PROXIES = {name: DEAD_PROXY for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy")}
pytestmark = pytest.mark.xvfb


@pytest.fixture
def provider(tmp_path: Path, folder: DataFolder, request: pytest.FixtureRequest) -> Iterator[ProviderProcess]:
    """The default server of the program; ``_behaves`` gives its options."""
    with ProviderProcess(tmp_path, *getattr(request, "param", ())) as process:
        choose_server(folder.settings, process.port)
        yield process


def _behaves(*options: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("provider", [options], indirect=True, ids=["provider"])


def _restart_and_type(start: Start, folder: DataFolder) -> Person:
    """A start after a kill, used: whatever it wanted to do by itself, it has had its time."""
    person = start()
    person.type("still usable")
    wait_for(lambda: any("still usable" in text for text in active_texts(folder)), "the next draft")
    return person


def test_a_prompt_is_dispatched_exactly_once(start: Start, folder: DataFolder, provider: ProviderProcess) -> None:
    text = PROMPT + " 一次 né 👋"
    person = start()
    person.display.paste(text)
    person.wait_saved(text)
    person.display.key("Return")
    person.wait_turns("completed")
    assert answers(folder) == ["Ink holds fast."]
    assert [body["messages"][-1]["content"] for body in provider.posts()] == [text]
    assert person.program.quit() == 0
    assert counts(folder) == {"operations": 1, "receipts": 1, "turns": 1, "sessions": 1}
    check(folder, texts=[text], dispatches=len(provider.posts()))


def test_S01_thirty_returns_send_once(start: Start, folder: DataFolder, provider: ProviderProcess) -> None:
    person = start()
    person.type(PROMPT)
    person.wait_saved(PROMPT)
    person.display.run("xdotool", "key", "--delay", "1", *["Return"] * 30)
    person.wait_turns("completed")
    assert person.program.quit() == 0
    assert counts(folder) == {"operations": 1, "receipts": 1, "turns": 1, "sessions": 1}
    assert len(provider.posts()) == 1


@_behaves("--tokens", "200", "--pause", "0.05")
def test_S07_S10_a_kill_mid_stream_keeps_the_partial_and_sends_nothing_again(
    start: Start, folder: DataFolder, provider: ProviderProcess
) -> None:
    person = start()
    person.send(PROMPT)
    wait_for(lambda: len("".join(answers(folder)).split()) >= 30, "thirty words of the answer")
    children = person.children()
    person.program.kill()
    wait_gone(children)
    before = rows(folder.state_database, "SELECT id, seq, kind FROM items ORDER BY seq")
    partial = answers(folder)[0]

    person = _restart_and_type(start, folder)
    assert turn_states(folder) == ["interrupted"]
    assert answers(folder) == [partial]
    assert rows(folder.state_database, "SELECT id, seq, kind FROM items ORDER BY seq") == before
    assert person.program.quit() == 0
    assert len(provider.posts()) == 1
    check(folder, texts=[PROMPT], dispatches=1)


@pytest.mark.parametrize(
    ("failpoint", "phase", "turns"),
    [
        ("operations.dispatching.after_commit", "dispatch_unknown", []),
        ("submission.before_admit", "dispatch_unknown", []),
        ("sessions.admit.after_commit", "accepted", ["interrupted"]),
        ("submission.after_admit", "accepted", ["interrupted"]),
    ],
)
def test_S04_a_kill_between_send_and_receipt_is_never_replayed(
    start: Start, folder: DataFolder, provider: ProviderProcess, failpoint: str, phase: str, turns: list[str]
) -> None:
    person = start(INKFAST_FAILPOINT=failpoint)
    person.type(PROMPT)
    person.wait_saved(PROMPT)
    person.display.key("Return")
    assert person.program.process.wait(timeout=60) == -signal.SIGKILL
    asked = len(provider.posts())

    person = start()
    person.display.key("Return", "Return")  # an unknown outcome is nothing that Return could send again
    assert person.leave() == 0
    assert rows(folder.drafts_database, "SELECT phase FROM operations") == [(phase,)]
    assert turn_states(folder) == turns
    assert len(provider.posts()) == asked == 0
    check(folder, texts=[PROMPT], dispatches=0)


@_behaves("--behaviour", "hold_mid_stream")
def test_S19_three_running_turns_are_interrupted_by_a_kill(
    start: Start, folder: DataFolder, provider: ProviderProcess
) -> None:
    person = start()
    for number in range(3):
        person.send(f"question {number}")
        person.wait_turns(*["running"] * (number + 1))
        person.display.key("ctrl+n")
    person.program.kill()

    person = _restart_and_type(start, folder)
    assert turn_states(folder) == ["interrupted"] * 3
    assert rows(folder.state_database, "SELECT count(*) FROM turns WHERE ended_at IS NULL") == [(0,)]
    assert person.program.quit() == 0
    assert len(provider.posts()) == 3
    check(folder, texts=[f"question {number}" for number in range(3)], dispatches=3)


def test_N01_proxy_variables_do_not_capture_loopback(
    start: Start, folder: DataFolder, provider: ProviderProcess
) -> None:
    person = start(**PROXIES, NO_PROXY="", no_proxy="")
    person.send(PROMPT)
    person.wait_turns("completed")
    assert answers(folder) == ["Ink holds fast."]
    assert len(provider.posts()) == 1
    assert person.program.quit() == 0


@_behaves("--tokens", "200", "--pause", "0.05")
def test_a_wish_to_quit_mid_stream_ends_in_order(start: Start, folder: DataFolder, provider: ProviderProcess) -> None:
    person = start()
    person.send(PROMPT)
    wait_for(lambda: "word" in "".join(answers(folder)), "the first words")
    children = person.children()
    assert children
    assert person.program.quit() == 0
    wait_gone(children)
    assert "closed" in person.program.stages()
    assert turn_states(folder) == ["interrupted"]
    assert "word" in answers(folder)[0]
    check(folder, texts=[PROMPT], dispatches=1)


@pytest.mark.parametrize(
    ("failpoint", "kept", "turns"),
    [
        ("follow_up.before_admit", "second", 1),
        ("follow_up.after_admit", "", 2),
        ("drafts.clear.before_commit", "", 2),
    ],
)
def test_a_killed_follow_up_is_cleared_by_its_receipt_alone(
    start: Start, folder: DataFolder, provider: ProviderProcess, failpoint: str, kept: str, turns: int
) -> None:
    person = start(INKFAST_FAILPOINT=failpoint)
    person.send(PROMPT)
    person.wait_turns("completed")
    person.type("second")
    person.wait_saved("second")
    children = person.children()
    person.display.key("Return")
    assert person.program.process.wait(timeout=60) == -signal.SIGKILL
    wait_gone(children)  # only then nothing is on its way to the provider any more
    asked = len(provider.posts())

    assert start().leave() == 0
    assert active_texts(folder) == [kept]
    first, *second = turn_states(folder)
    assert first == "completed" and len(second) == turns - 1
    # The call is noted before it is made: where the kill came between the two, nobody can know.
    assert set(second) <= {"interrupted", "unknown"}
    assert len(provider.posts()) == asked
    check(folder, texts=[PROMPT], dispatches=asked)
