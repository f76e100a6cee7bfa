"""The import contracts hold, and a planted violation of each is seen."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import PROGRAM, ROOT

PLANTED = (
    ("app > drafts > runtime", "runtime/base/ids.py", "import drafts.model"),
    ("app > drafts > runtime", "drafts/model.py", "import app.guard"),
    ("each floor of runtime", "runtime/storage/schema.py", "import runtime.hosts.port"),
    ("each floor of runtime", "runtime/unlisted/__init__.py", ""),
    ("drafts uses only", "drafts/model.py", "import runtime.sessions.model"),
    ("only app imports Qt", "runtime/base/ids.py", "import PySide6.QtCore"),
    ("do not know each other", "app/composer/__init__.py", "import app.sidebar"),
    ("no cycles among siblings", "runtime/base/errors.py", "import runtime.base.folder"),
)


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run lint-imports on the packages below ``folder``; it goes first, so that they win over installed ones."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(config_filename=sys.argv[1] + '/pyproject.toml', no_cache=True))"
    )
    return subprocess.run(
        [sys.executable, "-c", code, str(folder)], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for package in PROGRAM:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_contracts_hold(copy: Path) -> None:
    result = _lint(copy)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(("contract", "file", "line"), PLANTED, ids=[f"{p[1]}: {p[2]}" for p in PLANTED])
def test_a_planted_violation_is_seen(copy: Path, contract: str, file: str, line: str) -> None:
    target = copy / file
    target.parent.mkdir(exist_ok=True)
    text = target.read_text(encoding="utf-8") if target.exists() else ""
    target.write_text(f"{text}\n{line}\n", encoding="utf-8")
    result = _lint(copy)
    assert result.returncode != 0, result.stdout + result.stderr
    broken = [row for row in result.stdout.splitlines() if row.endswith("BROKEN")]
    assert any(contract in row for row in broken) or "unlisted" in result.stdout, result.stdout + result.stderr
