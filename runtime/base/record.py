"""Frozen value classes that cost little at start.

``@record`` makes what ``@dataclass(frozen=True, slots=True)`` makes, for plain fields. Before Python 3.13 a dataclass
compiles six functions apart from each other, about half a millisecond a class; the first paint needs some forty
classes. Here only ``__init__`` is compiled; the rest is shared. ``dataclasses.replace``, ``fields`` and ``asdict`` work
as usual, inheritance and ``InitVar`` do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field
from operator import attrgetter
from typing import Any, TypeVar, cast, dataclass_transform

T = TypeVar("T")


@dataclass
class _Sample:
    value: int


_KIND = cast("Any", _Sample).__dataclass_fields__["value"]._field_type


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Turn a class of annotated fields into a frozen value with slots."""
    members = dict(cls.__dict__)
    annotations: dict[str, Any] = members.get("__annotations__", {})
    fields = {name: _field(name, kind, members.pop(name, MISSING)) for name, kind in annotations.items()}
    members.pop("__dict__", None)
    members.pop("__weakref__", None)
    names = tuple(fields)
    values = _values(names)
    shared: dict[str, Any] = {
        "__slots__": names,
        "__match_args__": names,
        "__dataclass_fields__": fields,
        "__init__": _init(fields),
        "__eq__": _eq(values),
        "__hash__": lambda self: hash(values(self)),  # pyright: ignore[reportUnknownLambdaType]
        "__repr__": _repr,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__getstate__": _state,
        "__setstate__": _set_state,
    }
    made = type(cls)(cls.__name__, cls.__bases__, {**shared, **members})
    made.__qualname__ = cls.__qualname__
    return cast("type[T]", made)


def _field(name: str, kind: Any, given: Any) -> Any:
    made = cast("Any", given if isinstance(given, Field) else field(default=given))
    made.name, made.type, made._field_type = name, kind, _KIND
    return made


def _init(fields: dict[str, Any]) -> Callable[..., None]:
    """The one function that is compiled, with the names of the fields as its parameters."""
    scope: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    parameters: list[str] = []
    body: list[str] = []
    for name, one in fields.items():
        value = name
        if one.default is not MISSING:
            scope[f"_default_{name}"] = one.default
            parameters.append(f"{name}=_default_{name}")
        elif one.default_factory is not MISSING:
            scope[f"_make_{name}"] = one.default_factory
            parameters.append(f"{name}=_missing")
            value = f"_make_{name}() if {name} is _missing else {name}"
        else:
            parameters.append(name)
        body.append(f"  _set(self, {name!r}, {value})\n")
    source = f"def __init__(self, {', '.join(parameters)}):\n{''.join(body)}"
    eval(compile(source, "<record>", "exec"), scope)
    return scope["__init__"]


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """All values as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    single = attrgetter(*names)
    return lambda self: (single(self),)


def _eq(values: Callable[[Any], tuple[Any, ...]]) -> Callable[[Any, Any], bool]:
    def equal(self: Any, other: Any) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name, one in self.__dataclass_fields__.items() if one.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse(self: Any, name: str, *_value: Any) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r} of {self.__class__.__qualname__}")


def _state(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in self.__slots__)


def _set_state(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, value)
