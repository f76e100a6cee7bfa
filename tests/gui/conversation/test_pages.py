"""Draft page and session page: plain values in, wishes out, nothing cut in the smallest window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.banner_texts import banner_for_error, recovery_banner
from app.composer.document import ComposerDocument
from app.composer.panel import ComposerPanel
from app.conversation.draft_page import DraftPage
from app.conversation.header import Header
from app.conversation.session_page import SessionPage
from app.conversation.status import Status, StatusLine, save_status
from app.icons import Icons
from app.theme import ThemeController
from drafts.phases import Phase
from tests.gui.fit import cut_off

SMALL = (455, 430)
LONG_TITLE = "请用简短的句子翻译这份租约并保留条款编号和日期 " * 5


@pytest.fixture
def composer(themes: ThemeController, icons: Icons) -> ComposerPanel:
    made = ComposerPanel(themes, icons)
    made.set_hint("Enter sends · Shift+Enter new line", "One draft per workspace")
    return made


@pytest.fixture
def draft_page(composer: ComposerPanel, qtbot: QtBot) -> DraftPage:
    page = DraftPage(composer)
    qtbot.addWidget(page)
    page.resize(1100, 700)
    page.show()
    return page


@pytest.fixture
def session_page(composer: ComposerPanel, qtbot: QtBot) -> SessionPage:
    page = SessionPage(QWidget(), composer)
    qtbot.addWidget(page)
    page.resize(1100, 700)
    page.show()
    return page


def test_the_composer_is_in_the_middle_and_at_most_as_wide_as_the_measure(draft_page: DraftPage) -> None:
    composer = draft_page.composer
    left = composer.mapTo(draft_page, composer.rect().topLeft()).x()
    assert composer.width() == 720
    assert abs(left - (draft_page.width() - composer.width()) // 2) <= 2


@pytest.mark.parametrize("phase", [Phase.RESUME_REQUIRED, Phase.DISPATCH_UNKNOWN, Phase.RUNTIME_FAILED, Phase.STARTING])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_cut_on_the_smallest_draft_page(
    draft_page: DraftPage, themes: ThemeController, qtbot: QtBot, phase: Phase, scheme: str
) -> None:
    themes.set_choice(scheme)  # type: ignore[arg-type]
    draft_page.set_place("a-workspace-with-a-rather-long-name-that-goes-on")
    draft_page.header.set_title(LONG_TITLE)
    draft_page.set_first_start("Answers come from SmolLM2 135M on this machine.")
    draft_page.composer.editor.insertPlainText("a line of text\n" * 40)
    draft_page.banner.show_text(recovery_banner(phase, "model_missing"))
    draft_page.resize(*SMALL)
    qtbot.waitUntil(lambda: cut_off(draft_page) == [])


def test_nothing_is_cut_on_the_smallest_session_page(session_page: SessionPage, qtbot: QtBot) -> None:
    header = session_page.header
    header.set_title(LONG_TITLE)
    header.set_workspace("tide-tables")
    header.set_state("answering · 12:14")
    header.set_model("SmolLM2 135M · tiny")
    session_page.composer.editor.insertPlainText("a line of text\n" * 40)
    session_page.banner.show_text(banner_for_error("session_busy"))
    session_page.resize(*SMALL)
    qtbot.waitUntil(lambda: cut_off(session_page) == [])
    assert session_page.transcript.height() >= 60


def test_a_long_text_leaves_most_of_the_page_to_the_transcript(session_page: SessionPage, qtbot: QtBot) -> None:
    session_page.composer.editor.insertPlainText("a line of text\n" * 200)
    qtbot.waitUntil(lambda: session_page.composer.height() > 150)
    assert session_page.composer.height() <= session_page.height() * 0.4
    assert session_page.transcript.height() > session_page.height() * 0.4


def test_the_first_start_asks_nothing_and_offers_two_ways(draft_page: DraftPage, qtbot: QtBot) -> None:
    draft_page.set_first_start("Answers come from SmolLM2 135M on this machine.")
    offered = {button.text(): button for button in draft_page.findChildren(QPushButton) if button.isVisible()}
    with qtbot.waitSignal(draft_page.add_server_requested):
        qtbot.mouseClick(offered["Add a server…"], Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(draft_page.open_folder_requested):
        qtbot.mouseClick(offered["Open a folder as workspace…"], Qt.MouseButton.LeftButton)
    draft_page.set_first_start(None)
    assert not offered["Add a server…"].isVisible()


def test_typing_works_while_the_first_start_is_shown(draft_page: DraftPage, qtbot: QtBot) -> None:
    draft_page.set_first_start("Answers come from SmolLM2 135M on this machine.")
    draft_page.composer.show_document(ComposerDocument())
    qtbot.keyClicks(draft_page.composer.editor, "hello")
    assert draft_page.composer.editor.toPlainText() == "hello"


def test_an_action_of_the_banner_is_passed_on(session_page: SessionPage, qtbot: QtBot) -> None:
    session_page.banner.show_text(recovery_banner(Phase.RESUME_REQUIRED))
    with qtbot.waitSignal(session_page.action_requested) as heard:
        qtbot.mouseClick(session_page.banner.buttons()[0], Qt.MouseButton.LeftButton)
    assert heard.args == ["continue"]


def test_every_control_has_a_name(draft_page: DraftPage) -> None:
    draft_page.set_first_start("x")
    for control in [*draft_page.findChildren(QAbstractButton), draft_page.composer.editor]:
        assert control.accessibleName(), control


def test_chips_say_what_they_are_about(themes: ThemeController, qtbot: QtBot) -> None:
    header = Header()
    qtbot.addWidget(header)
    header.set_state("answering · 0:14")
    header.set_model("x" * 60)
    assert header.state.accessibleName() == "State: answering · 0:14"
    assert header.model.accessibleName() == f"Model: {'x' * 60}" and len(header.model.text()) <= 36


@pytest.mark.parametrize(
    ("status", "tone", "text"),
    [
        (save_status(None), "text_faint", "Nothing to save"),
        (save_status("saved", 0), "text_faint", "Nothing to save"),
        (save_status("saved", 12), "ok", "Saved r12"),
        (save_status("saving", 12), "accent", "Saving…"),
        (save_status("dirty", 12), "accent", "Not saved yet"),
        (save_status("conflict", 12), "warn", "Both versions kept"),
        (save_status("error", 12, "disk_full"), "danger", "Not saved: the disk is full"),
    ],
)
def test_the_status_line_says_whether_this_version_is_saved(
    themes: ThemeController, qtbot: QtBot, status: Status, tone: str, text: str
) -> None:
    assert (status.tone, status.text) == (tone, text)
    line = StatusLine(themes)
    qtbot.addWidget(line)
    line.set_status(status)
    assert line.status_text() == text
