"""The window over real HTTP: one POST a send, whatever the server does (cases D05, D12, S02, P20)."""

from __future__ import annotations

import asyncio

import pytest

from tests.fakes.fake_provider import FakeProvider
from tests.gui.program.hand import Hand
from tests.gui.program.window_run import Window

_NO_NAVIGATION = ("&Send", "&Discard", "&Quit", "&Undo", "&Redo", "Cu&t", "&Paste")


def test_an_answer_is_streamed_into_the_transcript(window: Window) -> None:
    async def scenario(hand: Hand, provider: FakeProvider) -> None:
        await hand.conversation("question")
        await hand.until(lambda: "Ink holds fast." in hand.transcript, "the answer")
        assert hand.stored.turn_states == ["completed"]
        assert provider.posts == 1

    window.run_with_provider("ok", scenario)


def test_D05_a_refused_key_keeps_the_words_and_says_why(window: Window) -> None:
    async def scenario(hand: Hand, provider: FakeProvider) -> None:
        hand.type("long prompt 1")
        hand.enter()
        await hand.until(lambda: "key" in (hand.transcript + hand.said).lower(), "words about the key")
        await hand.until(lambda: not hand.running(), "no spinner")
        assert "long prompt 1" in hand.transcript + hand.text
        asked = provider.posts
        assert asked <= 1, "a probe may have met the refusal before any text was sent"
        await hand.holds(lambda: provider.posts == asked, "no second request", turns=100)
        hand.type("next")
        await hand.saved()

    window.run_with_provider("401", scenario)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [("reset_after_body", "not known"), ("status_500_after", "roles must alternate"), ("429_retry_after", "slow down")],
)
def test_S02_nothing_is_sent_twice_by_itself(window: Window, behaviour: str, words: str) -> None:
    async def scenario(hand: Hand, provider: FakeProvider) -> None:
        await hand.conversation("question")
        assert "question" in hand.transcript
        await hand.until(lambda: words in (hand.transcript + hand.said).lower(), f"{words!r}")
        await hand.holds(lambda: provider.posts == 1, "one request", turns=100)
        assert not hand.running()

    window.run_with_provider(behaviour, scenario)


def test_S02_a_server_that_never_answers_can_be_stopped(window: Window) -> None:
    async def scenario(hand: Hand, provider: FakeProvider) -> None:
        hand.type("question")
        hand.enter()
        await hand.until(lambda: hand.is_at("question") and provider.posts == 1, "the request")
        assert hand.running()
        hand.click(hand.panel.stop_button)
        await hand.until(lambda: not hand.running(), "the end")
        assert "question" in hand.transcript
        assert provider.posts == 1
        async with asyncio.timeout(10):
            await provider.gone.wait()

    window.run_with_provider("hold_after_body", scenario)


def test_P20_waits_visibly_for_a_model_that_is_loading_and_asks_once(window: Window) -> None:
    async def scenario(hand: Hand, provider: FakeProvider) -> None:
        hand.type("question")
        hand.enter()
        await hand.until(lambda: provider.gets > 1, "a second probe")
        await hand.until(lambda: "Loading the model" in hand.waiting(), "words about the wait")
        assert provider.posts == 0
        await hand.until(lambda: "Ink holds fast." in hand.transcript, "the answer")
        assert provider.posts == 1

    window.run_with_provider("models_503_for", scenario, hold=4)


def test_P20_a_wait_can_be_ended_before_anything_is_sent(window: Window) -> None:
    async def scenario(hand: Hand, provider: FakeProvider) -> None:
        hand.type("question")
        hand.enter()
        await hand.until(lambda: provider.gets > 1 and hand.is_at("question"), "a second probe")
        hand.click(hand.panel.stop_button)
        await hand.until(lambda: not hand.running(), "the end")
        assert "question" in hand.transcript
        await hand.holds(lambda: provider.posts == 0, "nothing sent", turns=100)
        hand.type("other words")
        await hand.saved()

    window.run_with_provider("models_503_for", scenario, hold=10_000)


def test_D12_no_way_of_moving_about_sends(window: Window) -> None:
    async def conversation(hand: Hand) -> None:
        await hand.conversation("first question")

    async def scenario(hand: Hand, provider: FakeProvider) -> None:
        await hand.go("first question")
        hand.type("unsent follow-up")
        await hand.back_to_draft()
        hand.type("unsent draft")
        await hand.tree_has("unsent draft")
        actions = [one for one in hand.painted.window.menus.actions() if not one.text().startswith(_NO_NAVIGATION)]
        assert len(actions) > 10
        opening = [one for one in actions if one.text().endswith("…") or one.text() in ("&Shortcuts", "&About Inkfast")]
        tree = hand.painted.window.tree
        for turn in range(50):
            for action in actions:
                if turn == 0 or action not in opening:
                    action.trigger()
            for row in hand.rows:
                tree.activate(row)
            for dialog in hand.dialogs():
                dialog.reject()
            await hand.step()
        await hand.go("first question")
        assert hand.text == "unsent follow-up"
        await hand.back_to_draft()
        assert hand.text == "unsent draft"
        await hand.saved()
        assert provider.posts == 0
        assert (hand.stored.operations, hand.stored.turns) == (1, 1)

    window.run(conversation)
    window.run_with_provider("ok", scenario)
