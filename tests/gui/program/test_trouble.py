"""When disk, database or folder are in the way: what is shown is true, and the text stays (issue 2, "Bad input")."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import apsw
import pytest
from PySide6.QtWidgets import QFileDialog, QLineEdit

from runtime.base.errors import EnvironmentFault
from tests.gui.program.hand import Hand
from tests.gui.program.window_run import Window


class Disk:
    """The drafts database of a running program, whose writes fail while it is ``full``."""

    def __init__(self, hand: Hand) -> None:
        self.full = False
        database: Any = hand.desk.side.database
        self._run = database.run
        database.run = self._fail_or_run

    async def _fail_or_run(self, *arguments: Any) -> Any:
        if self.full:
            raise EnvironmentFault("disk_full")
        return await self._run(*arguments)


def test_a_save_that_fails_is_said_and_the_text_stays_until_it_is_saved(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        disk = Disk(hand)
        disk.full = True
        hand.type("precious")
        await hand.until(lambda: "The disk is full" in hand.said, "words about the disk")
        assert "not saved yet" in hand.said
        assert hand.text == "precious"
        hand.type(" words")
        disk.full = False
        await hand.saved()
        await hand.until(lambda: hand.banner is None, "no banner any more")
        assert hand.stored.drafts("SELECT json_extract(content_json, '$.text') FROM drafts") == [("precious words",)]

    window.run(scenario)


def test_a_close_that_would_lose_text_is_vetoed_and_gives_editing_back(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        disk = Disk(hand)
        hand.type("precious")
        disk.full = True
        hand.type("!")
        hand.close_window()
        hand.close_window()
        question = await hand.question()
        assert "precious!" in question.accessibleDescription()
        await hand.answer("keep_editing")
        await hand.holds(lambda: not hand.dialogs(), "asked once")
        assert hand.painted.window.isVisible()
        hand.type("?")
        assert hand.text == "precious!?"
        hand.close_window()
        await hand.question()
        disk.full = False
        await hand.answer("retry")
        await hand.until(lambda: "ended" in hand.seen, "the end")

    async def reopened(hand: Hand) -> None:
        assert hand.text == "precious!?"

    window.run(scenario)
    window.run(reopened)


def test_quit_anyway_leaves_the_text_to_the_journal(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        disk = Disk(hand)
        disk.full = True
        hand.type("only in the journal")
        hand.close_window()
        await hand.answer("quit_anyway")
        await hand.until(lambda: "ended" in hand.seen, "the end")

    async def reopened(hand: Hand) -> None:
        assert hand.text == "only in the journal"

    window.run(scenario)
    window.run(reopened)


def test_a_copy_can_be_saved_as_a_file_while_saving_fails(window: Window, tmp_path: Path) -> None:
    async def scenario(hand: Hand) -> None:
        disk = Disk(hand)
        disk.full = True
        hand.type("precious")
        await hand.press("save_copy")
        dialog = await hand.question()
        assert isinstance(dialog, QFileDialog)
        name = dialog.findChild(QLineEdit)
        assert isinstance(name, QLineEdit)
        name.setText(str(tmp_path / "copy.md"))
        dialog.accept()
        await hand.until((tmp_path / "copy.md").exists, "the copy")
        assert (tmp_path / "copy.md").read_text() == "precious"
        disk.full = False
        await hand.saved()

    window.run(scenario)


def test_drafts_work_when_the_conversations_cannot_be_opened(window: Window) -> None:
    window.folder.prepare()
    state = window.folder.state_database
    connection = apsw.Connection(str(state))
    connection.pragma("user_version", 99)
    connection.close()
    before = hashlib.sha256(state.read_bytes()).hexdigest()

    async def scenario(hand: Hand) -> None:
        assert "newer version" in hand.said
        hand.type("still a draft")
        assert "newer version" in hand.said
        await hand.saved()
        await hand.until(lambda: "Saved" in hand.painted.window.status_line.status_text(), "the save indicator")
        hand.enter()
        await hand.holds(lambda: hand.text == "still a draft", "the text")

    async def reopened(hand: Hand) -> None:
        assert hand.text == "still a draft"

    window.run(scenario)
    assert window.status == 1
    window.run(reopened)
    assert hashlib.sha256(state.read_bytes()).hexdigest() == before


@pytest.mark.logs_warnings
def test_text_is_not_taken_when_the_drafts_cannot_be_opened(window: Window) -> None:
    window.folder.prepare()
    connection = apsw.Connection(str(window.folder.drafts_database))
    connection.pragma("user_version", 99)
    connection.close()

    async def scenario(hand: Hand) -> None:
        assert "newer version" in hand.said
        assert hand.editor.isReadOnly()
        hand.enter()
        hand.new()

    window.run(scenario)
    assert window.status == 1


def test_a_database_that_is_held_at_the_start_is_waited_for(window: Window) -> None:
    async def first(hand: Hand) -> None:
        disk = Disk(hand)
        disk.full = True
        hand.type("left in the journal")
        hand.close_window()
        await hand.answer("quit_anyway")
        await hand.until(lambda: "ended" in hand.seen, "the end")

    async def scenario(hand: Hand) -> None:
        holder = apsw.Connection(str(window.folder.drafts_database))
        holder.execute("BEGIN IMMEDIATE")
        await hand.until(lambda: "holding the database" in hand.said, "words about it")
        assert "ready" not in hand.seen
        hand.type(" and more")
        assert hand.text == "left in the journal and more"
        holder.execute("ROLLBACK")
        holder.close()
        await hand.ready()
        await hand.until(lambda: "holding the database" not in hand.said, "no banner any more")
        assert hand.text == "left in the journal and more"
        await hand.saved()
        hand.enter()
        await hand.until(lambda: hand.on_session, "the conversation")

    window.run(first)
    window.run(scenario, wait=False)


def test_a_draft_that_cannot_be_read_yet_takes_text_and_is_read_as_soon_as_possible(window: Window) -> None:
    async def first(hand: Hand) -> None:
        await hand.conversation("question")
        hand.type("stored")
        await hand.back_to_draft()
        hand.type("x")

    async def scenario(hand: Hand) -> None:
        database: Any = hand.desk.side.database
        read = database.read
        fails = [True]

        async def held(body: Any) -> Any:
            if fails[0]:
                raise EnvironmentFault("database_locked")
            return await read(body)

        await hand.tree_has("question")
        database.read = held
        await hand.open("question")
        await hand.until(lambda: hand.on_session and "holding the database" in hand.said, "words about it")
        hand.type(" and more")
        fails[0] = False
        await hand.until(lambda: hand.text == "stored and more", "both texts")
        await hand.until(lambda: hand.banner is None, "no banner any more")
        await hand.saved()

    window.run(first)
    window.run(scenario)


def test_a_vanished_workspace_folder_is_said_and_the_text_kept(window: Window, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()

    async def scenario(hand: Hand) -> None:
        await hand.until(
            lambda: hand.is_at_draft() and hand.desk.draft is not None and hand.desk.draft.place.root == str(folder),
            "the folder's draft",
        )
        hand.type("in the project")
        await hand.saved()
        folder.rmdir()
        hand.enter()
        await hand.until(lambda: "not available" in hand.said, "words about the folder")
        assert hand.text == "in the project"
        assert not hand.editor.isReadOnly()
        assert (hand.stored.operations, hand.stored.sessions) == (0, 0)
        folder.mkdir()
        hand.enter()
        await hand.until(lambda: hand.is_at("in the project"), "the conversation")

    window.run(scenario, path=str(folder))


def test_keys_before_the_stores_are_open_are_kept(window: Window) -> None:
    async def first(hand: Hand) -> None:
        hand.type("before")
        await hand.saved()

    async def scenario(hand: Hand) -> None:
        assert hand.text == "before"
        assert "ready" not in hand.seen
        while "ready" not in hand.seen:
            hand.type("x")
            await hand.step()
        typed = hand.text
        assert typed.startswith("beforexx")
        await hand.saved()
        assert hand.stored.drafts("SELECT json_extract(content_json, '$.text') FROM drafts") == [(typed,)]

    window.run(first)
    window.run(scenario, wait=False)
