"""Makes ``.venv-core``: the environment of ``.venv`` without Qt, in a second and without a download.

The Qt-free packages are linked (copied where links are not possible), so that the tests of drafts and
runtime run where PySide6, qasync and pytest-qt truly do not exist.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / ".venv-core"
QT = ("pyside6", "shiboken6", "qasync", "pytestqt", "pytest_qt")


def main() -> int:
    """Build it anew each time: it must follow ``.venv``."""
    source = Path(sys.prefix)
    if source == Path(sys.base_prefix):
        print("run this with the Python of .venv", file=sys.stderr)
        return 1
    shutil.rmtree(CORE, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(CORE)], check=True)
    packages = next(source.glob("Lib/site-packages" if os.name == "nt" else "lib/python3*/site-packages"))
    target = CORE / packages.relative_to(source)
    for entry in packages.iterdir():
        if entry.name.lower().startswith(QT):
            continue
        if entry.is_dir():
            shutil.copytree(entry, target / entry.name, copy_function=_link, dirs_exist_ok=True)
        else:
            _link(str(entry), str(target / entry.name))
    return 0


def _link(source: str, target: str) -> str:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


if __name__ == "__main__":
    sys.exit(main())
