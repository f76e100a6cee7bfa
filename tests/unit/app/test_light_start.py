"""What the first paint imports: Qt, apsw and our own light modules (DESIGN.md, "start")."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {
    "asyncio", "pydantic", "qasync", "filelock", "rfc8785", "acp", "pydantic_ai", "httpx", "openai", "keyring",
    "platformdirs", "importlib.metadata", "uuid", "html", "concurrent.futures", "ssl", "socket",
}  # fmt: skip
PLACES = {
    "app", "drafts", "runtime", "resources", "PySide6", "shiboken6", "shibokensupport", "apsw",
}  # fmt: skip


def _loaded(code: str) -> set[str]:
    """Modules after ``code`` in a process of its own that a bare interpreter does not have."""
    shown = "import sys; print(*sys.modules)"
    runs = [
        subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for text in (f"import PySide6.QtWidgets; {shown}", f"{code}; {shown}")
    ]
    return set(runs[1].split()) - set(runs[0].split())


def test_the_first_paint_imports_nothing_heavy() -> None:
    pytest.importorskip("PySide6.QtWidgets")
    loaded = _loaded("import app.__main__, app.boot, app.first_paint")
    assert loaded & HEAVY == set()
    foreign = {name.partition(".")[0] for name in loaded} - set(sys.stdlib_module_names) - PLACES
    assert foreign == set()
    assert "app.first_paint" in loaded


def test_the_way_to_the_window_loads_neither_parser_nor_commands() -> None:
    pytest.importorskip("PySide6.QtWidgets")
    loaded = _loaded("import app.__main__, app.boot, app.first_paint")
    assert {name for name in loaded if name.startswith(("app.cli", "app.commands"))} == set()
