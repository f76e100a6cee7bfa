"""The composer's card: model, save state, Send and Stop, notes, focus."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QMenu, QStyleOptionButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.composer.document import ComposerDocument
from app.composer.models import ModelChoice
from app.composer.panel import ComposerPanel
from app.icons import Icons
from app.theme import ThemeController

_MODELS = (
    ModelChoice("local:smollm2-135m", "SmolLM2 135M", "tiny"),
    ModelChoice("lab:qwen", "Qwen", available=False, reason="the server does not answer"),
)


@pytest.fixture
def panel(qtbot: QtBot, themes: ThemeController, icons: Icons) -> Iterator[ComposerPanel]:
    host = QWidget()
    host.resize(800, 600)
    layout = QVBoxLayout(host)
    panel = ComposerPanel(themes, icons, host)
    layout.addStretch(1)
    layout.addWidget(panel)
    qtbot.addWidget(host)
    with qtbot.waitExposed(host):
        host.show()
    host.activateWindow()
    panel.focus_editor()
    yield panel


def test_send_is_asked_for_by_button_and_key(panel: ComposerPanel) -> None:
    asked: list[str] = []
    panel.send_requested.connect(lambda: asked.append("send"))
    panel.steer_requested.connect(lambda: asked.append("steer"))
    QTest.keyClicks(panel.editor, "hi")
    panel.send_button.click()
    QTest.keyClick(panel.editor, Qt.Key.Key_Return)
    QTest.keyClick(panel.editor, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert asked == ["send", "send", "steer"]


def test_an_empty_composer_has_nothing_to_send(panel: ComposerPanel) -> None:
    assert not panel.send_button.isEnabled()
    QTest.keyClicks(panel.editor, "x")
    assert panel.send_button.isEnabled()
    panel.show_document(ComposerDocument(parent=panel))
    assert not panel.send_button.isEnabled()


def test_stop_stands_where_send_was_while_a_turn_runs(panel: ComposerPanel) -> None:
    stops: list[str] = []
    panel.stop_requested.connect(lambda: stops.append("stop"))
    panel.set_running(True)
    assert not panel.send_button.isVisible()
    panel.stop_button.click()
    panel.set_running(False)
    assert stops == ["stop"]
    assert panel.send_button.isVisible()
    assert not panel.stop_button.isVisible()


def test_the_focus_is_not_lost_with_a_vanishing_button(panel: ComposerPanel) -> None:
    QTest.keyClicks(panel.editor, "x")
    panel.send_button.setFocus()
    panel.set_running(True)
    assert panel.editor.hasFocus()


@pytest.mark.parametrize(
    ("state", "revision", "code", "words", "tone"),
    [
        ("saved", 12, "", "Saved · this version", "neutral"),
        ("dirty", 12, "", "Unsaved", "neutral"),
        ("saving", 12, "", "Saving…", "neutral"),
        ("error", 12, "disk_full", "Not saved: the disk is full", "danger"),
        ("error", 12, "something_new", "Not saved: the disk refuses", "danger"),
        ("conflict", 12, "", "Two versions", "warn"),
    ],
)
def test_the_chip_says_in_words_whether_this_version_is_saved(
    panel: ComposerPanel, state: str, revision: int, code: str, words: str, tone: str
) -> None:
    panel.set_save_state(state, revision, code)
    assert panel.save_chip.isVisible()
    assert panel.save_chip.text() == words
    assert panel.save_chip.property("chip") == tone


def test_nothing_is_claimed_before_the_first_save(panel: ComposerPanel) -> None:
    panel.set_save_state("saved", 0)
    assert not panel.save_chip.isVisible()


def test_a_lock_holds_text_and_model_and_says_why(panel: ComposerPanel) -> None:
    QTest.keyClicks(panel.editor, "kept")
    panel.set_locked(True, "Sending…")
    QTest.keyClicks(panel.editor, "x")
    assert panel.editor.shown.text() == "kept"
    assert not panel.send_button.isEnabled()
    assert not panel.model_button.isEnabled()
    panel.set_locked(False)
    assert panel.send_button.isEnabled()


def test_the_model_menu_offers_default_models_and_a_server(panel: ComposerPanel, qtbot: QtBot) -> None:
    panel.set_models(_MODELS, "local:smollm2-135m", is_default=True)
    assert panel.model_button.text() == "SmolLM2 135M · default"
    texts = [action.text() for action in panel.model_button.menu_actions()]
    assert texts == [
        "Use the default · SmolLM2 135M",
        "SmolLM2 135M · tiny",
        "Qwen · the server does not answer",
        "Add a server…",
    ]
    assert [action.isEnabled() for action in panel.model_button.menu_actions()] == [True, True, False, True]
    chosen: list[str] = []
    panel.model_chosen.connect(chosen.append)
    panel.model_button.menu_actions()[1].trigger()
    panel.model_button.menu_actions()[0].trigger()
    assert chosen == ["local:smollm2-135m", ""]
    with qtbot.waitSignal(panel.add_server_requested):
        panel.model_button.menu_actions()[-1].trigger()


def test_an_explicit_model_is_shown_without_the_word_default(panel: ComposerPanel) -> None:
    panel.set_models(_MODELS, "local:smollm2-135m", is_default=False, default_title="Qwen")
    assert panel.model_button.text() == "SmolLM2 135M"
    actions = panel.model_button.menu_actions()
    assert actions[0].text() == "Use the default · Qwen"
    assert [action.isChecked() for action in actions[:2]] == [False, True]


def test_the_model_menu_opens_without_a_loop_of_its_own(panel: ComposerPanel) -> None:
    panel.model_button.click()
    menu = panel.model_button.findChild(QMenu)
    assert menu is not None and menu.isVisible()
    menu.close()


def test_a_click_beside_the_text_focuses_it(panel: ComposerPanel) -> None:
    panel.model_button.setFocus()
    card = panel.editor.parentWidget()
    assert card is not None
    QTest.mouseClick(card, Qt.MouseButton.LeftButton, pos=QPoint(8, 8))
    assert panel.editor.hasFocus()


def test_it_takes_at_most_two_fifths_of_the_window(panel: ComposerPanel) -> None:
    panel.show_document(ComposerDocument("\n" * 200, parent=panel))
    assert panel.editor.maximumHeight() == round(panel.window().height() * 0.4)
    panel.window().resize(800, 900)
    QTest.qWait(0)
    assert panel.editor.maximumHeight() == round(panel.window().height() * 0.4)


def test_a_narrow_window_cuts_words_and_no_button(panel: ComposerPanel) -> None:
    panel.set_models((ModelChoice("lab:m", "A model with quite a long name that fills the row"),), "lab:m", False)
    panel.set_save_state("error", 3, "database_locked")
    QTest.keyClicks(panel.editor, "x")
    panel.window().resize(420, 480)
    QTest.qWait(0)
    assert panel.width() <= 420
    assert panel.send_button.width() >= panel.send_button.sizeHint().width()
    assert panel.send_button.geometry().right() <= panel.width()
    option = QStyleOptionButton()
    panel.model_button.initStyleOption(option)
    assert "…" in option.text  # type: ignore[attr-defined]
    assert "quite a long name" in panel.model_button.toolTip()
    assert panel.save_chip.toolTip() == "Not saved: another program holds the file"
    panel.window().resize(1000, 480)
    QTest.qWait(0)
    assert panel.save_chip.width() >= panel.save_chip.sizeHint().width()


def test_every_control_has_a_name_and_a_place_in_the_tab_order(panel: ComposerPanel) -> None:
    for control in (panel.editor, *panel.findChildren(QAbstractButton)):
        assert control.accessibleName(), control
        assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, control
    QTest.keyClicks(panel.editor, "x")
    QTest.keyClick(panel.editor, Qt.Key.Key_Tab)
    assert panel.model_button.hasFocus()
    QTest.keyClick(panel.model_button, Qt.Key.Key_Tab)
    assert panel.send_button.hasFocus()


def test_the_text_survives_a_change_of_theme(panel: ComposerPanel, themes: ThemeController) -> None:
    QTest.keyClicks(panel.editor, "stays")
    themes.set_choice("dark")
    assert panel.editor.shown.text() == "stays"
    assert panel.editor.caret_and_anchor() == (5, 5)


def test_notes_and_hints_appear_only_with_words(panel: ComposerPanel) -> None:
    panel.set_notice("A turn is running; your text is kept.")
    panel.set_hint("Enter sends · Shift+Enter new line")
    assert _quiet_lines(panel) == ["A turn is running; your text is kept.", "Enter sends · Shift+Enter new line"]
    panel.set_notice("")
    panel.set_hint("")
    assert _quiet_lines(panel) == []


def _quiet_lines(panel: ComposerPanel) -> list[str]:
    labels = [label for label in panel.findChildren(QLabel) if label.property("role") in ("small", "hint")]
    return sorted(label.text() for label in labels if label.isVisible())
