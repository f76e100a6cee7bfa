"""The source tree as parsed modules, for the tests that read code instead of running it."""

from __future__ import annotations

import ast
import functools
import pkgutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runtime.base.loading import load_now

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ("app", "drafts", "runtime")
EVERYTHING = (*PROGRAM, "resources", "tools", "packaging", "tests")
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file: ``name`` is its path below the root with forward slashes."""

    name: str
    text: str
    tree: ast.Module

    def calls(self) -> Iterator[ast.Call]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield node

    def imports(self) -> Iterator[tuple[str, ast.Import | ast.ImportFrom]]:
        """Imported module names with their statements, wherever they stand."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield alias.name, node
            elif isinstance(node, ast.ImportFrom):
                yield node.module or "", node


@functools.cache
def modules(*packages: str) -> tuple[Module, ...]:
    """All Python files below ``packages`` (the whole tree by default)."""
    found: list[Module] = []
    for package in packages or EVERYTHING:
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            found.append(Module(path.relative_to(ROOT).as_posix(), text, ast.parse(text)))
    return tuple(found)


def tracked_files() -> list[Path]:
    """The files that git knows, or (in an unpacked archive) everything that is not hidden or built."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]
    built = {"build", "dist", "node_modules", "__pycache__"}
    return [
        path
        for path in ROOT.rglob("*")
        if path.is_file()
        and not any(part.startswith(".") or part.endswith(".egg-info") for part in path.relative_to(ROOT).parts)
        and not built & set(path.relative_to(ROOT).parts)
    ]


def called_name(call: ast.Call) -> str:
    """The last name of what is called: ``exec`` for ``dialog.exec()``."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def import_all(*packages: str) -> None:
    """Import every module below ``packages`` (``__main__`` modules excepted), so that registries are complete."""
    for package in packages:
        imported = load_now(package)
        for found in pkgutil.walk_packages(imported.__path__, package + "."):
            if not found.name.endswith("__main__"):
                load_now(found.name)
