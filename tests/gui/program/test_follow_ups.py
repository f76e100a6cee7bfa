"""Sending within a conversation: the text goes only after the receipt; leaving a stream; stopping (case S13)."""

from __future__ import annotations

import asyncio

from runtime.base.errors import EnvironmentFault
from runtime.base.handover import Receipt, Submission
from tests.gui.program.hand import Hand
from tests.gui.program.window_run import Window


def test_enter_while_a_turn_runs_keeps_the_text_and_says_so(window: Window) -> None:
    window.settings("scripted:hold")

    async def scenario(hand: Hand) -> None:
        await hand.conversation("question", ended=False)
        await hand.until(lambda: "Scripted" in hand.transcript, "the first word")
        hand.type("too early")
        hand.enter()
        assert "Your text is kept" in hand.said
        assert hand.text == "too early"
        await hand.holds(lambda: hand.stored.turns == 1, "one turn")
        hand.click(hand.panel.stop_button)
        await hand.until(lambda: not hand.running(), "the end")
        assert hand.text == "too early"
        assert "Your text is kept" not in hand.said
        assert "stopped" in hand.transcript
        assert "Scripted" in hand.transcript
        assert hand.stored.turn_states == ["cancelled"]
        hand.enter()
        await hand.until(lambda: hand.stored.turns == 2, "the second turn")
        await hand.until(lambda: hand.text == "", "a cleared composer")

    window.run(scenario)


def test_S13_a_stream_goes_on_while_another_conversation_is_looked_at(window: Window) -> None:
    window.settings("scripted:slow")

    async def scenario(hand: Hand) -> None:
        await hand.conversation("slow question", ended=False)
        await hand.until(lambda: "answer" in hand.transcript, "the first words")
        await hand.back_to_draft()
        before = hand.received()
        await hand.until(lambda: len(hand.received()) > len(before) + 10, "words that arrive unseen")
        await hand.go("slow question")
        at_once = hand.transcript
        assert hand.received()[:60] in at_once
        assert hand.running()
        await hand.until(lambda: len(hand.transcript) > len(at_once) + 10, "more words")
        hand.click(hand.panel.stop_button)
        await hand.until(lambda: not hand.running(), "stopped")
        assert "stopped" in hand.transcript
        assert hand.stored.turn_states == ["cancelled"]
        assert len(hand.transcript) > len(at_once)

    window.run(scenario)


def test_a_follow_up_is_cleared_only_after_its_receipt(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("question")
        asked, go_on = asyncio.Event(), asyncio.Event()
        admit = hand.services.gateway.admit

        async def late(submission: Submission) -> Receipt:
            asked.set()
            await go_on.wait()
            return await admit(submission)

        hand.services.gateway.admit = late  # type: ignore[method-assign]
        hand.type("follow-up")
        hand.enter()
        hand.enter()
        await asked.wait()
        assert hand.text == "follow-up"
        go_on.set()
        await hand.until(lambda: hand.text == "", "a cleared composer")
        await hand.until(lambda: not hand.running() and hand.stored.turns == 2, "the second answer")
        hand.type("x")
        assert hand.text == "x"

    window.run(scenario)


def test_a_follow_up_that_was_changed_meanwhile_is_kept(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("question")
        asked, go_on = asyncio.Event(), asyncio.Event()
        admit = hand.services.gateway.admit

        async def late(submission: Submission) -> Receipt:
            asked.set()
            await go_on.wait()
            return await admit(submission)

        hand.services.gateway.admit = late  # type: ignore[method-assign]
        hand.type("follow-up")
        hand.enter()
        await asked.wait()
        hand.type(" and more")
        go_on.set()
        await hand.until(lambda: "follow-up" in hand.transcript and not hand.running(), "the second answer")
        assert hand.stored.turns == 2
        assert hand.text == "follow-up and more"
        assert "and more" not in hand.transcript
        await hand.saved()

    window.run(scenario)


def test_a_follow_up_without_an_answer_is_held_and_check_again_frees_it(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("question")

        async def lose(_submission: Submission) -> Receipt:
            raise EnvironmentFault("io_error")

        hand.services.gateway.admit = lose  # type: ignore[method-assign]
        hand.type("follow-up")
        hand.enter()
        await hand.until(lambda: "not known" in hand.said, "words about it")
        assert hand.text == "follow-up"
        assert hand.editor.isReadOnly()
        await hand.press("check_again")
        await hand.until(lambda: not hand.editor.isReadOnly(), "an editable text")
        assert hand.text == "follow-up"
        assert "not known" not in hand.said
        assert hand.stored.turns == 1

    window.run(scenario)


def test_a_failing_answer_keeps_its_words_and_says_so(window: Window) -> None:
    window.settings("scripted:fail")

    async def scenario(hand: Hand) -> None:
        await hand.conversation("question")
        assert "Scripted answer" in hand.transcript
        assert hand.stored.turn_states == ["failed"]
        assert hand.banner is not None

    window.run(scenario)


def test_retry_is_asked_for_once_by_a_double_click(window: Window) -> None:
    window.settings("scripted:fail")

    async def scenario(hand: Hand) -> None:
        await hand.conversation("question")
        retry = next(button for button in hand.actions() if button.objectName() == "retry")
        retry.click()
        retry.click()
        await hand.until(lambda: hand.stored.turn_states == ["failed", "failed"], "the second turn")
        await hand.holds(lambda: hand.stored.turns == 2, "two turns", turns=100)
        assert hand.banner is not None
        assert "not answered" in hand.banner.title

    window.run(scenario)
