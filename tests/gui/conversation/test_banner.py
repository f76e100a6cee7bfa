"""The banner says one thing, offers its actions once and is heard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QColor
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from app.banner_texts import BannerAction, BannerText, conflict_banner, recovery_banner, save_error_banner
from app.conversation.banner import Banner
from app.theme import ThemeController
from drafts.phases import Phase
from tests.gui.fit import cut_off

LONG = BannerText(
    "The program that runs this model could not be started. " * 2,
    "Your text is kept. " * 8,
    "danger",
    (
        BannerAction("a", "Try again", True),
        BannerAction("b", "Save a copy as file…"),
        BannerAction("c", "Keep as draft"),
    ),
)


@pytest.fixture
def banner(themes: ThemeController, qtbot: QtBot) -> Iterator[Banner]:
    holder = QWidget()
    qtbot.addWidget(holder)
    made = Banner(holder)
    made.resize(720, 80)
    holder.resize(720, 400)
    holder.show()
    yield made
    holder.close()


def test_nothing_to_say_takes_no_room(banner: Banner) -> None:
    assert banner.isHidden()
    banner.show_text(recovery_banner(Phase.RESUME_REQUIRED))
    assert banner.isVisible()
    banner.show_text(None)
    assert banner.isHidden() and banner.buttons() == []


def test_a_pressed_action_is_announced_by_its_id(banner: Banner, qtbot: QtBot) -> None:
    banner.show_text(recovery_banner(Phase.DISPATCH_UNKNOWN))
    with qtbot.waitSignal(banner.action_requested) as heard:
        qtbot.mouseClick(banner.buttons()[1], Qt.MouseButton.LeftButton)
    assert heard.args == ["send_as_new"]


def test_the_same_banner_again_keeps_the_focus(banner: Banner) -> None:
    banner.show_text(recovery_banner(Phase.DISPATCH_UNKNOWN))
    button = banner.buttons()[1]
    banner.show_text(recovery_banner(Phase.DISPATCH_UNKNOWN))
    assert banner.buttons()[1] is button


def test_actions_can_be_put_out_of_reach_while_one_is_under_way(banner: Banner) -> None:
    banner.show_text(recovery_banner(Phase.RESUME_REQUIRED))
    banner.set_enabled_actions(False)
    assert not any(button.isEnabled() for button in banner.buttons())


@pytest.mark.parametrize("width", [330, 420, 720])
def test_a_long_banner_wraps_at_every_width(banner: Banner, width: int, qtbot: QtBot) -> None:
    banner.show_text(LONG)
    banner.resize(width, 10)
    banner.resize(width, banner.height_in(width))
    qtbot.waitUntil(lambda: cut_off(banner) == [])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("shown", "token"),
    [
        (recovery_banner(Phase.RESUME_REQUIRED), "info_soft"),
        (conflict_banner(), "warn_soft"),
        (save_error_banner("disk_full"), "danger_soft"),
    ],
)
def test_each_tone_has_its_ground_in_both_themes(
    banner: Banner, themes: ThemeController, scheme: str, shown: BannerText, token: str
) -> None:
    themes.set_choice(scheme)  # type: ignore[arg-type]
    banner.show_text(shown)
    assert banner.grab().toImage().pixelColor(360, 4) == QColor(themes.theme.colors[token])


def test_a_screen_reader_gets_what_happened_and_what_is_safe(banner: Banner) -> None:
    banner.show_text(recovery_banner(Phase.RESUME_REQUIRED))
    spoken = QAccessible.queryAccessibleInterface(banner).text(QAccessible.Text.Name)
    assert spoken.startswith("You were interrupted before this was sent.") and "Nothing has been dispatched" in spoken
    assert [button.accessibleName() for button in banner.buttons()] == ["Continue", "Keep as draft"]


def test_words_of_others_are_never_read_as_markup(banner: Banner) -> None:
    banner.show_text(BannerText("<img src='file:///x'>", "<b>x</b>", "info"))
    assert {label.textFormat() for label in banner.findChildren(QLabel)} == {Qt.TextFormat.PlainText}
