"""SVG icons in one stroke, tinted by tokens, sharp at every scale. Imported before the first paint."""

from __future__ import annotations

import re
from functools import cache
from weakref import ref

from PySide6.QtCore import QByteArray, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton
from shiboken6 import isValid

import resources
from app.theme import Theme, ThemeController

DEFAULT_SIZE = 18
_GAP = 4
_STROKE = 1.6
_VIEW_BOX = 24


@cache
def _source(name: str) -> str:
    """The SVG text of an icon; an unknown name is a bug and raises FileNotFoundError."""
    return resources.path(f"icons/{name}.svg").read_text("utf-8")


class Icons(QObject):
    """Tinted icons of the theme in force. Pixmaps are cached until the theme changes."""

    def __init__(self, themes: ThemeController) -> None:
        super().__init__(themes)
        self._themes = themes
        self._pixmaps: dict[tuple[str, str, int, float, int], QPixmap] = {}
        self._bound: list[tuple[ref[QAbstractButton], str, str, int]] = []
        themes.changed.connect(self._retint)

    def icon(self, name: str, token: str = "text_muted", size: int = DEFAULT_SIZE, gap: int = 0) -> QIcon:
        """An icon with pixmaps for every connected screen; ``token`` is a colour of the theme, ``gap`` free room
        at its right."""
        icon = QIcon()
        for scale in _scales():
            icon.addPixmap(self.pixmap(name, token, size, scale, gap))
            icon.addPixmap(self.pixmap(name, "text_faint", size, scale, gap), QIcon.Mode.Disabled)
        return icon

    def pixmap(self, name: str, token: str, size: int = DEFAULT_SIZE, scale: float = 1.0, gap: int = 0) -> QPixmap:
        """One tinted pixmap of ``size`` device-independent pixels for a screen of ``scale``."""
        key = (name, token, size, scale, gap)
        pixmap = self._pixmaps.get(key)
        if pixmap is None:
            pixmap = self._pixmaps[key] = _blank(size, gap, scale)
            _draw(pixmap, _tinted(name, self._themes.theme.colors[token]), size)
        return pixmap

    def bind(self, button: QAbstractButton, name: str, token: str = "text_muted", size: int = DEFAULT_SIZE) -> None:
        """Give ``button`` an icon and keep its tint when the theme changes; binding again replaces it."""
        self._bound = [entry for entry in self._bound if _alive(entry[0]) not in (None, button)]
        self._bound.append((ref(button), name, token, size))
        self._set(button, name, token, size)

    def _set(self, button: QAbstractButton, name: str, token: str, size: int) -> None:
        gap = _GAP if button.text() else 0
        button.setIconSize(QSize(size + gap, size))
        button.setIcon(self.icon(name, token, size, gap))

    def _retint(self, _theme: Theme) -> None:
        self._pixmaps.clear()
        for weak, name, token, size in self._bound:
            button = _alive(weak)
            if button is not None:
                self._set(button, name, token, size)


def _alive(weak: ref[QAbstractButton]) -> QAbstractButton | None:
    button = weak()
    return button if button is not None and isValid(button) else None


def _scales() -> list[float]:
    """1x and 2x always (windows move between screens), and what the present screens have."""
    return sorted({1.0, 2.0, *(screen.devicePixelRatio() for screen in QGuiApplication.screens())})


def _tinted(name: str, color: str) -> QByteArray:
    stroke = _STROKE * _VIEW_BOX / DEFAULT_SIZE
    text = _source(name).replace("currentColor", color)
    return QByteArray(re.sub(r'stroke-width="[^"]+"', f'stroke-width="{stroke:.3f}"', text).encode())


def _blank(size: int, gap: int, scale: float) -> QPixmap:
    pixmap = QPixmap(round((size + gap) * scale), round(size * scale))
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    return pixmap


def _draw(pixmap: QPixmap, svg: QByteArray, size: int) -> None:
    painter = QPainter(pixmap)
    QSvgRenderer(svg).render(painter, QRectF(0, 0, size, size))
    painter.end()
