"""What a composer may hold, counted as everybody counts it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.composer.plain import from_document, plain, units


@given(st.text())
def test_plain_text_holds_nothing_that_two_places_would_count_differently(text: str) -> None:
    kept = plain(text)
    assert not set(kept) & set("\r\x00\u2028\u2029\ufdd0\ufdd1")
    assert not any(0xD800 <= ord(character) <= 0xDFFF for character in kept)
    assert plain(kept) == kept


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_units_are_utf_16_code_units(text: str) -> None:
    assert units(text) == len(text.encode("utf-16-le")) // 2


def test_all_line_ends_become_line_feeds() -> None:
    assert plain("a\r\nb\rc\u2028d\u2029e") == "a\nb\nc\nd\ne"


def test_half_characters_and_frame_marks_become_replacements_of_the_same_length() -> None:
    assert plain("a\ud800b\ufdd0") == "a\ufffdb\ufffd"


def test_separators_of_a_document_become_line_feeds() -> None:
    assert from_document("a\u2029b\u2028c\u00a0") == "a\nb\nc\u00a0"
