"""SIGTERM and SIGINT as one Qt signal, so that every way to quit takes the same orderly path."""

from __future__ import annotations

import signal
import socket
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, Signal, Slot


class QuitSignals(QObject):
    """Wakes the Qt loop when the system asks the program to end."""

    requested = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)
        self._before = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._noted)

    def close(self) -> None:
        """Give the default behaviour back."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._before)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        self._read.close()
        self._write.close()

    def _noted(self, _number: int, _frame: FrameType | None) -> None:
        """The wake-up byte does the work; a Python handler must exist for it to be written."""

    @Slot()
    def _woken(self) -> None:
        received = self._read.recv(64)
        if any(number in (signal.SIGINT, signal.SIGTERM) for number in received):
            self.requested.emit()
