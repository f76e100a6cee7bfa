"""One source for colours, type and style: the tokens, the style sheet made of them, and who follows whom.

Imported before the first paint: PySide6 and the standard library only. Specification: spec/shell.md section 3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

import resources
from runtime.base.record import record

Scheme = Literal["light", "dark"]
Choice = Literal["system", "light", "dark"]
FontKind = Literal["caption", "small", "body", "reading", "title", "display", "code"]

_FONT_FILES = (
    "Inter-Regular.otf", "Inter-Italic.otf", "Inter-Medium.otf", "Inter-SemiBold.otf", "Inter-Bold.otf",
    "JetBrainsMono-Regular.ttf", "JetBrainsMono-Bold.ttf",
)  # fmt: skip
_SIZE_OF: Mapping[str, str] = MappingProxyType({"code": "body"})
_TOKEN = re.compile(r"@([a-z_]+)")


@record
class Theme:
    """The tokens of one scheme. Sizes are device-independent pixels."""

    scheme: Scheme
    colors: Mapping[str, str]
    sizes: Mapping[str, int]
    radii: Mapping[str, int]
    ui_families: tuple[str, ...]
    mono_families: tuple[str, ...]
    line_height: float
    measure: int

    def color(self, name: str) -> QColor:
        """Colour of a token; an unknown name is a bug and raises KeyError."""
        return QColor(self.colors[name])

    def font(self, kind: FontKind = "body", weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
        """A font with its named CJK and emoji fallbacks."""
        font = QFont()
        font.setFamilies(list(self.mono_families if kind == "code" else self.ui_families))
        font.setStyleHint(QFont.StyleHint.Monospace if kind == "code" else QFont.StyleHint.SansSerif)
        font.setPixelSize(self.sizes[_SIZE_OF.get(kind, kind)])
        font.setWeight(weight)
        return font


def load_fonts() -> tuple[str, ...]:
    """Make the shipped fonts known to Qt; returns the families. Needs a QGuiApplication."""
    families: dict[str, None] = {}
    for name in _FONT_FILES:
        number = QFontDatabase.addApplicationFont(str(resources.path(f"fonts/{name}")))
        families.update(dict.fromkeys(QFontDatabase.applicationFontFamilies(number) if number >= 0 else ()))
    return tuple(families)


@cache
def theme_of(scheme: Scheme) -> Theme:
    """The theme of a scheme as the token file says it."""
    tokens: dict[str, Any] = json.loads(resources.path("theme/tokens.json").read_text("utf-8"))
    kinds = tokens["type"]
    fallbacks = (*kinds["cjk"], *kinds["emoji"])
    return Theme(
        scheme=scheme,
        colors=MappingProxyType(_with_derived(tokens[scheme])),
        sizes=MappingProxyType(kinds["sizes"]),
        radii=MappingProxyType(tokens["radius"]),
        ui_families=(*kinds["ui"], *fallbacks),
        mono_families=(*kinds["mono"], *fallbacks),
        line_height=kinds["reading_line_height"],
        measure=kinds["reading_measure_max_px"],
    )


def _with_derived(colors: Mapping[str, str]) -> dict[str, str]:
    """Add the few mixtures that style sheets need and cannot compute."""
    accent, ground, text = colors["accent"], colors["surface"], colors["text"]
    return {
        **colors,
        "accent_hover": _mix(accent, text, 0.12),
        "accent_pressed": _mix(accent, text, 0.24),
        "focus_on_accent": _mix(accent, text, 0.55),
        "selection": _mix(ground, accent, 0.28),
        "ring": _mix(ground, accent, 0.18),
    }


def _mix(first: str, second: str, share: float) -> str:
    a, b = QColor(first), QColor(second)
    pairs = ((a.red(), b.red()), (a.green(), b.green()), (a.blue(), b.blue()))
    return "#" + "".join(f"{round(x + (y - x) * share):02X}" for x, y in pairs)


def style_sheet(theme: Theme) -> str:
    """The style sheet template with this theme's tokens; an unknown token raises KeyError."""
    values = {
        **theme.colors,
        **{f"size_{name}": f"{size}px" for name, size in theme.sizes.items()},
        **{f"radius_{name}": f"{radius}px" for name, radius in theme.radii.items()},
        "ui": _quoted(theme.ui_families),
        "mono": _quoted(theme.mono_families),
    }
    template = resources.path("theme/inkfast.qss").read_text("utf-8")
    body = re.sub(r"/\*.*?\*/", "", template, flags=re.DOTALL)
    return _TOKEN.sub(lambda match: values[match[1]], body)


def _quoted(families: tuple[str, ...]) -> str:
    return ", ".join(f'"{family}"' for family in families)


def palette_of(theme: Theme) -> QPalette:
    """Palette for what the style sheet does not reach: self-painted widgets, native dialogs, placeholders."""
    role = QPalette.ColorRole
    palette = QPalette()
    for target, name in (
        (role.Window, "window"), (role.WindowText, "text"), (role.Base, "surface"), (role.AlternateBase, "sunken"),
        (role.Text, "text"), (role.Button, "surface"), (role.ButtonText, "text"), (role.BrightText, "danger"),
        (role.ToolTipBase, "surface"), (role.ToolTipText, "text"), (role.PlaceholderText, "text_faint"),
        (role.Highlight, "selection"), (role.HighlightedText, "text"), (role.Link, "accent"),
        (role.LinkVisited, "text_muted"), (role.Accent, "accent"), (role.Light, "surface"), (role.Midlight, "hover"),
        (role.Mid, "border"), (role.Dark, "border_strong"), (role.Shadow, "border_strong"),
    ):  # fmt: skip
        palette.setColor(target, theme.color(name))
    for target in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, target, theme.color("text_faint"))
    return palette


class ThemeController(QObject):
    """Holds the theme in force: follows the system until the person chooses, and dresses the application."""

    changed = Signal(object)
    """The new :class:`Theme`, after the application wears it."""

    def __init__(self, application: QApplication, choice: Choice = "system") -> None:
        super().__init__(application)
        self._application = application
        self._choice: Choice = choice
        load_fonts()
        application.setStyle("Fusion")
        self._theme = theme_of(self._scheme_in_force())
        self._request_from_platform()
        self._dress()
        application.styleHints().colorSchemeChanged.connect(self._system_changed)

    @property
    def theme(self) -> Theme:
        return self._theme

    @property
    def choice(self) -> Choice:
        return self._choice

    def set_choice(self, choice: Choice) -> None:
        """``system`` follows the desktop; ``light`` and ``dark`` stay."""
        self._choice = choice
        self._request_from_platform()
        self._refresh()

    def _request_from_platform(self) -> None:
        """Ask the platform for title bars and native dialogs in the same scheme."""
        schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
        self._application.styleHints().setColorScheme(schemes.get(self._choice, Qt.ColorScheme.Unknown))

    def _scheme_in_force(self) -> Scheme:
        if self._choice != "system":
            return self._choice
        return "dark" if QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark else "light"

    def _system_changed(self, _scheme: Qt.ColorScheme) -> None:
        self._refresh()

    def _refresh(self) -> None:
        theme = theme_of(self._scheme_in_force())
        if theme is self._theme:
            return
        self._theme = theme
        self._dress()
        self.changed.emit(theme)

    def _dress(self) -> None:
        application = self._application
        application.setPalette(palette_of(self._theme))
        application.setFont(self._theme.font("body"))
        application.setStyleSheet(style_sheet(self._theme))
