"""What the window shows, and waiting for it to show something."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from PySide6.QtWidgets import QApplication, QDialog, QPushButton

from app.banner_texts import BannerText
from app.composer.editor import ComposerEditor
from app.composer.panel import ComposerPanel
from app.desk import Desk
from app.first_paint import Painted
from app.program import Program
from app.sidebar.rows import TreeRow
from tests.gui.program.stored import Stored

SECONDS = 20.0


@dataclass
class Screen:
    """The running program, looked at."""

    application: QApplication
    painted: Painted
    program: Program
    stored: Stored
    seen: list[str] = field(default_factory=list[str])

    @property
    def desk(self) -> Desk:
        found = self.program.findChild(Desk) or self.painted.window.findChild(Desk)
        assert isinstance(found, Desk)
        return found

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

    def waiting(self) -> str:
        """The line with the elapsed time below the transcript."""
        return self.painted.transcript._activity

    @property
    def rows(self) -> list[TreeRow]:
        return list(self.painted.window.tree._model.rows)

    def titles(self, kind: str = "session") -> list[str]:
        return [row.title for row in self.rows if row.kind == kind]

    def is_at(self, title: str) -> bool:
        """The conversation of that title is what the window shows, with its own text."""
        draft = self.desk.draft
        return (
            self.on_session
            and self.painted.window.windowTitle().startswith(title)
            and title in self.transcript
            and draft is not None
            and not draft.loading
        )

    def is_at_draft(self) -> bool:
        draft = self.desk.draft
        return not self.on_session and draft is not None and not self.desk.is_session and not draft.loading

    def actions(self) -> list[QPushButton]:
        page = self.painted.session_page if self.on_session else self.painted.draft_page
        return page.banner.buttons() if page.banner.isVisible() else []

    def dialogs(self) -> list[QDialog]:
        return [one for one in self.painted.window.findChildren(QDialog) if one.isVisible()]

    def running(self) -> bool:
        feed = self.desk.feed
        return self.panel.stop_button.isVisible() or (feed is not None and feed.running() is not None)

    async def until(self, condition: Callable[[], object], what: str, seconds: float = SECONDS) -> None:
        """Let the loop run until ``condition`` holds; says what was missing and what the window shows."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not condition():
            if loop.time() > deadline:
                raise AssertionError(
                    f"not within {seconds:.0f} s: {what}. Text {self.text!r}, said {self.said!r}, "
                    f"transcript {self.transcript[-200:]!r}"
                )
            await asyncio.sleep(0.003)

    async def step(self) -> None:
        """One turn of the loop."""
        await asyncio.sleep(0)

    async def holds(self, condition: Callable[[], object], what: str, turns: int = 40) -> None:
        """``condition`` stays true while everything that is under way runs."""
        for _ in range(turns):
            assert condition(), f"no longer: {what}. Said {self.said!r}"
            await asyncio.sleep(0.003)
