"""Edits in UTF-16 units: the fold against a plain model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drafts.fold import MisfitError, base_text, fold, shifted, typed_pieces, units
from drafts.model import TextEdit

# Surrogates alone, astral and combining characters, line ends: what an editor and an input method may send.
TEXT = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(["👋", "é", "\ud83d", "\udc4b", "\r\n", "字"])


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[TextEdit], str]:
    """A text, edits that fit one after the other, and the text that they give, by slicing lists of units."""
    start = draw(TEXT)
    model = _units(start)
    edits: list[TextEdit] = []
    for _ in range(draw(st.integers(0, 12))):
        position = draw(st.integers(0, len(model)))
        removed = draw(st.integers(0, len(model) - position))
        inserted = draw(TEXT)
        edits.append(TextEdit(position, removed, inserted))
        model[position : position + removed] = _units(inserted)
    return start, edits, _text(model)


def _units(text: str) -> list[bytes]:
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[at : at + 2] for at in range(0, len(data), 2)]


def _text(model: list[bytes]) -> str:
    return b"".join(model).decode("utf-16-le", "surrogatepass")


@given(edited())
def test_any_edits_give_what_the_plain_model_gives(case: tuple[str, list[TextEdit], str]) -> None:
    start, edits, expected = case
    assert fold(start, edits) == _text(_units(expected)) if edits else fold(start, edits) == start


@given(edited())
def test_pieces_of_an_unknown_base_hold_everything_that_is_still_there(case: tuple[str, list[TextEdit], str]) -> None:
    start, edits, _expected = case
    if not start:
        assert typed_pieces(0, edits) == fold("", edits)
    else:
        marked = [TextEdit(edit.position, edit.removed, edit.inserted) for edit in edits]
        assert units(typed_pieces(units(start), marked)) <= sum(units(e.inserted) + 1 for e in edits)


def test_a_pair_that_arrives_in_halves_comes_together() -> None:
    assert fold("", [TextEdit(0, 0, "\ud83d"), TextEdit(1, 0, "\udc4b")]) == "👋"


def test_a_lone_surrogate_survives() -> None:
    assert fold("a", [TextEdit(1, 0, "\udc4b")]) == "a\udc4b"


@pytest.mark.parametrize("edit", [TextEdit(3, 0, "x"), TextEdit(0, 3, ""), TextEdit(-1, 0, "x")])
def test_an_edit_outside_the_text_is_a_misfit(edit: TextEdit) -> None:
    with pytest.raises(MisfitError):
        fold("ab", [edit])


def test_lengths_count_utf16_units() -> None:
    assert (units("👋a"), base_text("👋a").units) == (3, 3)


def test_shifted_edits_apply_behind_a_text() -> None:
    assert fold("stored", shifted([TextEdit(0, 0, "x"), TextEdit(1, 0, "y")], 6)) == "storedxy"


def test_pieces_apart_are_separate_lines() -> None:
    assert typed_pieces(10, [TextEdit(2, 0, "one"), TextEdit(9, 1, "two")]) == "one\ntwo"
