"""The look: tokens, contrast, fonts, icons, and following the system."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFontInfo, QFontMetricsF, QImage, QPalette
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

import resources
from app.icons import Icons
from app.theme import Scheme, ThemeController, style_sheet, theme_of

_TEXT_ON_GROUND = [
    ("text", "surface"), ("text", "window"), ("text", "sunken"), ("text", "user_block"), ("text", "code_ground"),
    ("text", "selected"), ("text", "selection"), ("text_muted", "surface"), ("text_muted", "window"),
    ("accent_text", "accent"), ("accent", "accent_soft"), ("warn", "warn_soft"), ("danger", "danger_soft"),
    ("info", "info_soft"), ("danger", "surface"),
]  # fmt: skip


def _luminance(color: QColor) -> float:
    parts = [part / 255 for part in (color.red(), color.green(), color.blue())]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: QColor, second: QColor) -> float:
    a, b = sorted((_luminance(first), _luminance(second)))
    return (b + 0.05) / (a + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), _TEXT_ON_GROUND)
def test_text_has_the_promised_contrast_on_its_ground(scheme: Scheme, text: str, ground: str) -> None:
    theme = theme_of(scheme)
    assert _contrast(theme.color(text), theme.color(ground)) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_faint_text_and_icons_reach_the_contrast_of_large_marks(scheme: Scheme) -> None:
    theme = theme_of(scheme)
    assert _contrast(theme.color("text_faint"), theme.color("surface")) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_style_sheet_has_a_value_for_every_token(scheme: Scheme) -> None:
    assert "@" not in style_sheet(theme_of(scheme))


def test_both_schemes_have_the_same_tokens() -> None:
    assert set(theme_of("light").colors) == set(theme_of("dark").colors)


def test_the_shipped_fonts_are_used(themes: ThemeController) -> None:
    assert QFontInfo(themes.theme.font("body")).family() == "Inter"
    assert QFontInfo(themes.theme.font("code")).family() == "JetBrains Mono"
    assert QFontInfo(themes.theme.font("code")).fixedPitch()


def test_every_shipped_font_has_its_licence() -> None:
    names = {entry.name for entry in resources.path("fonts").iterdir()}
    assert {"Inter-OFL.txt", "JetBrainsMono-OFL.txt"} <= names
    assert sum(entry.stat().st_size for entry in resources.path("fonts").iterdir()) < 4_000_000


def test_chinese_and_emoji_have_named_fallbacks(themes: ThemeController) -> None:
    families = themes.theme.font("reading").families()
    assert "Noto Sans CJK SC" in families
    assert "Noto Color Emoji" in families
    assert QFontMetricsF(themes.theme.font("reading")).horizontalAdvance("修复") > 20


def test_an_explicit_choice_changes_the_palette_and_is_announced_once(
    themes: ThemeController, qapp: QApplication, qtbot: QtBot
) -> None:
    heard: list[object] = []
    themes.changed.connect(heard.append)
    themes.set_choice("dark")
    themes.set_choice("dark")
    assert [theme.scheme for theme in heard] == ["dark"]  # type: ignore[attr-defined]
    assert qapp.palette().color(QPalette.ColorRole.Window) == themes.theme.color("window")
    themes.changed.disconnect(heard.append)


def test_the_system_is_followed_until_the_person_chooses(themes: ThemeController, qapp: QApplication) -> None:
    themes.set_choice("system")
    qapp.styleHints().setColorScheme(Qt.ColorScheme.Dark)
    expected = "dark" if qapp.styleHints().colorScheme() is Qt.ColorScheme.Dark else "light"
    assert themes.theme.scheme == expected
    themes.set_choice("light")
    assert themes.theme.scheme == "light"


@pytest.mark.parametrize("scale", [1.0, 1.25, 1.5, 2.0])
def test_an_icon_is_drawn_at_every_scale_in_the_colour_of_its_token(
    icons: Icons, themes: ThemeController, scale: float
) -> None:
    pixmap = icons.pixmap("stop", "danger", 18, scale)
    assert pixmap.size() == QSize(round(18 * scale), round(18 * scale))
    assert themes.theme.color("danger").rgb() in _colors(pixmap.toImage())


def test_every_icon_file_can_be_drawn(icons: Icons) -> None:
    names = [entry.stem for entry in resources.path("icons").glob("*.svg")]
    assert {"plus", "search", "send", "stop", "settings", "folder", "copy", "alert-triangle", "more"} <= set(names)
    for name in names:
        assert _colors(icons.pixmap(name, "text", 18, 4.0).toImage()), name


def test_a_bound_button_is_tinted_again_when_the_theme_changes(
    icons: Icons, themes: ThemeController, qtbot: QtBot
) -> None:
    button = QPushButton()
    qtbot.addWidget(button)
    icons.bind(button, "stop", "danger")
    themes.set_choice("dark")
    image = button.icon().pixmap(QSize(18, 18)).toImage()
    assert theme_of("dark").color("danger").rgb() in _colors(image)


def _colors(image: QImage) -> set[int]:
    pixels = {image.pixel(x, y) for x in range(image.width()) for y in range(image.height())}
    return {pixel for pixel in pixels if pixel >> 24 == 0xFF}
