"""Every action of the window, each in a menu, with its shortcut (spec/shell.md section 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

THEMES = (("system", "&System"), ("light", "&Light"), ("dark", "&Dark"))
_EDITS = (
    ("undo", "&Undo", QKeySequence.StandardKey.Undo), ("redo", "&Redo", QKeySequence.StandardKey.Redo), ("", "", None),
    ("cut", "Cu&t", QKeySequence.StandardKey.Cut), ("copy", "&Copy", QKeySequence.StandardKey.Copy),
    ("paste", "&Paste", QKeySequence.StandardKey.Paste), ("", "", None),
    ("selectAll", "Select &all", QKeySequence.StandardKey.SelectAll),
)  # fmt: skip


class Menus(QObject):
    """Builds the menus into a bar and announces what was chosen. Keys inside an editor stay the editor's."""

    new_conversation = Signal()
    open_folder = Signal()
    add_server = Signal()
    quit = Signal()
    edit = Signal(str)
    """Name of a slot that text fields have: undo, redo, cut, copy, paste, selectAll."""
    theme_chosen = Signal(str)
    """``system``, ``light`` or ``dark``."""
    next_pane = Signal()
    previous_pane = Signal()
    send = Signal()
    stop = Signal()
    rename = Signal()
    discard = Signal()
    shortcuts = Signal()
    about = Signal()

    def __init__(self, bar: QMenuBar, parent: QWidget) -> None:
        super().__init__(parent)
        self._bar = bar
        self._actions: list[QAction] = []
        self._file()
        self._edit()
        self._view()
        self._conversation()
        self._help()

    def actions(self) -> list[QAction]:
        """Every action, in the order of the menus."""
        return list(self._actions)

    def set_theme_choice(self, choice: str) -> None:
        """Tick the theme in force without announcing it."""
        for action in self._themes.actions():
            action.setChecked(action.data() == choice)

    def set_state(self, *, running: bool, can_send: bool, is_session: bool, has_draft: bool) -> None:
        """What can be done with the visible conversation."""
        self.stop_action.setEnabled(running)
        self.send_action.setEnabled(can_send)
        self.rename_action.setEnabled(is_session)
        self.discard_action.setEnabled(has_draft)

    def shortcut_lines(self) -> Iterator[tuple[str, str]]:
        """Key and what it does, for the list of shortcuts."""
        for action in self._actions:
            text, _, shown = action.text().partition("\t")
            keys = shown or action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            if keys:
                yield keys, text.replace("&", "")

    def _file(self) -> None:
        menu = self._bar.addMenu("&File")
        self._add(menu, "&New conversation", self.new_conversation.emit, "Ctrl+N")
        self._add(menu, "&Open folder…", self.open_folder.emit, "Ctrl+O")
        self._add(menu, "Add a &server…", self.add_server.emit)
        menu.addSeparator()
        quit_action = self._add(menu, "&Quit", self.quit.emit, "Ctrl+Q")
        quit_action.setMenuRole(QAction.MenuRole.QuitRole)

    def _edit(self) -> None:
        menu = self._bar.addMenu("&Edit")
        for slot, text, key in _EDITS:
            if key is None:
                menu.addSeparator()
                continue
            action = self._add(menu, text, self._edit_chosen, QKeySequence(key))
            action.setData(slot)

    def _view(self) -> None:
        menu = self._bar.addMenu("&View")
        theme = menu.addMenu("&Theme")
        self._themes = QActionGroup(self)
        for choice, text in THEMES:
            action = self._add(theme, text, self._theme_chosen)
            action.setData(choice)
            action.setCheckable(True)
            self._themes.addAction(action)
        menu.addSeparator()
        self._add(menu, "&Next pane", self.next_pane.emit, "F6")
        self._add(menu, "&Previous pane", self.previous_pane.emit, "Shift+F6")

    def _conversation(self) -> None:
        menu = self._bar.addMenu("&Conversation")
        self.send_action = self._add(menu, "&Send\tEnter", self.send.emit)
        self.stop_action = self._add(menu, "S&top", self.stop.emit, "Esc")
        menu.addSeparator()
        self.rename_action = self._add(menu, "&Rename", self.rename.emit, "F2")
        self.discard_action = self._add(menu, "&Discard draft…", self.discard.emit)
        self.set_state(running=False, can_send=False, is_session=False, has_draft=False)

    def _help(self) -> None:
        menu = self._bar.addMenu("&Help")
        self._add(menu, "&Shortcuts", self.shortcuts.emit, "F1")
        about = self._add(menu, "&About Inkfast", self.about.emit)
        about.setMenuRole(QAction.MenuRole.AboutRole)

    def _add(
        self, menu: QMenu, text: str, slot: Callable[[], None], shortcut: str | QKeySequence | None = None
    ) -> QAction:
        action = QAction(text, self)
        if shortcut is not None:
            action.setShortcut(shortcut)
        action.triggered.connect(slot)
        menu.addAction(action)
        self._actions.append(action)
        return action

    def _edit_chosen(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.edit.emit(str(action.data()))

    def _theme_chosen(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.theme_chosen.emit(str(action.data()))
