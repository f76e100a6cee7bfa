"""A person at the window: keys, clicks, and the patience to wait for what they lead to."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QPushButton

from app.compose import Services
from tests.gui.program.screen import Screen

PLAIN = Qt.KeyboardModifier.NoModifier
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


class Hand(Screen):
    """Everything goes through widgets."""

    @property
    def services(self) -> Services:
        """For faults that a test plants, and for nothing that a person could do."""
        assert self.program._services is not None
        return self.program._services

    def type(self, text: str) -> None:
        QTest.keyClicks(self.editor, text)

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.editor, key, modifier)

    def keys(self, key: Qt.Key, count: int, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        for _ in range(count):
            self.key(key, modifier)

    def enter(self) -> None:
        self.key(Qt.Key.Key_Return)

    def click(self, button: QPushButton) -> None:
        assert button.isVisible() and button.isEnabled(), f"{button.text()} cannot be clicked"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    async def go(self, title: str) -> None:
        """Open the conversation of that title and wait until it is all there."""
        await self.until(lambda: title in self.titles(), f"{title!r} in the tree")
        await self.open(title)
        await self.until(lambda: self.is_at(title), f"the conversation {title!r}")

    async def back_to_draft(self) -> None:
        """Press New conversation and wait for the draft's own text."""
        self.new()
        await self.until(self.is_at_draft, "the draft page")

    async def press(self, action: str) -> None:
        """A button of the visible banner, once it is there."""
        await self.until(lambda: action in [button.objectName() for button in self.actions()], f"a button {action}")
        self.click(next(button for button in self.actions() if button.objectName() == action))

    def new(self) -> None:
        QTest.mouseClick(self.painted.window.tree._new, Qt.MouseButton.LeftButton)

    async def open(self, title: str) -> None:
        """Click the row of that title in the tree, once it is there."""
        await self.tree_has(title)
        tree = self.painted.window.tree
        rows = [row for row in self.rows if row.title == title and row.kind != "workspace"]
        row = max(rows, key=lambda one: one.kind == "session")
        view = tree._list
        place = view.visualRect(tree._model.find(row.key)).center()
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(place))

    async def answer(self, choice: str) -> None:
        """Press a button of the question that is asked, once it is."""
        dialog = await self.question()
        button = dialog.findChild(QPushButton, choice)
        assert isinstance(button, QPushButton), f"no {choice} in {dialog.accessibleName()}"
        self.click(button)
        await self.until(lambda: dialog not in self.dialogs(), "the question is answered")

    async def question(self) -> QDialog:
        await self.until(lambda: bool(self.dialogs()), "a question")
        return self.dialogs()[0]

    def close_window(self) -> None:
        self.painted.window.close()

    async def ready(self) -> None:
        await self.until(lambda: "ready" in self.seen, "the program is ready")

    async def saved(self) -> None:
        draft = self.desk.draft
        assert draft is not None
        await self.until(lambda: not draft.is_dirty and draft.state == "saved", "saved")

    async def tree_has(self, title: str) -> None:
        await self.until(lambda: title in [row.title for row in self.rows], f"{title!r} in the tree")

    async def conversation(self, text: str, *, ended: bool = True) -> None:
        """Send ``text`` from the draft page and wait until its conversation is shown (and its answer has ended)."""
        self.type(text)
        self.enter()
        await self.until(lambda: self.is_at(text), "the conversation")
        if ended:
            await self.until(lambda: not self.running(), "the end of the answer")

    def received(self) -> str:
        """What is stored of the newest answer so far."""
        rows = self.stored.state(
            "SELECT coalesce((SELECT group_concat(text, '') FROM (SELECT text FROM item_chunks "
            "WHERE item_id = i.id ORDER BY rowid)), '') || i.text FROM items i "
            "WHERE i.kind = 'assistant' ORDER BY i.rowid DESC LIMIT 1"
        )
        return str(rows[0][0]) if rows else ""
