"""Send as a person does it: once, visibly, and never with a claim that is not proven (cases D06, S01, S11, K01)."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QApplication

from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.base.handover import Receipt, Reservation, Submission
from runtime.sessions.live import OpenedHost
from tests.gui.program.hand import Hand
from tests.gui.program.window_run import Window


def _compose(hand: Hand, preedit: str, commit: str = "") -> None:
    event = QInputMethodEvent(preedit, [])
    event.setCommitString(commit)
    QApplication.sendEvent(hand.editor, event)


def test_S01_a_double_click_and_a_held_return_send_once(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        hand.type("once")
        editor = hand.editor
        button = hand.panel.send_button
        button.click()
        button.click()
        hand.enter()
        for _ in range(30):
            repeat = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", True)
            QApplication.sendEvent(editor, repeat)
        await hand.until(lambda: hand.is_at("once"), "the conversation")
        await hand.until(lambda: not hand.running(), "its end")
        assert (hand.stored.operations, hand.stored.sessions, hand.stored.turns) == (1, 1, 1)

    window.run(scenario)


def test_K01_return_that_ends_a_composition_sends_nothing_and_the_next_one_sends(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        _compose(hand, "にほんご")
        hand.enter()
        assert hand.desk.draft is not None
        assert not hand.desk.draft.has_content, "preedit is not text"
        _compose(hand, "", "日本語")
        hand.enter()  # in the same turn of the loop
        await hand.saved()
        assert hand.stored.operations == 0
        hand.enter()
        await hand.until(lambda: hand.is_at("日本語"), "the conversation")
        assert hand.stored.operations == 1

    window.run(scenario)


def test_D06_text_stays_when_the_conversation_cannot_be_made(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        async def fail(_reservation: Reservation) -> None:
            raise EnvironmentFault("disk_full")

        hand.services.gateway.create = fail  # type: ignore[method-assign]
        hand.type("long prompt")
        hand.enter()
        await hand.until(lambda: hand.stored.phases not in ([], ["reserved"], ["starting"]), "a failed operation")
        await hand.until(lambda: not hand.banner or not hand.banner.busy, "no spinner")
        assert hand.text == "long prompt"
        assert not hand.on_session
        assert hand.stored.active_drafts == 1
        assert "kept" in hand.said
        assert hand.stored.sessions == 0

    window.run(scenario)


def test_D06_a_conversation_that_was_opened_meanwhile_stays_visible(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("other question")
        await hand.back_to_draft()
        asked, go_on = asyncio.Event(), asyncio.Event()
        create = hand.services.gateway.create

        async def late(reservation: Reservation) -> None:
            asked.set()
            await go_on.wait()
            await create(reservation)

        hand.services.gateway.create = late  # type: ignore[method-assign]
        hand.type("new question")
        hand.enter()
        await asked.wait()
        await hand.go("other question")
        go_on.set()
        await hand.until(lambda: hand.stored.phases == ["accepted", "accepted"], "acceptance")
        await hand.tree_has("new question")
        await hand.holds(lambda: hand.is_at("other question"), "the conversation that was opened")
        await hand.back_to_draft()
        assert hand.text == ""
        hand.type("free again")
        await hand.saved()

    window.run(scenario)


def test_a_draft_page_that_was_left_and_returned_to_takes_text_after_its_draft_was_sent(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        asked, go_on = asyncio.Event(), asyncio.Event()
        create = hand.services.gateway.create

        async def late(reservation: Reservation) -> None:
            asked.set()
            await go_on.wait()
            await create(reservation)

        hand.services.gateway.create = late  # type: ignore[method-assign]
        hand.type("question")
        hand.enter()
        await asked.wait()
        await hand.back_to_draft()
        assert hand.text == "question"
        assert hand.editor.isReadOnly()
        go_on.set()
        await hand.until(lambda: hand.text == "", "the next draft")
        await hand.until(lambda: not hand.editor.isReadOnly(), "an editor that takes text")
        hand.type("next")
        await hand.saved()
        await hand.tree_has("question")
        await hand.go("question")
        await hand.back_to_draft()
        assert hand.text == "next"

    window.run(scenario)


def test_S11_without_a_stored_receipt_the_result_is_unknown_and_nothing_is_converted(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        async def claim(submission: Submission) -> Receipt:
            return Receipt(submission.submission_id, submission.session_id, "turn_1", submission.fingerprint, 1)

        hand.services.gateway.admit = claim  # type: ignore[method-assign]
        hand.type("sent?")
        hand.enter()
        await hand.until(lambda: hand.stored.phases == ["dispatch_unknown"], "an unknown result")
        await hand.until(lambda: "not known" in hand.said, "words about it")
        assert hand.text == "sent?"
        assert not hand.on_session
        assert hand.stored.active_drafts == 1
        await hand.press("check_again")
        await hand.holds(lambda: hand.stored.phases == ["dispatch_unknown"], "still unknown")
        await hand.press("keep_as_draft")
        await hand.until(lambda: not hand.editor.isReadOnly(), "an editable draft")
        hand.type("!")
        await hand.saved()
        assert hand.stored.phases == ["abandoned"]

    window.run(scenario)


def test_send_as_new_asks_first_and_makes_a_new_operation(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        gateway = hand.services.gateway
        admit = gateway.admit

        async def lose(_submission: Submission) -> Receipt:
            raise EnvironmentFault("io_error")

        gateway.admit = lose  # type: ignore[method-assign]
        hand.type("sent?")
        hand.enter()
        await hand.until(lambda: hand.stored.phases == ["dispatch_unknown"], "an unknown result")
        gateway.admit = admit  # type: ignore[method-assign]
        await hand.press("send_as_new")
        await hand.answer("cancel")
        assert hand.stored.phases == ["dispatch_unknown"]
        await hand.press("send_as_new")
        await hand.answer("send_as_new")
        await hand.until(lambda: hand.is_at("sent?"), "the conversation")
        assert hand.stored.phases == ["abandoned", "accepted"]
        assert hand.stored.turns == 1

    window.run(scenario)


def test_a_failure_before_reservation_is_said_on_its_own_page_only(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("other question")
        await hand.back_to_draft()
        asked, go_on = asyncio.Event(), asyncio.Event()

        async def refuse(_model: str) -> str:
            asked.set()
            await go_on.wait()
            raise RejectedFault("model_unavailable", model="gone")

        hand.services.gateway.resolve_model = refuse  # type: ignore[method-assign]
        hand.type("a question")
        hand.enter()
        await asked.wait()
        await hand.go("other question")
        go_on.set()
        await hand.until(lambda: "sending" not in _locks(hand), "the end of the attempt")
        await hand.holds(lambda: hand.banner is None, "no banner about another text")
        await hand.back_to_draft()
        assert "model" in hand.said.lower()
        assert hand.text == "a question"
        assert not hand.editor.isReadOnly()
        hand.type("!")
        assert hand.banner is None

    window.run(scenario)


def _locks(hand: Hand) -> list[str]:
    return [draft.locked for draft in hand.desk.side.drafts._drafts.values()]


def test_cancel_while_the_host_starts_gives_the_text_back(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        asked, go_on = asyncio.Event(), asyncio.Event()
        start = hand.services.gateway.start

        async def slow(reservation: Reservation) -> OpenedHost:
            asked.set()
            await go_on.wait()
            return await start(reservation)

        hand.services.gateway.start = slow  # type: ignore[method-assign]
        hand.type("changed my mind")
        hand.enter()
        await asked.wait()
        await hand.press("cancel")
        await hand.until(lambda: "Cancelling" in hand.said, "words about it")
        go_on.set()
        await hand.until(lambda: hand.stored.phases == ["cancelled"], "cancelled")
        await hand.until(lambda: not hand.editor.isReadOnly(), "an editable draft")
        assert hand.text == "changed my mind"
        assert "Nothing was sent" in hand.said
        assert hand.stored.turns == 0
        hand.services.gateway.start = start  # type: ignore[method-assign]
        hand.enter()
        await hand.until(lambda: hand.is_at("changed my mind"), "the conversation after all")
        assert hand.stored.phases == ["cancelled", "accepted"]

    window.run(scenario)


def test_D12_enter_while_another_conversation_is_opened_sends_what_is_visible(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("other question")
        hand.type("unsent follow-up")
        await hand.saved()
        await hand.back_to_draft()
        hand.type("visible text")
        await hand.open("other question")
        while not hand.on_session:
            hand.enter()
            await hand.step()
        await hand.until(lambda: hand.stored.phases == ["accepted", "accepted"], "acceptance")
        await hand.until(lambda: hand.is_at("other question"), "the conversation that was opened")
        assert hand.text == "unsent follow-up"
        await hand.tree_has("visible text")
        assert hand.stored.turns == 2

    window.run(scenario)


def test_the_newest_wish_wins_whatever_is_read_first(window: Window, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()

    async def scenario(hand: Hand) -> None:
        await hand.conversation("first question")
        await hand.until(lambda: "first question" in hand.titles(), "the conversation in the tree")
        row = next(one for one in hand.rows if one.kind == "session")
        for _ in range(10):
            await hand.back_to_draft()
            hand.program._raise(str(folder))
            hand.painted.window.tree.activate(row)
            await hand.until(lambda: hand.is_at("first question"), "the conversation")
            await hand.holds(lambda: hand.is_at("first question"), "the newest wish")

    window.run(scenario)


def test_a_failed_start_is_continued_with_the_same_identities_once(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        gateway = hand.services.gateway
        start = gateway.start

        async def fail(_reservation: Reservation) -> OpenedHost:
            raise EnvironmentFault("host_unavailable")

        gateway.start = fail  # type: ignore[method-assign]
        hand.type("question")
        hand.enter()
        await hand.until(lambda: hand.stored.phases == ["runtime_failed"], "a failed start")
        await hand.until(lambda: "Your text is kept" in hand.said, "words about it")
        assert hand.editor.isReadOnly()
        gateway.start = start  # type: ignore[method-assign]
        again = next(button for button in hand.actions() if button.objectName() == "continue")
        again.click()
        again.click()
        await hand.until(lambda: hand.is_at("question"), "the conversation")
        assert hand.stored.phases == ["accepted"]
        assert (hand.stored.sessions, hand.stored.turns) == (1, 1)

    window.run(scenario)


def test_a_failed_start_is_given_up_and_the_text_sent_with_another_model(window: Window) -> None:
    window.settings("scripted:no-such-script")

    async def scenario(hand: Hand) -> None:
        hand.type("question")
        hand.enter()
        await hand.until(lambda: hand.stored.phases == ["runtime_failed"], "a failed start")
        await hand.press("cancel")
        await hand.until(lambda: not hand.editor.isReadOnly(), "an editable draft")
        assert hand.text == "question"
        hand.services.settings.update(default_model="scripted:fast")
        hand.enter()
        await hand.until(lambda: hand.is_at("question"), "the conversation")
        assert hand.stored.phases == ["cancelled", "accepted"]
        assert hand.stored.turns == 1

    window.run(scenario)


def test_an_interrupted_send_comes_back_with_its_banner_and_continues_on_request(window: Window) -> None:
    async def cut_off(hand: Hand) -> None:
        gateway = hand.services.gateway
        asked = asyncio.Event()

        async def never(_reservation: Reservation) -> OpenedHost:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

        gateway.start = never  # type: ignore[method-assign]
        hand.type("question")
        hand.enter()
        await asked.wait()

    async def reopened(hand: Hand) -> None:
        assert hand.text == "question"
        await hand.until(lambda: "interrupted" in hand.said, "the banner")
        assert hand.editor.isReadOnly()
        await hand.holds(lambda: hand.stored.turns == 0, "nothing sent by itself", turns=100)
        await hand.press("continue")
        await hand.until(lambda: hand.is_at("question"), "the conversation")
        assert hand.stored.phases == ["accepted"]
        assert hand.stored.turns == 1

    window.run(cut_off)
    window.run(reopened)
