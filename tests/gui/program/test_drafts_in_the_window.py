"""Typing, switching, coming back: no path loses or mixes text (cases D01, D02, D11, D12, D14)."""

from __future__ import annotations

from PySide6.QtCore import Qt

from tests.gui.program.window_run import Hand, Window

CTRL = Qt.KeyboardModifier.ControlModifier


async def _two_conversations(hand: Hand) -> None:
    await hand.conversation("first question")
    await hand.back_to_draft()
    await hand.conversation("second question")


def test_D01_each_conversation_has_its_own_text_caret_and_undo(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await _two_conversations(hand)
        await hand.go("first question")
        hand.type("alpha-1")
        for _ in range(4):
            hand.key(Qt.Key.Key_Left)
        await hand.go("second question")
        assert hand.text == ""
        for _ in range(10):
            hand.key(Qt.Key.Key_Z, CTRL)
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
        await hand.until(lambda: hand.count("drafts") == 3, "three rows")

    window.run(scenario)


def test_D01_caret_and_selection_come_back_after_a_restart(window: Window) -> None:
    async def first(hand: Hand) -> None:
        await _two_conversations(hand)
        await hand.go("first question")
        hand.type("alpha-1")
        for _ in range(4):
            hand.key(Qt.Key.Key_Left)
        await hand.back_to_draft()
        hand.type("gamma-3")
        for _ in range(2):
            hand.key(Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)

    async def second(hand: Hand) -> None:
        assert hand.text == "gamma-3"
        assert hand.editor.caret_and_anchor() == (5, 7)
        await hand.go("first question")
        assert hand.text == "alpha-1"
        assert hand.editor.caret_and_anchor() == (3, 3)

    window.run(first)
    window.run(second)


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
        assert hand.drafts("SELECT count(*) FROM drafts WHERE status = 'active' AND surface = 'workspace'") == [(1,)]

    window.run(scenario)
