"""Tree and menus: rename, discard, folders, themes, and that nothing is made by looking (case S18)."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit

from tests.gui.program.hand import CTRL, Hand
from tests.gui.program.window_run import Window


def _choose(hand: Hand, text: str) -> None:
    next(one for one in hand.painted.window.menus.actions() if one.text().startswith(text)).trigger()


def test_S18_new_conversation_a_hundred_times_makes_nothing(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        for _ in range(100):
            hand.new()
        await hand.until(hand.is_at_draft, "the draft page")
        await hand.holds(lambda: True, "nothing")
        assert (hand.stored.sessions, hand.stored.operations) == (0, 0)
        assert hand.stored.active_drafts <= 1

    for _ in range(3):
        window.run(scenario)


def test_a_conversation_is_renamed_in_the_tree(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("first question")
        await hand.until(lambda: "first question" in hand.titles(), "the conversation in the tree")
        _choose(hand, "&Rename")
        editor = hand.painted.window.tree._list.findChild(QLineEdit)
        assert isinstance(editor, QLineEdit)
        editor.selectAll()
        QTest.keyClicks(editor, "A better name")
        QTest.keyClick(editor, Qt.Key.Key_Return)
        await hand.until(lambda: "A better name" in hand.titles(), "the new title in the tree")
        await hand.until(lambda: hand.painted.window.windowTitle().startswith("A better name"), "the window's title")
        assert hand.stored.turns == 1

    async def reopened(hand: Hand) -> None:
        await hand.tree_has("A better name")

    window.run(scenario)
    window.run(reopened)


def test_a_draft_is_discarded_only_after_the_question(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        hand.type("not needed")
        await hand.tree_has("not needed")
        _choose(hand, "&Discard")
        question = await hand.question()
        assert "not needed" in question.accessibleDescription()
        await hand.answer("cancel")
        assert hand.text == "not needed"
        _choose(hand, "&Discard")
        await hand.answer("discard")
        await hand.until(lambda: hand.text == "" and hand.is_at_draft(), "an empty draft")
        await hand.until(lambda: hand.titles("draft") == [], "no row in the tree")
        hand.key(Qt.Key.Key_Z, CTRL)
        assert hand.text == "", "undo brings nothing back that was given up"
        hand.type("fresh")
        await hand.saved()
        await hand.tree_has("fresh")

    async def reopened(hand: Hand) -> None:
        assert hand.text == "fresh"

    window.run(scenario)
    window.run(reopened)


def test_a_draft_that_is_not_visible_is_discarded_from_its_row(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("first question")
        await hand.back_to_draft()
        hand.type("not needed")
        await hand.tree_has("not needed")
        await hand.go("first question")
        hand.type("a follow-up")
        row = next(one for one in hand.rows if one.title == "not needed")
        hand.painted.window.tree.discard_draft_requested.emit(row.id)
        await hand.answer("discard")
        await hand.until(lambda: hand.titles("draft") == [], "no row in the tree")
        assert hand.is_at("first question")
        assert hand.text == "a follow-up"
        await hand.back_to_draft()
        assert hand.text == ""
        assert not hand.editor.isReadOnly()

    window.run(scenario)


def test_a_draft_that_is_being_sent_is_not_discarded(window: Window) -> None:
    window.settings("scripted:nothing-like-this")

    async def scenario(hand: Hand) -> None:
        hand.type("question")
        hand.enter()
        await hand.until(lambda: hand.stored.phases == ["runtime_failed"], "a failed start")
        await hand.until(lambda: hand.titles("draft") == ["question"], "the draft in the tree")
        row = next(one for one in hand.rows if one.kind == "draft")
        hand.painted.window.tree.discard_draft_requested.emit(row.id)
        await hand.answer("discard")
        await hand.holds(lambda: hand.text == "question", "the text")
        assert hand.stored.active_drafts == 1

    window.run(scenario)


def test_a_follow_up_is_discarded_in_its_conversation(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await hand.conversation("first question")
        hand.type("not needed")
        await hand.saved()
        _choose(hand, "&Discard")
        await hand.answer("discard")
        await hand.until(lambda: hand.text == "" and hand.is_at("first question"), "an empty composer")
        hand.type("next")
        await hand.saved()
        hand.enter()
        await hand.until(lambda: hand.stored.turns == 2, "the next turn")

    window.run(scenario)


def test_a_folder_is_opened_as_a_workspace_with_a_draft_of_its_own(window: Window, tmp_path: Path) -> None:
    folder = tmp_path / "my project"
    folder.mkdir()

    async def scenario(hand: Hand) -> None:
        hand.type("global text")
        await hand.saved()
        hand.click(hand.painted.window.tree._folder)
        dialog = await hand.question()
        assert isinstance(dialog, QFileDialog)
        name = dialog.findChild(QLineEdit)
        assert isinstance(name, QLineEdit)
        name.setText(str(folder))
        dialog.accept()
        await hand.until(lambda: hand.is_at_draft() and hand.text == "", "the folder's draft")
        hand.type("project text")
        await hand.tree_has("project text")
        assert "my project" in hand.titles("workspace")
        await hand.open("global text")
        await hand.until(lambda: hand.text == "global text", "the global draft")
        assert hand.stored.active_drafts == 2
        assert hand.stored.sessions == 0

    async def reopened(hand: Hand) -> None:
        assert hand.text == "global text"
        await hand.open("project text")
        await hand.until(lambda: hand.text == "project text", "the project's draft")

    window.run(scenario)
    window.run(reopened)


def test_a_folder_that_cannot_be_opened_is_said(window: Window, tmp_path: Path) -> None:
    async def scenario(hand: Hand) -> None:
        hand.type("text")
        hand.program._raise(str(tmp_path / "nowhere"))
        await hand.until(lambda: "not available" in hand.said, "words about the folder")
        assert hand.text == "text"
        hand.type("!")
        assert hand.banner is None

    window.run(scenario)


def test_a_theme_is_worn_at_once_and_remembered(window: Window) -> None:
    def shade(hand: Hand) -> int:
        """How light the middle of the window is, 0 to 255."""
        return hand.painted.window.grab().toImage().pixelColor(500, 300).lightness()

    async def scenario(hand: Hand) -> None:
        hand.type("text")
        light = shade(hand)
        _choose(hand, "&Dark")
        assert shade(hand) < light - 100
        assert hand.text == "text"
        await hand.saved()

    async def reopened(hand: Hand) -> None:
        assert hand.painted.themes.choice == "dark"
        assert shade(hand) < 100
        _choose(hand, "&Light")
        assert shade(hand) > 150

    window.run(scenario)
    window.run(reopened)


def test_a_conversation_comes_back_after_a_restart_with_its_end(window: Window) -> None:
    window.settings("scripted:hold")

    async def scenario(hand: Hand) -> None:
        await hand.conversation("question", ended=False)
        await hand.until(lambda: "Scripted" in hand.transcript, "the first word")
        hand.type("next thought")

    async def reopened(hand: Hand) -> None:
        assert hand.is_at("question")
        assert hand.text == "next thought"
        assert "interrupted" in hand.transcript.lower() or "ended before" in hand.transcript
        assert not hand.running()
        assert hand.stored.turn_states == ["interrupted"]

    window.run(scenario)
    window.run(reopened)
