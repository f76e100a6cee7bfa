"""The height index against a plain list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.transcript.heights import HeightIndex, estimated_lines, text_weight

_HEIGHTS = st.lists(st.integers(1, 200), max_size=1500)


def _index(heights: list[int]) -> HeightIndex:
    index = HeightIndex()
    index.reset(heights)
    return index


@given(_HEIGHTS, _HEIGHTS, _HEIGHTS, st.data())
def test_it_agrees_with_a_plain_list(
    start: list[int], before: list[int], after: list[int], data: st.DataObject
) -> None:
    index = _index(start)
    index.prepend(before)
    index.extend(after)
    plain = before + start + after
    if plain:
        row = data.draw(st.integers(0, len(plain) - 1))
        height = data.draw(st.integers(1, 500))
        assert index.set(row, height) == height - plain[row]
        plain[row] = height
        assert index.height(row) == height
        assert index.top(row) == sum(plain[:row])
        y = data.draw(st.integers(0, sum(plain) - 1))
        found, rest = index.row_at(y)
        assert sum(plain[:found]) + rest == y
        assert 0 <= rest < plain[found]
    assert (len(index), index.total) == (len(plain), sum(plain))


def test_heights_outside_are_taken_to_the_nearest_end() -> None:
    index = _index([10, 20])
    assert index.row_at(-5) == (0, 0)
    assert index.row_at(500) == (1, 19)
    assert HeightIndex().row_at(3) == (0, 0)


def test_chinese_counts_double() -> None:
    assert text_weight("abc") == 3
    assert text_weight("修复a") == 5
    assert text_weight("한국") == 4


def test_the_estimate_is_linear_in_the_text() -> None:
    assert estimated_lines(0, 0, 90) == 1
    assert estimated_lines(9000, 0, 90) == 101
    assert estimated_lines(40, 40, 90) == 41
