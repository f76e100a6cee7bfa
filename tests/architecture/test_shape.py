"""STYLE.md, "Shape": sizes at which a module, a function or a class must be divided."""

from __future__ import annotations

import ast

from tests.architecture.tree import ROOT, Module, modules

FILE_LINES = 400
FUNCTION_LINES = 60
PUBLIC_METHODS = 20
NAMELESS = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "managers"}


def _functions(module: Module) -> list[tuple[str, int]]:
    return [
        (f"{module.name}:{node.lineno} {node.name}", (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_no_file_is_longer_than_400_lines() -> None:
    lengths = {module.name: module.text.count("\n") for module in modules()}
    assert len(lengths) > 50
    assert {name: length for name, length in lengths.items() if length > FILE_LINES} == {}


def test_no_function_is_longer_than_60_lines() -> None:
    lengths = dict(found for module in modules() for found in _functions(module))
    assert {name: length for name, length in lengths.items() if length > FUNCTION_LINES} == {}


def test_no_class_has_more_than_20_public_methods() -> None:
    too_many: dict[str, int] = {}
    for module in modules():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                public = [
                    one
                    for one in node.body
                    if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and not one.name.startswith("_")
                ]
                # Qt overrides are camelCase and belong to Qt's interface, not to ours.
                ours = [one for one in public if one.name == one.name.lower()]
                if len(ours) > PUBLIC_METHODS:
                    too_many[f"{module.name}:{node.name}"] = len(ours)
    assert too_many == {}


def test_modules_are_named_after_their_noun() -> None:
    names = {module.name for module in modules()}
    assert [name for name in names if NAMELESS & set(name.removesuffix(".py").split("/"))] == []


def test_packaging_is_no_package() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()


def test_unit_tests_mirror_the_tree() -> None:
    mirrored = (ROOT / "tests" / "unit").rglob("test_*.py")
    folders = {path.parent.relative_to(ROOT / "tests" / "unit").as_posix() for path in mirrored} - {"."}
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []
