"""A window comes back only where it can be seen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect

from app.geometry import centred, fitted, read_rect, usual

FIRST = QRect(0, 0, 1920, 1040)
SECOND = QRect(1920, 0, 1280, 1000)


@pytest.mark.parametrize(
    "wanted",
    [
        QRect(100, 100, 1200, 800),
        QRect(2000, 50, 1000, 700),
        QRect(-5000, -5000, 1200, 800),
        QRect(1900, 990, 900, 600),
        QRect(0, 0, 9000, 9000),
        QRect(1895, 20, 800, 600),
        QRect(-700, 100, 800, 600),
    ],
)
def test_a_window_is_always_wholly_on_one_screen(wanted: QRect) -> None:
    place = fitted(wanted, [FIRST, SECOND])
    assert FIRST.contains(place) or SECOND.contains(place)


def test_a_visible_window_stays_where_it_was() -> None:
    assert fitted(QRect(100, 100, 1200, 800), [FIRST]) == QRect(100, 100, 1200, 800)
    assert fitted(QRect(2000, 50, 1000, 700), [FIRST, SECOND]) == QRect(2000, 50, 1000, 700)


def test_a_screen_that_is_gone_sends_its_window_to_the_first_one() -> None:
    assert fitted(QRect(2000, 50, 1000, 700), [FIRST]) == centred(1000, 700, FIRST)


def test_a_tiny_screen_never_makes_the_window_smaller_than_it_can_be() -> None:
    assert fitted(QRect(0, 0, 1200, 800), [QRect(0, 0, 640, 400)]).size().toTuple() == (720, 480)


def test_a_first_window_fits_its_screen() -> None:
    assert FIRST.contains(usual(FIRST)) and QRect(0, 0, 1024, 700).contains(usual(QRect(0, 0, 1024, 700)))


@pytest.mark.parametrize("stored", [
    {}, {"x": 1, "y": 2, "width": 3}, {"x": 1, "y": 2, "width": 0, "height": 5},
    {"x": "1", "y": 2, "width": 3, "height": 4},
    {"x": True, "y": 2, "width": 3, "height": 4}, {"x": 10**9, "y": 2, "width": 3, "height": 4},
])  # fmt: skip
def test_what_is_not_a_place_is_ignored(stored: dict[str, object]) -> None:
    assert read_rect(stored) is None
