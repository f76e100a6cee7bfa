"""The guards of LIBRARIES.md: what a new version of a library must prove before it is used."""

from __future__ import annotations

import os
import subprocess
import sys

import apsw

CALLS = 20_000
# PySide6 6.12.0 on Python 3.11 loses a reference to None (void call) and True (emit) each time and dies.
PROGRAM = f"""
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QWidget

class Sender(QObject):
    happened = Signal(bool)

application = QApplication([])
widget = QWidget()
sender = Sender()
seen = []
sender.happened.connect(seen.append)
for number in range({CALLS}):
    widget.setEnabled(number % 2 == 0)
    sender.happened.emit(True)
assert len(seen) == {CALLS}
print("alive")
"""


def test_qt_survives_20000_void_calls_and_20000_emits() -> None:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert (done.returncode, done.stdout.strip()) == (0, "alive"), done.stderr


def test_sqlite_has_what_the_stores_rely_on() -> None:
    assert tuple(int(part) for part in apsw.sqlite_lib_version().split(".")) >= (3, 51, 3)
    assert "ENABLE_FTS5" in apsw.compile_options
