"""The real program in this process: its window offscreen, its stores in a data folder, its one loop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import apsw
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QPushButton

from app import first_paint
from app.banner_texts import BannerText
from app.boot_reader import read
from app.compose import DraftSide, Services
from app.composer.editor import ComposerEditor
from app.composer.panel import ComposerPanel
from app.desk import Desk
from app.first_paint import Painted
from app.loop import run as run_loop
from app.program import Program
from app.sidebar.rows import TreeRow
from app.theme import ThemeController
from drafts.journal import EditJournal
from drafts.phases import Operation
from runtime.base.clock import SystemClock
from runtime.base.crash import CrashGuard
from runtime.base.folder import DataFolder
from runtime.settings.model import Server, Settings
from tests.fakes.fake_provider import FakeProvider

SECONDS = 20.0


@dataclass
class Hand:
    """A person at the window. Everything goes through widgets; the stores are only looked at."""

    application: QApplication
    painted: Painted
    program: Program
    folder: DataFolder
    seen: list[str] = field(default_factory=list[str])

    # where we are

    @property
    def desk(self) -> Desk:
        found = self.program.findChild(Desk) or self.painted.window.findChild(Desk)
        assert isinstance(found, Desk)
        return found

    @property
    def services(self) -> Services:
        assert self.program._services is not None
        return self.program._services

    @property
    def side(self) -> DraftSide:
        assert self.program._side is not None
        return self.program._side

    @property
    def on_session(self) -> bool:
        return self.painted.window.pages.currentWidget() is self.painted.session_page

    @property
    def panel(self) -> ComposerPanel:
        """The composer on the visible page."""
        return self.painted.session_page.composer if self.on_session else self.painted.draft_page.composer

    @property
    def editor(self) -> ComposerEditor:
        return self.panel.editor

    @property
    def text(self) -> str:
        return self.editor.toPlainText()

    @property
    def banner(self) -> BannerText | None:
        page = self.painted.session_page if self.on_session else self.painted.draft_page
        return page.banner.shown() if page.banner.isVisible() else None

    @property
    def said(self) -> str:
        """Everything that the visible page says about the text: banner and notice."""
        words = f"{self.banner.title} {self.banner.text} " if self.banner else ""
        return words + (self.panel._notice.text() if self.panel._notice.isVisible() else "")

    @property
    def transcript(self) -> str:
        return self.painted.transcript.plain_text()

    @property
    def rows(self) -> list[TreeRow]:
        return list(self.painted.window.tree._model.rows)

    def titles(self, kind: str = "session") -> list[str]:
        return [row.title for row in self.rows if row.kind == kind]

    # what a person does

    def type(self, text: str) -> None:
        QTest.keyClicks(self.editor, text)

    def key(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        QTest.keyClick(self.editor, key, modifier)

    def enter(self) -> None:
        self.key(Qt.Key.Key_Return)

    def click(self, button: QPushButton) -> None:
        assert button.isVisible() and button.isEnabled(), f"{button.text()} cannot be clicked"
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    async def go(self, title: str) -> None:
        """Open the conversation of that title and wait until it is all there."""
        await self.open(title)
        await self.until(lambda: self.is_at(title), f"the conversation {title!r}")

    def is_at(self, title: str) -> bool:
        """The conversation of that title is what the window shows, with its own text."""
        draft = self.desk.draft
        return (self.on_session and self.painted.window.windowTitle().startswith(title) and title in self.transcript
                and draft is not None and not draft.loading)

    async def back_to_draft(self) -> None:
        """Press New conversation and wait for the draft's own text."""
        self.new()
        await self.until(self.is_at_draft, "the draft page")

    def is_at_draft(self) -> bool:
        draft = self.desk.draft
        return not self.on_session and draft is not None and not self.desk.is_session and not draft.loading

    async def press(self, action: str) -> None:
        """A button of the visible banner, once it is there."""
        await self.until(lambda: action in [button.objectName() for button in self.actions()], f"a button {action}")
        self.click(next(button for button in self.actions() if button.objectName() == action))

    def actions(self) -> list[QPushButton]:
        page = self.painted.session_page if self.on_session else self.painted.draft_page
        return page.banner.buttons() if page.banner.isVisible() else []

    def new(self) -> None:
        QTest.mouseClick(self.painted.window.tree._new, Qt.MouseButton.LeftButton)

    async def open(self, title: str) -> None:
        """Click the row of that title in the tree, once it is there."""
        await self.tree_has(title)
        tree = self.painted.window.tree
        row = next(row for row in self.rows if row.title == title and row.kind != "workspace")
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

    def dialogs(self) -> list[QDialog]:
        return [one for one in self.painted.window.findChildren(QDialog) if one.isVisible()]

    def close_window(self) -> None:
        self.painted.window.close()

    # waiting

    async def until(self, condition: Callable[[], object], what: str, seconds: float = SECONDS) -> None:
        """Let the loop run until ``condition`` holds; says what was missing and what the window shows."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not condition():
            if loop.time() > deadline:
                raise AssertionError(f"not within {seconds:.0f} s: {what}. Text {self.text!r}, said {self.said!r}, "
                                     f"transcript {self.transcript[-200:]!r}")
            await asyncio.sleep(0.003)

    async def holds(self, condition: Callable[[], object], what: str, turns: int = 40) -> None:
        """``condition`` stays true while everything that is under way runs."""
        for _ in range(turns):
            assert condition(), f"no longer: {what}. Said {self.said!r}"
            await asyncio.sleep(0.003)

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

    def running(self) -> bool:
        feed = self.desk.feed
        return self.panel.stop_button.isVisible() or (feed is not None and feed.running() is not None)

    # what is stored

    def drafts(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        return _rows(self.folder.drafts_database, sql, values)

    def state(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        return _rows(self.folder.state_database, sql, values)

    def count(self, what: str) -> int:
        """Rows of ``operations``, ``sessions``, ``turns``, ``receipts`` or active ``drafts``."""
        if what in ("operations", "drafts"):
            return cast("int", self.drafts(
                f"SELECT count(*) FROM {what}" + (" WHERE status = 'active'" if what == "drafts" else ""))[0][0])
        return cast("int", self.state(f"SELECT count(*) FROM {what}")[0][0])

    def phases(self) -> list[object]:
        return [row[0] for row in self.drafts("SELECT phase FROM operations ORDER BY created_at")]

    def operation(self) -> Operation | None:
        return self.desk.operation


Scenario = Callable[[Hand], Awaitable[None]]


class Window:
    """Starts the program on one data folder, any number of times in turn."""

    def __init__(self, application: QApplication, folder: DataFolder, themes: ThemeController) -> None:
        self.application = application
        self.folder = folder
        self.themes = themes
        application.setQuitOnLastWindowClosed(False)  # as first_paint.make_application does
        self.settings("scripted:fast")
        self.status: int | None = None

    def settings(self, default_model: str, provider: FakeProvider | None = None) -> None:
        """Write the settings file as a person would have chosen."""
        servers = () if provider is None else (
            Server(id="fake", name="Fake", base_url=provider.base_url, models=("fake-model",)),)
        stored = Settings(servers=servers, default_model=default_model, theme="light")
        self.folder.settings.write_text(stored.model_dump_json())

    def run(self, scenario: Scenario, *, wait: bool = True, path: str | None = None) -> Hand:
        """Start, play ``scenario`` once everything is loaded (``wait`` False: from the first paint on), and close."""
        hands: list[Hand] = []

        async def main() -> None:
            hand = self._start()
            hands.append(hand)
            await self._live(hand, scenario, wait, path)

        with _signals_kept():
            run_loop(self.application, main)
        _tidy(hands[0].painted, self.themes)
        return hands[0]

    def run_with_provider(
        self, behaviour: str, scenario: Callable[[Hand, FakeProvider], Awaitable[None]], **options: object
    ) -> None:
        """The same with a server that misbehaves, as the default model."""

        async def main() -> Painted:
            async with FakeProvider(behaviour, **options) as provider:  # type: ignore[arg-type]
                self.settings("fake:fake-model", provider)
                hand = self._start()
                await self._live(hand, lambda one: scenario(one, provider), True, None)
                provider.release.set()
            return hand.painted

        with _signals_kept():
            painted = run_loop(self.application, main)
        _tidy(painted, self.themes)

    def _start(self) -> Hand:
        self.folder.prepare()
        data = read(self.folder, restore=True)
        painted = first_paint.build(self.application, data, EditJournal.open(self.folder.draft_journal), "0")
        first_paint.show(painted)
        program = Program(painted, self.folder, CrashGuard.arm(self.folder.crash, SystemClock()))
        return Hand(self.application, painted, program, self.folder)

    async def _live(self, hand: Hand, scenario: Scenario, wait: bool, path: str | None) -> None:
        life = asyncio.ensure_future(self._life(hand, path))
        try:
            if wait:
                await _either(life, hand.ready())
            await scenario(hand)
        finally:
            await self._leave(hand, life)

    async def _life(self, hand: Hand, path: str | None) -> None:
        started = hand.program._guard.started

        def ready() -> None:
            started()
            hand.seen.append("ready")

        hand.program._guard.started = ready  # type: ignore[method-assign]
        try:
            self.status = await hand.program.live(path)
        finally:
            hand.program._guard.disarm()
            hand.seen.append("ended")

    async def _leave(self, hand: Hand, life: asyncio.Future[None]) -> None:
        """Close the window as its button does; a scenario that failed may have left a question open."""
        if not life.done():
            hand.close_window()
        async with asyncio.timeout(SECONDS):
            await _answer_what_is_left(hand, life)
        await life


async def _answer_what_is_left(hand: Hand, life: asyncio.Future[None]) -> None:
    """A question still stands in the way: a failed scenario must not hang the run."""
    while not life.done():
        for dialog in hand.dialogs():
            button = dialog.findChild(QPushButton, "quit_anyway")
            if isinstance(button, QPushButton):
                button.click()
            else:
                dialog.reject()
        await asyncio.wait([life], timeout=0.02)


@contextlib.contextmanager
def _signals_kept() -> Generator[None]:
    """The program takes SIGINT and SIGTERM; the test run has its own use for them."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


async def _either(life: asyncio.Future[None], ready: Awaitable[None]) -> None:
    """Until the program is ready; a program that ends instead tells why."""
    waiting = asyncio.ensure_future(ready)
    done, _ = await asyncio.wait([life, waiting], return_when=asyncio.FIRST_COMPLETED)
    if life in done:
        waiting.cancel()
        await asyncio.wait([waiting])
        life.result()
        raise AssertionError("the program ended before it was ready")
    await waiting


def _tidy(painted: Painted, themes: ThemeController) -> None:
    """The next test finds the application as this one did."""
    painted.window.close()
    painted.window.deleteLater()
    painted.themes.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    themes.set_choice("dark")
    themes.set_choice("light")


def _rows(path: Path, sql: str, values: tuple[object, ...]) -> list[tuple[object, ...]]:
    if not path.exists():
        return []
    with contextlib.closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(5_000)
        return [tuple(row) for row in connection.execute(sql, values)]  # type: ignore[arg-type]
