"""Finds, in the source of drafts and runtime, every error code that can reach a person."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_FACTORIES = frozenset({"refuse", "refused", "reject", "rejected", "fail", "failed", "fault"})


def raised_codes(*packages: str) -> dict[str, str]:
    """Code to the file that raises it: first arguments of faults, and of functions that are named for making one."""
    found: dict[str, str] = {}
    for package in packages:
        for file in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(file.read_text("utf-8"))
            for code in codes_in(tree):
                found.setdefault(code, str(file.relative_to(ROOT)))
    return found


def codes_in(tree: ast.AST) -> Iterator[str]:
    """Every code that this tree raises, or lists in a table named ``…CODES``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _makes_a_fault(node.func):
            for argument in [*node.args[:1], *(k.value for k in node.keywords if k.arg == "code")]:
                yield from _strings(argument)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and _is_code_table(node):
            yield from _table_values(node.value)


def _makes_a_fault(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name.endswith("Fault") or name.lstrip("_") in _FACTORIES


def _is_code_table(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id.strip("_").endswith("CODES") for target in targets)


def _strings(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _looks_like_code(node.value):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _strings(node.body)
        yield from _strings(node.orelse)


def _table_values(node: ast.expr | None) -> Iterator[str]:
    """Strings in the value place of a table of codes: of a mapping, of pairs, or of a set."""
    if isinstance(node, ast.Dict):
        for value in node.values:
            yield from _strings(value)
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for element in node.elts:
            yield from _strings(element.elts[-1] if isinstance(element, ast.Tuple) and element.elts else element)
    elif isinstance(node, ast.Call) and node.args:
        yield from _table_values(node.args[0])


def _looks_like_code(text: str) -> bool:
    return text.replace("_", "").isalpha() and text == text.lower()
