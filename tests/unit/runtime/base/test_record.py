"""A record is the frozen dataclass with slots that it stands for."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass, replace
from typing import Any

import pytest

from runtime.base.record import record


@record
class Point:
    """Two numbers and what belongs to them."""

    x: int
    y: int = 2
    tags: tuple[str, ...] = field(default_factory=tuple)
    secret: str = field(default="", repr=False)

    @property
    def total(self) -> int:
        return self.x + self.y

    @staticmethod
    def origin() -> Point:
        return Point(0, 0)


@record
class Name:
    text: str


@dataclass(frozen=True, slots=True)
class Twin:
    x: int
    y: int = 2
    tags: tuple[str, ...] = field(default_factory=tuple)
    secret: str = field(default="", repr=False)


def test_it_is_made_as_a_dataclass_is() -> None:
    assert Point(1) == Point(1, 2, (), "")
    assert Point(x=1, y=5).total == 6
    assert Point.origin().x == 0
    assert Point.__doc__ == "Two numbers and what belongs to them."
    missing: Any = Point
    with pytest.raises(TypeError):
        missing()
    with pytest.raises(TypeError):
        missing(1, unknown=2)


def test_equality_and_hash_follow_class_and_values() -> None:
    assert Point(1) != Point(2)
    assert Point(1) != Twin(1)
    assert Name("a") != "a"
    assert len({Point(1), Point(1), Point(2), Name("a"), Name("a")}) == 3


def test_it_cannot_be_changed_and_holds_nothing_else() -> None:
    point: Any = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 3
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.other = 3
    assert not hasattr(point, "__dict__")


def test_it_shows_itself_without_what_must_not_be_shown() -> None:
    assert repr(Point(1, secret="s")) == "Point(x=1, y=2, tags=())"
    assert repr(Twin(1, secret="s")) == "Twin(x=1, y=2, tags=())"


def test_the_functions_of_dataclasses_work() -> None:
    assert is_dataclass(Point)
    assert replace(Point(1), y=9) == Point(1, 9)
    assert asdict(Point(1, tags=("a",))) == asdict(Twin(1, tags=("a",)))
    assert [one.name for one in fields(Point)] == [one.name for one in fields(Twin)]
    match Point(4, 5):
        case Point(x, y):
            assert (x, y) == (4, 5)


def test_copies_and_pickles_are_equal() -> None:
    point = Point(1, 3, ("a",), "s")
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
