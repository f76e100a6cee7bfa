"""The first paint: the window as it was left, before any loop or service exists (DESIGN.md, "start").

Imports Qt and what paints, nothing heavier; keys typed from here on are in the journal.
"""

from __future__ import annotations

import sys
import time
from pathlib import PurePath
from typing import cast

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.boot_reader import GLOBAL, BootData
from app.composer.panel import ComposerPanel
from app.conversation.draft_page import DraftPage
from app.conversation.session_page import SessionPage
from app.icons import Icons
from app.sidebar.rows import TreeRow
from app.sidebar.tree import ProjectTree
from app.theme import Choice, ThemeController
from app.trace import mark
from app.transcript.rows import rows_of
from app.transcript.view import TranscriptView
from app.typist import BootSink, Typist
from app.window import MainWindow
from drafts.journal import EditJournal
from drafts.open_draft import OpenDraft
from runtime.base.handover import Place
from runtime.base.record import record
from runtime.sessions.model import Session

NEW = "New conversation"
_EXPOSED_SECONDS = 0.25
HINT = "Enter sends · Shift+Enter new line"


@record
class Painted:
    """The widgets and the draft that is on the screen."""

    application: QApplication
    themes: ThemeController
    window: MainWindow
    draft_page: DraftPage
    session_page: SessionPage
    transcript: TranscriptView
    on_draft: Typist
    on_session: Typist
    journal: EditJournal
    draft: OpenDraft | None
    data: BootData


def make_application() -> QApplication:
    """The one QApplication."""
    application = QApplication(sys.argv[:1])
    application.setApplicationName("Inkfast")
    application.setDesktopFileName("inkfast")
    application.setQuitOnLastWindowClosed(False)
    return application


def build(application: QApplication, data: BootData, journal: EditJournal, version: str) -> Painted:
    """Make the window and fill it. It is handed to the window system first and drawn by :func:`show`: a window
    manager takes some milliseconds to place it, in which the content is made.
    """
    themes = ThemeController(application, cast("Choice", data.theme))
    icons = Icons(themes)
    window = MainWindow(themes, ProjectTree(themes, icons), version)
    window.restore_geometry(data.geometry)
    window.show()
    transcript = TranscriptView(themes, icons)
    draft_page = DraftPage(ComposerPanel(themes, icons))
    session_page = SessionPage(transcript, ComposerPanel(themes, icons))
    for page in (draft_page, session_page):
        window.add_page(page, page.panes())
    draft = data.drafts.draft
    sink = BootSink(journal, draft) if draft is not None else None
    painted = Painted(
        application,
        themes,
        window,
        draft_page,
        session_page,
        transcript,
        Typist(draft_page.composer, sink, window),
        Typist(session_page.composer, sink, window),
        journal,
        draft,
        data,
    )
    _fill(painted)
    return painted


def show(painted: Painted) -> None:
    """Have the window painted before the loop runs.

    WORKAROUND(https://doc.qt.io/qt-6/qguiapplication.html#sync): ``show`` and ``repaint`` alone paint only
    once a loop runs. Where a window manager maps the window a few milliseconds later, one ``sync`` comes too early
    to paint: it is repeated until the window is exposed.
    """
    window = painted.window
    latest = time.monotonic() + _EXPOSED_SECONDS
    QGuiApplication.sync()
    while not window.windowHandle().isExposed() and time.monotonic() < latest:
        QGuiApplication.sync()
    mark("painted")


def place_name(place: Place) -> str:
    """How a workspace is called where its registered name is not known yet."""
    return PurePath(place.root).name or place.root if place.root else "Global"


def first_rows(data: BootData) -> list[TreeRow]:
    """The newest conversations by workspace, until the tree itself is read."""
    rows: list[TreeRow] = []
    seen: dict[str, list[Session]] = {}
    for session in data.sessions.sessions:
        seen.setdefault(session.place.workspace_id, []).append(session)
    for workspace_id in sorted(seen, key=lambda key: key == GLOBAL.workspace_id):
        sessions = seen[workspace_id]
        rows.append(TreeRow("workspace", workspace_id, workspace_id, place_name(sessions[0].place)))
        rows.extend(TreeRow("session", s.id, workspace_id, s.title or NEW) for s in sessions)
    return rows or [TreeRow("workspace", GLOBAL.workspace_id, GLOBAL.workspace_id, "Global")]


def _fill(painted: Painted) -> None:
    data, draft = painted.data, painted.draft
    painted.window.tree.set_rows(first_rows(data))
    session = data.sessions.session
    page = painted.session_page if session is not None else painted.draft_page
    for one in (painted.draft_page, painted.session_page):
        one.composer.set_hint(HINT)
    if session is not None:
        _fill_session(painted, session)
    elif draft is not None:
        painted.draft_page.set_place(place_name(draft.place))
        painted.window.tree.set_open("draft", draft.place.workspace_id)
        painted.window.set_subject(NEW)
    typist = painted.on_session if session is not None else painted.on_draft
    if draft is not None:
        typist.show(draft)
        typist.panel.set_save_state(draft.state, draft.revision)
        if draft.locked:
            typist.panel.set_locked(True)
    else:
        typist.panel.set_locked(True)
    painted.window.show_page(page)
    typist.panel.focus_editor()


def _fill_session(painted: Painted, session: Session) -> None:
    data = painted.data.sessions
    reported = session.observed.get("model")
    page = painted.session_page
    page.header.set_title(session.title or NEW)
    page.header.set_workspace(place_name(session.place))
    page.header.set_model(reported if isinstance(reported, str) else "")
    painted.transcript.set_rows(rows_of(data.items, data.turns, reported if isinstance(reported, str) else ""))
    painted.window.tree.set_open("session", session.id)
    painted.window.set_subject(session.title or NEW)
