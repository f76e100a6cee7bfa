"""The main window: panes, menus, keys, and a close that is only a wish."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QDialog, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.banner_texts import recovery_banner
from app.composer.document import ComposerDocument
from app.composer.panel import ComposerPanel
from app.conversation.draft_page import DraftPage
from app.icons import Icons
from app.sidebar.rows import TreeRow
from app.sidebar.tree import ProjectTree
from app.theme import ThemeController
from app.window import MainWindow
from drafts.phases import Phase
from tests.gui.fit import cut_off


@pytest.fixture
def window(themes: ThemeController, icons: Icons, qtbot: QtBot) -> Iterator[MainWindow]:
    tree = ProjectTree(themes, icons)
    made = MainWindow(themes, tree, "0.1.0")
    page = DraftPage(ComposerPanel(themes, icons))
    page.composer.show_document(ComposerDocument())
    made.add_page(page, page.panes())
    made.show_page(page)
    tree.set_rows(
        [
            TreeRow("workspace", "global", "global", "Global", "1"),
            TreeRow("session", "s1", "global", "A conversation", "2 h"),
        ]
    )
    qtbot.addWidget(made, before_close_func=_let_go)
    made.show()
    made.activateWindow()
    yield made
    made.finish()


def _let_go(widget: QWidget) -> None:
    if isinstance(widget, MainWindow):
        widget.finish()


def page_of(window: MainWindow) -> DraftPage:
    page = window.pages.currentWidget()
    assert isinstance(page, DraftPage)
    return page


def action(window: MainWindow, text: str) -> QAction:
    return next(found for found in window.menus.actions() if found.text().replace("&", "").startswith(text))


def test_closing_is_a_wish_until_the_shutdown_is_done(window: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.close_requested):
        window.close()
    assert window.isVisible()
    window.finish()
    assert not window.isVisible()


def test_nothing_is_cut_in_the_smallest_window(window: MainWindow, qtbot: QtBot) -> None:
    page_of(window).banner.show_text(recovery_banner(Phase.DISPATCH_UNKNOWN))
    page_of(window).composer.editor.insertPlainText("text\n" * 30)
    window.resize(100, 100)
    qtbot.waitUntil(lambda: window.size().toTuple() == (720, 480))
    qtbot.waitUntil(lambda: cut_off(window) == [])


def test_every_action_is_in_a_menu(window: MainWindow) -> None:
    in_menus: set[QAction] = set()
    for menu in window.menuBar().findChildren(QMenu):
        in_menus.update(menu.actions())
    assert set(window.menus.actions()) <= in_menus
    keyed = {found for found in window.findChildren(QAction) if not found.shortcut().isEmpty()}
    assert keyed - in_menus == set()


def test_no_two_actions_share_a_shortcut(window: MainWindow) -> None:
    keys = [found.shortcut().toString() for found in window.menus.actions() if not found.shortcut().isEmpty()]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("text", "signal"),
    [
        ("Add a server", "add_server_requested"),
        ("Quit", "close_requested"),
        ("Send", "send_requested"),
        ("Stop", "stop_requested"),
        ("Discard", "discard_requested"),
    ],
)
def test_a_menu_entry_announces_its_wish(window: MainWindow, qtbot: QtBot, text: str, signal: str) -> None:
    window.menus.set_state(running=True, can_send=True, is_session=True, has_draft=True)
    with qtbot.waitSignal(getattr(window, signal)):
        action(window, text).trigger()


def test_escape_stops_only_while_something_runs(window: MainWindow, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(window.stop_requested, wait=50):
        qtbot.keyClick(page_of(window).composer.editor, Qt.Key.Key_Escape)
    window.menus.set_state(running=True, can_send=False, is_session=True, has_draft=False)
    with qtbot.waitSignal(window.stop_requested):
        qtbot.keyClick(page_of(window).composer.editor, Qt.Key.Key_Escape)


def test_a_new_conversation_belongs_to_the_workspace_of_what_is_open(window: MainWindow, qtbot: QtBot) -> None:
    window.tree.set_open("draft", "tide")
    with qtbot.waitSignal(window.tree.new_conversation_requested) as heard:
        qtbot.keyClick(page_of(window).composer.editor, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert heard.args == ["tide"]


def test_no_navigation_key_sends(window: MainWindow, qtbot: QtBot) -> None:
    editor = page_of(window).composer.editor
    qtbot.keyClicks(editor, "text")
    control, none = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.NoModifier
    with qtbot.assertNotEmitted(window.send_requested), qtbot.assertNotEmitted(page_of(window).composer.send_requested):
        for key, with_key in (
            (Qt.Key.Key_N, control),
            (Qt.Key.Key_O, control),
            (Qt.Key.Key_F6, none),
            (Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier),
            (Qt.Key.Key_Escape, none),
        ):
            for _ in range(10):
                qtbot.keyClick(window.focusWidget() or window, key, with_key)
    assert editor.toPlainText() == "text"


def test_f6_moves_between_the_panes_and_back(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(window.isActiveWindow)
    composer = page_of(window).composer
    window.tree.pane().setFocus()
    qtbot.keyClick(window.tree.pane(), Qt.Key.Key_F6)
    assert composer.isAncestorOf(window.focusWidget())
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
    assert window.focusWidget() is window.tree.pane()


def test_editing_keys_stay_with_the_editor(window: MainWindow, qtbot: QtBot) -> None:
    editor = page_of(window).composer.editor
    qtbot.keyClicks(editor, "one")
    qtbot.keyClick(editor, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(editor, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "one"
    qtbot.keyClick(editor, Qt.Key.Key_X, Qt.KeyboardModifier.ControlModifier)
    assert editor.toPlainText() == ""
    editor.setFocus()
    action(window, "Paste").trigger()
    assert editor.toPlainText() == "one"


def test_the_theme_is_chosen_in_the_menu_and_ticked(window: MainWindow, themes: ThemeController, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.theme_chosen) as heard:
        action(window, "Dark").trigger()
    assert heard.args == ["dark"] and themes.theme.scheme == "dark"
    assert action(window, "Dark").isChecked() and not action(window, "Light").isChecked()


def test_geometry_goes_into_plain_values_and_back(window: MainWindow) -> None:
    window.setGeometry(10, 20, 760, 500)
    stored = window.geometry_state()
    assert all(isinstance(value, int) for value in stored.values())
    window.setGeometry(0, 0, 740, 490)
    window.restore_geometry(stored)
    screen = QGuiApplication.primaryScreen().availableGeometry()
    assert window.size().toTuple() == (760, 500) and screen.contains(window.geometry())


@pytest.mark.parametrize("stored", [{}, {"x": "a"}, {"sidebar": "wide"}, {"x": 0, "y": 0, "width": -1, "height": 2}])
def test_damaged_geometry_is_ignored(window: MainWindow, stored: dict[str, object]) -> None:
    before = window.geometry()
    window.restore_geometry(stored)
    assert window.geometry() == before


def test_the_title_names_what_is_open_and_marks_what_is_not_saved(window: MainWindow) -> None:
    window.set_subject("Plan the release notes", unsaved=True)
    assert window.windowTitle() == "Plan the release notes[*] – Inkfast" and window.isWindowModified()


@pytest.mark.parametrize("text", ["Shortcuts", "About"])
def test_help_opens_without_a_nested_loop(window: MainWindow, qtbot: QtBot, text: str) -> None:
    action(window, text).trigger()
    dialog = next(found for found in window.findChildren(QDialog) if found.isVisible())
    for button in dialog.findChildren(QAbstractButton):
        assert button.accessibleName()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)


def test_the_list_of_shortcuts_is_made_of_the_menus(window: MainWindow) -> None:
    lines = dict(window.menus.shortcut_lines())
    assert lines["Ctrl+N"] == "New conversation" and lines["F6"] == "Next pane" and lines["Enter"] == "Send"


def test_every_control_that_takes_the_focus_has_a_name(window: MainWindow) -> None:
    nameless = [
        widget
        for widget in window.findChildren(QWidget)
        if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.isVisible()
        and not widget.focusProxy()
        and not widget.accessibleName()
    ]
    assert nameless == []


def test_escape_in_a_title_editor_ends_the_editing_and_stops_nothing(window: MainWindow, qtbot: QtBot) -> None:
    window.menus.set_state(running=True, can_send=False, is_session=True, has_draft=False)
    window.tree.set_open("session", "s1")
    action(window, "Rename").trigger()
    editor = window.tree.findChildren(QLineEdit)[0]
    with qtbot.assertNotEmitted(window.stop_requested, wait=50):
        qtbot.keyClick(editor, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.tree.findChildren(QLineEdit) == [])
