"""Where the window was, as plain values, and back onto screens that are there now (spec/shell.md section 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QRect

SMALLEST = (720, 480)
_USUAL = (1180, 760)
_GRIP = 80


def fitted(wanted: QRect, screens: Sequence[QRect]) -> QRect:
    """``wanted`` on the visible ``screens`` (their available geometry, the primary one first).

    It is moved and shrunk to the screen that shows most of it; if none shows enough to grip it, it goes to the
    middle of the first.
    """
    if not screens:
        return QRect(0, 0, *_USUAL)
    best = max(screens, key=lambda screen: _area(screen.intersected(wanted)))
    seen = best.intersected(wanted)
    width = max(SMALLEST[0], min(wanted.width(), best.width()))
    height = max(SMALLEST[1], min(wanted.height(), best.height()))
    if seen.width() < _GRIP or seen.height() < _GRIP:
        return centred(width, height, screens[0])
    left = max(best.left(), min(wanted.left(), best.right() - width + 1))
    top = max(best.top(), min(wanted.top(), best.bottom() - height + 1))
    return QRect(left, top, width, height)


def centred(width: int, height: int, screen: QRect) -> QRect:
    """A rectangle in the middle of ``screen``, not larger than it."""
    width, height = min(width, screen.width()), min(height, screen.height())
    return QRect(
        screen.left() + (screen.width() - width) // 2, screen.top() + (screen.height() - height) // 2, width, height
    )


def usual(screen: QRect) -> QRect:
    """Where a first window goes."""
    return centred(*_USUAL, screen)


def read_rect(stored: Mapping[str, object]) -> QRect | None:
    """The rectangle in a stored mapping, None if it is not complete or not sensible."""
    values = [stored.get(name) for name in ("x", "y", "width", "height")]
    numbers = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    if len(numbers) != 4 or numbers[2] <= 0 or numbers[3] <= 0 or max(map(abs, numbers)) > 100_000:
        return None
    return QRect(*numbers)


def _area(rect: QRect) -> int:
    return max(0, rect.width()) * max(0, rect.height())
