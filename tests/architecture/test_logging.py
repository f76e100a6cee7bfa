"""Log calls carry constant templates and only the fields that the content-free formatter writes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runtime.base.log import FIELDS
from tests.architecture.tree import PROGRAM, called_name, modules

LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}


def _log_calls() -> Iterator[tuple[str, ast.Call]]:
    for module in modules(*PROGRAM):
        for call in module.calls():
            if (
                called_name(call) in LEVELS
                and isinstance(call.func, ast.Attribute)
                and isinstance(call.func.value, ast.Name)
                and call.func.value.id in {"log", "_log", "logger", "_logger", "logging"}
            ):
                yield f"{module.name}:{call.lineno}", call


def test_extra_fields_are_those_that_are_written() -> None:
    unknown: list[str] = []
    for where, call in _log_calls():
        for keyword in call.keywords:
            if keyword.arg == "extra" and isinstance(keyword.value, ast.Dict):
                names = {key.value if isinstance(key, ast.Constant) else "?" for key in keyword.value.keys}
                unknown += [f"{where} {name}" for name in names - FIELDS]
    assert unknown == []


def test_messages_are_constant_templates_without_arguments() -> None:
    calls = list(_log_calls())
    assert calls
    wrong = [
        where
        for where, call in calls
        if called_name(call) != "log" and not (len(call.args) == 1 and isinstance(call.args[0], ast.Constant))
    ]
    assert wrong == []
