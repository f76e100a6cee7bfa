"""Failpoints are declared once and passed somewhere; ``tests/crash`` kills a process at each of them."""

from __future__ import annotations

import ast
from collections import Counter

from tests.architecture.tree import Module, called_name, modules


def _declared(module: Module) -> list[tuple[str, str]]:
    """(constant, name) of each ``X = failpoints.step("name", …)`` or ``declare``."""
    found: list[tuple[str, str]] = []
    for node in module.tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            call = node.value
            if called_name(call) in {"step", "declare"} and call.args and isinstance(call.args[0], ast.Constant):
                found.append((node.targets[0].id, str(call.args[0].value)))
    return found


def test_every_failpoint_is_declared_once() -> None:
    names = Counter(name for module in modules("drafts", "runtime") for _constant, name in _declared(module))
    assert names
    assert [name for name, count in names.items() if count > 1] == []


def test_every_declared_failpoint_is_passed() -> None:
    used = Counter(
        node.id if isinstance(node, ast.Name) else node.attr
        for module in modules("drafts", "runtime")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    )
    constants = [
        (module.name, constant) for module in modules("drafts", "runtime") for constant, _name in _declared(module)
    ]
    assert [where for where in constants if used[where[1]] == 0] == []
