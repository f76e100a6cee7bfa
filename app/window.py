"""The main window: project tree, pages, status line and menus. It shows and announces; the desk behind it acts.

Closing is a wish: the shutdown is a coroutine elsewhere that calls :meth:`MainWindow.finish` in the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QMainWindow, QMenuBar, QSplitter, QStackedWidget, QWidget

from app.conversation.status import StatusLine
from app.geometry import SMALLEST, fitted, read_rect, usual
from app.menus import Menus
from app.notices import AboutDialog, ShortcutsDialog
from app.sidebar.tree import ProjectTree
from app.theme import ThemeController

_SIDEBAR_WIDTH = 265
_SIDEBAR_AT_LEAST = 180
_SIDEBAR_AT_MOST = 420
_PAGE_AT_LEAST = 420


class MainWindow(QMainWindow):
    """Holds the panes. At least 720 × 480, right from there up."""

    close_requested = Signal()
    add_server_requested = Signal()
    send_requested = Signal()
    stop_requested = Signal()
    discard_requested = Signal()
    theme_chosen = Signal(str)
    """``system``, ``light`` or ``dark``; the window already wears it."""

    def __init__(self, themes: ThemeController, tree: ProjectTree, version: str) -> None:
        super().__init__()
        self._themes = themes
        self._version = version
        self._may_close = False
        self._panes: dict[QWidget, tuple[QWidget, ...]] = {}
        self.tree = tree
        self.pages = QStackedWidget()
        self.status_line = StatusLine(themes)
        self.setMenuBar(QMenuBar())  # one made here: asking Qt for its own makes PySide load every widget class first
        self.menus = Menus(self.menuBar(), self)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self.setWindowTitle("Inkfast")
        self.setMinimumSize(*SMALLEST)
        self._lay_out()
        self._connect()
        self.menus.set_theme_choice(themes.choice)
        self.setGeometry(self._first_place())

    def add_page(self, page: QWidget, panes: Sequence[QWidget] = ()) -> None:
        """Add a page with the widgets in it that F6 goes to."""
        self.pages.addWidget(page)
        self._panes[page] = tuple(panes)

    def show_page(self, page: QWidget) -> None:
        self.pages.setCurrentWidget(page)

    def set_subject(self, title: str, *, unsaved: bool = False) -> None:
        """The window title: what is open, with the platform's mark while it is not saved."""
        self.setWindowTitle(f"{title}[*] – Inkfast" if title else "Inkfast[*]")
        self.setWindowModified(unsaved)

    def panes(self) -> list[QWidget]:
        """Where F6 goes: the tree, then the panes of the visible page."""
        return [self.tree.pane(), *self._page_panes()]

    def _page_panes(self) -> tuple[QWidget, ...]:
        page = self.pages.currentWidget()
        return self._panes.get(page, ()) if page is not None else ()

    def geometry_state(self) -> dict[str, int | bool]:
        """Place and size as plain values for the settings."""
        place = self.normalGeometry() if self.isMaximized() or self.isFullScreen() else self.geometry()
        return {
            "x": place.x(),
            "y": place.y(),
            "width": place.width(),
            "height": place.height(),
            "maximized": self.isMaximized(),
            "sidebar": self._splitter.sizes()[0],
        }

    def restore_geometry(self, stored: Mapping[str, object]) -> None:
        """Go back to ``stored``, onto screens that are visible now; what is not sensible is ignored."""
        wanted = read_rect(stored)
        if wanted is not None:
            screens = [QGuiApplication.primaryScreen(), *QGuiApplication.screens()]
            self.setGeometry(fitted(wanted, [screen.availableGeometry() for screen in screens]))
        width = stored.get("sidebar")
        if isinstance(width, int) and not isinstance(width, bool):
            self._set_sidebar(width)
        if stored.get("maximized") is True:
            self.setWindowState(self.windowState() | Qt.WindowState.WindowMaximized)

    def raise_up(self) -> None:
        """To the front, as a second launch asks for."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def finish(self) -> None:
        """Really close: the end of the shutdown."""
        self._may_close = True
        self.close()

    def _lay_out(self) -> None:
        self.tree.setMinimumWidth(_SIDEBAR_AT_LEAST)
        self.tree.setMaximumWidth(_SIDEBAR_AT_MOST)
        self.pages.setMinimumWidth(_PAGE_AT_LEAST)
        self._splitter.addWidget(self.tree)
        self._splitter.addWidget(self.pages)
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setStretchFactor(0, 0)
        self._splitter.setStretchFactor(1, 1)
        self.setCentralWidget(self._splitter)
        self.setStatusBar(self.status_line)
        self._set_sidebar(_SIDEBAR_WIDTH)

    def _connect(self) -> None:
        menus = self.menus
        menus.new_conversation.connect(self._new_conversation)
        menus.open_folder.connect(self.tree.open_folder_requested)
        menus.add_server.connect(self.add_server_requested)
        menus.quit.connect(self.close_requested)
        menus.edit.connect(self._edit_focused)
        menus.theme_chosen.connect(self._choose_theme)
        menus.next_pane.connect(self._next_pane)
        menus.previous_pane.connect(self._previous_pane)
        menus.send.connect(self.send_requested)
        menus.stop.connect(self.stop_requested)
        menus.rename.connect(self.tree.start_rename)
        menus.discard.connect(self.discard_requested)
        menus.shortcuts.connect(self._show_shortcuts)
        menus.about.connect(self._show_about)

    def _set_sidebar(self, width: int) -> None:
        kept = max(_SIDEBAR_AT_LEAST, min(width, _SIDEBAR_AT_MOST))
        self._splitter.setSizes([kept, max(_PAGE_AT_LEAST, self.width() - kept)])

    def _first_place(self) -> QRect:
        return usual(QGuiApplication.primaryScreen().availableGeometry())

    def _new_conversation(self) -> None:
        self.tree.new_conversation_requested.emit(self.tree.current_workspace())

    def _choose_theme(self, choice: str) -> None:
        if choice in ("system", "light", "dark"):
            self._themes.set_choice(choice)  # type: ignore[arg-type]  # narrowed by the line above
            self.menus.set_theme_choice(choice)
            self.theme_chosen.emit(choice)

    def _edit_focused(self, slot: str) -> None:
        """A menu entry acts on the text that has the focus, as its key does."""
        act = getattr(self.focusWidget(), slot, None)
        if callable(act):
            act()

    def _next_pane(self) -> None:
        self._move_pane(1)

    def _previous_pane(self) -> None:
        self._move_pane(-1)

    def _move_pane(self, step: int) -> None:
        panes = [pane for pane in self.panes() if pane.isVisible()]
        focused = self.focusWidget()
        here = next(
            (
                n
                for n, pane in enumerate(panes)
                if focused is not None and (pane is focused or pane.isAncestorOf(focused))
            ),
            -1,
        )
        if panes:
            target = panes[(here + step) % len(panes)] if here >= 0 else panes[0]
            target.setFocus(Qt.FocusReason.TabFocusReason)

    def _show_shortcuts(self) -> None:
        ShortcutsDialog(list(self.menus.shortcut_lines()), self).open()

    def _show_about(self) -> None:
        AboutDialog(self._version, self).open()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._may_close:
            event.accept()
            return
        event.ignore()
        self.close_requested.emit()
