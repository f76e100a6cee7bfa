"""Text in pieces: fences, limits, and streaming that ends where reading at once does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from app.transcript.blocks import HARD_LIMIT, SOFT_LIMIT, Piece, extend_pieces, pieces_of
from app.transcript.rows import Row, RowKind

_PARTS = st.sampled_from(
    ["a", "b ", "\n", "\n\n", "```", "```py\n", "\n```\n", "~~~", "`", "修", "word " * 40, "x" * 900, "y" * 4000]
)


def _pieces(text: str, kind: RowKind = "assistant") -> list[Piece]:
    return pieces_of(Row("r", kind, text))


def _shown(text: str) -> list[tuple[str, str]]:
    return [(piece.block, text[piece.start : piece.end]) for piece in _pieces(text)]


def test_a_fence_makes_a_code_block_without_its_marks() -> None:
    assert _shown("before\n\n```python\nx = 1\n```\n\nafter") == [
        ("prose", "before"), ("code", "x = 1"), ("prose", "after")]  # fmt: skip
    assert _pieces("```python\nx\n```")[0].language == "python"


def test_an_open_fence_runs_to_the_end() -> None:
    assert _shown("```\nstill coming") == [("code", "still coming")]


def test_a_closing_fence_is_at_least_as_long_as_the_opening_one() -> None:
    assert _shown("````\n```\ninside\n````\nout") == [("code", "```\ninside"), ("prose", "out")]


def test_a_fence_is_closed_by_its_own_kind() -> None:
    assert _shown("~~~\n```\n~~~\nout") == [("code", "```"), ("prose", "out")]


def test_backquotes_inside_a_line_are_text() -> None:
    assert _shown("use ```x``` here") == [("prose", "use ```x``` here")]


def test_prices_and_markup_stay_as_they_are() -> None:
    text = "from $2bn to $4bn **bold** <b>x</b> ![x](http://127.0.0.1/p.png)"
    assert _shown(text) == [("prose", text)]


def test_an_empty_row_has_one_empty_piece() -> None:
    assert _pieces("") == [Piece("prose", 0, 0)]
    assert _pieces("\n\n") == [Piece("prose", 0, 0)]


def test_fences_in_notices_are_text() -> None:
    assert [piece.block for piece in _pieces("```\nx\n```", "ending")] == ["prose"]


def test_long_text_is_cut_at_line_ends_and_none_is_lost() -> None:
    text = "\n".join(f"line {number} of a long answer" for number in range(2000))
    pieces = _pieces(text)
    assert "\n".join(text[piece.start : piece.end] for piece in pieces) == text
    assert all(piece.end - piece.start <= SOFT_LIMIT + 100 for piece in pieces)
    assert [piece.first for piece in pieces] == [True] + [False] * (len(pieces) - 1)
    assert [piece.last for piece in pieces] == [False] * (len(pieces) - 1) + [True]


def test_a_single_huge_line_is_cut_too() -> None:
    pieces = _pieces("z" * 100_000)
    assert max(piece.end - piece.start for piece in pieces) <= HARD_LIMIT
    assert sum(piece.end - piece.start for piece in pieces) == 100_000


@settings(max_examples=80, deadline=None)
@given(st.lists(_PARTS, max_size=30), st.data())
def test_streamed_in_any_chunks_gives_the_same_pieces(parts: list[str], data: st.DataObject) -> None:
    full, text, pieces = "".join(parts), "", _pieces("")
    while len(text) < len(full):
        size = data.draw(st.integers(1, 1500))
        text = full[: len(text) + size]
        extend_pieces(pieces, text)
    assert pieces == _pieces(full)


def test_streaming_reads_only_the_last_piece_again() -> None:
    text = "paragraph of some length\n" * 1000
    pieces = _pieces(text)
    frozen = pieces[:-1]
    assert extend_pieces(pieces, text + "more") >= len(frozen)
    assert pieces[: len(frozen)] == frozen
