"""Runs the whole suite in stages and ends with pytest's closing line of the last and largest one.

1. *core*: drafts and runtime in an environment without Qt.  2. *whole programs*: crash and end-to-end
tests, one at a time, because they measure a machine that is otherwise quiet.  3. everything else, two at a time.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE_TESTS = ("tests/unit/drafts", "tests/unit/runtime")
WHOLE_PROGRAMS = ("tests/crash", "tests/e2e")
STAGE_SECONDS = 900
OTHER = ("tests/architecture", "tests/unit/app", "tests/unit/tools", "tests/gui", "tests/bench")


def main(arguments: list[str]) -> int:
    """``--core`` runs only the first stage. Exit status 1 if any stage failed; later stages still run."""
    failed: list[str] = []
    if not _core():
        failed.append("core without Qt")
    if "--core" not in arguments:
        if not _pytest(sys.executable, _existing(WHOLE_PROGRAMS), []):
            failed.append("whole programs")
        if failed:
            print("FAILED so far: " + ", ".join(failed), flush=True)
        if not _pytest(sys.executable, _existing(OTHER), ["-n", "2", "--dist", "loadfile"]):
            failed.append("unit, window and architecture tests")
    return 1 if failed else 0


def _core() -> bool:
    print("== drafts and runtime without Qt", flush=True)
    subprocess.run([sys.executable, str(ROOT / "tools" / "core_env.py")], check=True)
    python = ROOT / ".venv-core" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    absent = subprocess.run([str(python), "-c", "import PySide6"], capture_output=True, check=False)
    if absent.returncode == 0:
        print("PySide6 can be imported in the environment that must not have it", file=sys.stderr)
        return False
    return _pytest(str(python), _existing(CORE_TESTS), ["-n", "2", "--dist", "loadfile"])


def _existing(folders: tuple[str, ...]) -> list[str]:
    """Folders that hold tests; pytest fails on a folder without any."""
    return [folder for folder in folders if any((ROOT / folder).rglob("test_*.py"))]


def _pytest(python: str, folders: list[str], options: list[str]) -> bool:
    if not folders:
        return True
    print("== pytest " + " ".join(folders), flush=True)
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONHASHSEED": "random"}
    command = [python, "-m", "pytest", "-q", *options, *folders]
    try:
        return subprocess.run(command, cwd=ROOT, env=environment, check=False, timeout=STAGE_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        print(f"stopped after {STAGE_SECONDS} seconds", file=sys.stderr)
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
