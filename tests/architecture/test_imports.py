"""STYLE.md, "Layers": where imports stand and who may import what (lint-imports checks the floors)."""

from __future__ import annotations

import ast
import tomllib
from typing import Any

import grimp

from tests.architecture.tree import PROGRAM, ROOT, Module, modules

QT = ("PySide6", "shiboken6", "qasync")
THREADS = ("threading", "concurrent", "multiprocessing", "_thread")
# Where a thread may start (database workers are apsw's own).
MAY_THREAD = {
    "runtime/base/import_thread.py": "the import thread",
    "app/boot_reader.py": "the boot reader",
    "runtime/hosts/engine/child.py": "a child process that ends with its standard input",
}
MAY_IMPORT_BY_NAME = {"runtime/base/loading.py"}
# Modules of app/ that the command line needs on a machine without Qt.
QT_FREE = ("app.compose", "app.cli", "app.sentences", "app.guard")


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def _top(module: str) -> str:
    return module.partition(".")[0]


def _conditional_imports(module: Module) -> set[int]:
    """Identities of statements below ``if TYPE_CHECKING:`` or ``if sys.platform …:`` at module level."""
    return {
        id(statement)
        for node in module.tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test).startswith(("TYPE_CHECKING", "sys.platform"))
        for statement in (*node.body, *node.orelse)
    }


def _takes_import_module(node: ast.Import | ast.ImportFrom) -> bool:
    """``importlib.metadata`` and ``importlib.resources`` read data and are fine."""
    names = {alias.name for alias in node.names}
    return not (isinstance(node, ast.ImportFrom) and names <= {"metadata", "resources"})


def test_imports_stand_at_the_top_and_are_absolute() -> None:
    misplaced: list[str] = []
    for module in modules():
        allowed = {id(node) for node in module.tree.body} | _conditional_imports(module)
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                relative = isinstance(node, ast.ImportFrom) and node.level > 0
                if id(node) not in allowed or relative:
                    misplaced.append(f"{module.name}:{node.lineno}")
    assert misplaced == []


def test_only_loading_imports_by_name() -> None:
    users = {
        module.name
        for module in modules(*PROGRAM)
        for name, node in module.imports()
        if name == "importlib" and _takes_import_module(node)
    }
    assert users == MAY_IMPORT_BY_NAME
    assert [module.name for module in modules(*PROGRAM) if "__import__(" in module.text] == []


def test_only_app_imports_qt() -> None:
    users = {m.name for m in modules(*PROGRAM) for name, _node in m.imports() if _top(name) in QT}
    assert [name for name in users if not name.startswith("app/")] == []


def test_what_the_command_line_needs_does_not_reach_qt() -> None:
    graph = grimp.build_graph(*PROGRAM, include_external_packages=True)
    chains = [
        graph.find_shortest_chain(importer=module, imported=qt)
        for module in QT_FREE
        if module in graph.modules
        for qt in QT
        if qt in graph.modules
    ]
    assert [chain for chain in chains if chain] == []


def test_threads_start_only_where_they_are_named() -> None:
    users = {m.name for m in modules(*PROGRAM) for name, _node in m.imports() if _top(name) in THREADS}
    assert users - set(MAY_THREAD) == set()


def test_the_type_checker_is_strict_for_everything_below_qt() -> None:
    strict = _project()["tool"]["pyright"]["strict"]
    lax = [
        module.name
        for module in modules(*PROGRAM)
        if not any(_top(name) in QT for name, _node in module.imports())
        and not module.name.endswith("__init__.py")
        and not any(module.name == entry or module.name.startswith(entry + "/") for entry in strict)
    ]
    assert lax == []


def test_the_contract_for_drafts_names_every_other_floor() -> None:
    floors = {f"runtime.{path.parent.name}" for path in (ROOT / "runtime").glob("*/__init__.py")}
    contracts = _project()["tool"]["importlinter"]["contracts"]
    (contract,) = [contract for contract in contracts if contract["id"] == "drafts-below"]
    assert set(contract["forbidden_modules"]) == floors - {"runtime.base", "runtime.storage"}


def test_every_package_is_installed() -> None:
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for package in (*PROGRAM, "resources")
        for path in (ROOT / package).rglob("__init__.py")
    }
    assert set(_project()["tool"]["setuptools"]["packages"]) == found
