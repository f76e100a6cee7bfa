"""The real program in this process: its window offscreen, its stores in a data folder, its one loop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Generator

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QPushButton

from app import first_paint
from app.boot_reader import read
from app.first_paint import Painted
from app.loop import run as run_loop
from app.program import Program
from app.theme import ThemeController
from drafts.journal import EditJournal
from runtime.base.clock import SystemClock
from runtime.base.crash import CrashGuard
from runtime.base.folder import DataFolder
from runtime.settings.model import Server, Settings
from tests.fakes.fake_provider import FakeProvider
from tests.gui.program.hand import Hand
from tests.gui.program.screen import SECONDS
from tests.gui.program.stored import Stored

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
        servers = (
            ()
            if provider is None
            else (Server(id="fake", name="Fake", base_url=provider.base_url, models=("fake-model",)),)
        )
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
        return Hand(self.application, painted, program, Stored(self.folder))

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
