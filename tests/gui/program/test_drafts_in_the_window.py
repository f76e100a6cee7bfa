"""Typing, switching, coming back: no path loses or mixes text (cases D01, D02, D11, D14)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from PySide6.QtCore import Qt

from tests.fakes.fake_provider import FakeProvider
from tests.gui.program.hand import CTRL, SHIFT, Hand
from tests.gui.program.window_run import Window

WORKSPACE_DRAFTS = "SELECT count(*) FROM drafts WHERE status = 'active' AND surface = 'workspace'"


async def _two_conversations(hand: Hand) -> None:
    await hand.conversation("first question")
    await hand.back_to_draft()
    await hand.conversation("second question")


def test_D01_each_conversation_has_its_own_text_caret_and_undo(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await _two_conversations(hand)
        await hand.go("first question")
        hand.type("alpha-1")
        hand.keys(Qt.Key.Key_Left, 4)
        await hand.go("second question")
        assert hand.text == ""
        hand.keys(Qt.Key.Key_Z, 10, CTRL)
        assert hand.text == ""
        hand.type("beta-2")
        await hand.back_to_draft()
        hand.type("gamma-3")
        await hand.go("first question")
        assert hand.text == "alpha-1"
        assert hand.editor.caret_and_anchor() == (3, 3)
        hand.key(Qt.Key.Key_Z, CTRL)
        assert hand.text == ""
        hand.key(Qt.Key.Key_Y, CTRL)
        assert hand.text == "alpha-1"
        await hand.until(lambda: hand.stored.active_drafts == 3, "three rows")

    window.run(scenario)


def test_D01_caret_and_selection_come_back_after_a_restart(window: Window) -> None:
    async def first(hand: Hand) -> None:
        await _two_conversations(hand)
        await hand.go("first question")
        hand.type("alpha-1")
        hand.keys(Qt.Key.Key_Left, 4)
        await hand.back_to_draft()
        hand.type("gamma-3")
        hand.keys(Qt.Key.Key_Left, 2, SHIFT)

    async def second(hand: Hand) -> None:
        assert hand.text == "gamma-3"
        assert hand.editor.caret_and_anchor() == (5, 7)
        await hand.go("first question")
        assert hand.text == "alpha-1"
        assert hand.editor.caret_and_anchor() == (3, 3)

    window.run(first)
    window.run(second)


def test_the_caret_stays_where_typing_has_moved_it_while_the_page_is_still_read(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("first question")
        await hand.back_to_draft()
        hand.type("plan")
        await hand.go("first question")
        hand.new()
        await hand.until(lambda: not hand.on_session, "the draft page, not read to its end")
        hand.key(Qt.Key.Key_Home)
        hand.type("a ")
        await hand.until(hand.is_at_draft, "the draft")
        await hand.holds(lambda: hand.editor.caret_and_anchor() == (2, 2), "the caret behind what was typed")
        hand.type("good ")
        assert hand.text == "a good plan"
        await hand.saved()

    async def again(hand: Hand) -> None:
        assert hand.text == "a good plan"

    window.run(scenario)
    window.run(again)


def test_text_typed_before_the_draft_is_read_goes_behind_the_stored_text(window: Window) -> None:
    async def first(hand: Hand) -> None:
        await hand.conversation("first question")
        hand.type("stored")
        await hand.back_to_draft()
        hand.type("x")

    async def second(hand: Hand) -> None:
        await hand.open("first question")
        await hand.until(lambda: hand.on_session, "the page, its draft not read yet")
        assert hand.desk.draft is not None and hand.desk.draft.loading
        hand.type(" and")
        while hand.desk.draft.loading:
            await hand.step()
        hand.type(" more")  # in the very turn in which the stored text has come
        assert hand.text == "stored and more"
        await hand.saved()

    async def third(hand: Hand) -> None:
        assert hand.text == "stored and more"

    window.run(first)
    window.run(second)
    window.run(third)


def test_D02_new_conversation_returns_to_the_draft(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("first question")
        await hand.back_to_draft()
        hand.type("plan")
        await hand.saved()
        draft = hand.desk.draft
        await hand.go("first question")
        for _ in range(20):
            hand.new()
        await hand.until(lambda: hand.text == "plan" and hand.is_at_draft(), "the draft again")
        assert hand.desk.draft is draft
        await hand.saved()
        assert hand.stored.drafts(WORKSPACE_DRAFTS) == [(1,)]

    window.run(scenario)


def test_D11_new_conversation_leaves_the_text_where_it_was_typed(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("first question")
        hand.type("a follow-up")
        for _ in range(2):
            hand.key(Qt.Key.Key_N, CTRL)
            await hand.until(hand.is_at_draft, "the draft page")
            assert hand.text == ""
            await hand.go("first question")
            assert hand.text == "a follow-up"

    window.run(scenario)


Leave = Callable[[Hand], Awaitable[None]]


async def _switch(hand: Hand) -> None:
    await hand.go("first question")
    await hand.back_to_draft()


async def _dialogs(hand: Hand) -> None:
    for action in hand.painted.window.menus.actions():
        if action.text().startswith(("&Shortcuts", "&About", "Add a &server", "&Open folder")):
            action.trigger()
            (await hand.question()).reject()
            await hand.until(lambda: not hand.dialogs(), "no dialog")


async def _minimise(hand: Hand) -> None:
    hand.painted.window.showMinimized()
    await hand.holds(lambda: True, "minimised")
    hand.painted.window.raise_up()


async def _theme(hand: Hand) -> None:
    for choice in ("&Dark", "&Light", "&System"):
        next(one for one in hand.painted.window.menus.actions() if one.text() == choice).trigger()
        await hand.holds(lambda: hand.text == "text", "the text")


async def _settings(hand: Hand) -> None:
    hand.services.settings.update(default_model="scripted:hold")
    await hand.holds(lambda: hand.text == "text", "the text")


@pytest.mark.parametrize("leave", [_switch, _dialogs, _minimise, _theme, _settings])
def test_D14_the_text_survives(window: Window, leave: Leave) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("first question")
        await hand.back_to_draft()
        hand.type("text")
        await leave(hand)
        assert hand.text == "text"
        assert not hand.editor.isReadOnly()
        hand.type("!")
        await hand.saved()

    async def reopened(hand: Hand) -> None:
        assert hand.text == "text!"

    window.run(scenario)
    window.run(reopened)


def test_D14_the_text_survives_a_provider_that_goes_and_comes_back(window: Window) -> None:
    async def scenario(hand: Hand, provider: FakeProvider) -> None:
        hand.type("text")
        port = provider.port
        await provider.stop()
        await hand.saved()
        await provider.start(port)
        await hand.holds(lambda: hand.text == "text", "the text")
        assert provider.posts == 0

    window.run_with_provider("ok", scenario)
