"""The pair of Python and Qt that dies after 5,000 calls is refused before anything is opened."""

from __future__ import annotations

import pytest

from app.guard import refuse_bad_pair


@pytest.mark.parametrize(("python", "pyside"), [((3, 11), "6.12.0"), ((3, 11), "6.12.1"), ((3, 10), "6.12.0")])
def test_the_bad_pair_is_refused_with_a_way_out(python: tuple[int, int], pyside: str) -> None:
    sentence = refuse_bad_pair(python, pyside)
    assert sentence is not None
    assert pyside in sentence
    assert "nothing was lost" in sentence
    assert "Python 3.12" in sentence


@pytest.mark.parametrize(
    ("python", "pyside"),
    [((3, 11), "6.11.3"), ((3, 12), "6.12.0"), ((3, 13), "6.12.0"), ((3, 11), ""), ((3, 11), "x.y")],
)
def test_good_pairs_pass(python: tuple[int, int], pyside: str) -> None:
    assert refuse_bad_pair(python, pyside) is None
