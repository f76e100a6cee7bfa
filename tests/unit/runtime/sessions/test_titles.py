"""Titles are one clean line of at most 80 visible characters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.sessions.graphemes import cut, graphemes
from runtime.sessions.titles import LIMIT, clean_title, title_from

_WHOLE = [
    "e\u0301",  # combining mark
    "👩\u200d👩\u200d👧\u200d👦",  # joiner sequence
    "❤\ufe0f",  # variation selector
    "👍🏽",  # skin tone
    "🇩🇪",  # flag
    "각",  # Hangul syllable
    "\u1100\u1161\u11a8",  # the same as jamo
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # tag sequence
    "नि",  # vowel sign
    "\r\n",
]


@pytest.mark.parametrize("grapheme", _WHOLE)
def test_a_visible_character_is_never_cut(grapheme: str) -> None:
    assert list(graphemes(grapheme * 3)) == [grapheme] * 3
    assert cut("a" + grapheme * 5, 3) == "a" + grapheme * 2


def test_flags_pair_up_from_the_left() -> None:
    assert list(graphemes("🇩🇪🇫🇷🇯")) == ["🇩🇪", "🇫🇷", "🇯"]


@given(st.text())
def test_graphemes_joined_are_the_text(text: str) -> None:
    assert "".join(graphemes(text)) == text
    assert cut(text, 10_000) == text


def test_a_long_first_line_is_cut_by_grapheme_with_an_ellipsis() -> None:
    title = title_from("👩\u200d👧" * 100)
    assert title == "👩\u200d👧" * (LIMIT - 1) + "…"
    assert len(list(graphemes(title))) == LIMIT
    assert title_from("x" * LIMIT) == "x" * LIMIT


def test_the_first_line_with_anything_in_it_gives_the_title() -> None:
    assert title_from("\n   \u200e\n\t Fix the  build \r\nplease") == "Fix the build"
    assert title_from(" \n\u202e\n") == ""


def test_control_and_bidirectional_characters_are_removed() -> None:
    assert clean_title("a\u202eb\x07c\u2066d\x1b[31m\u200f") == "abcd[31m"
    assert clean_title("\ufeffDraft\u00ad") == "Draft"


@given(st.text())
def test_any_text_gives_a_title_that_is_safe_to_show(text: str) -> None:
    title = clean_title(text)
    assert len(list(graphemes(title))) <= LIMIT
    assert title == title.strip()
    assert not any(unicodedata.category(character) in ("Cc", "Zl", "Zp", "Cs") for character in title)
