"""One window a data folder: a second launch raises the first and ends (DESIGN.md, "Data folder")."""

from __future__ import annotations

import hashlib
import json
import os

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from runtime.base.folder import DataFolder

_WAIT_MS = 2_000
_LONGEST = 65_536


def _name(folder: DataFolder) -> str:
    return "inkfast-" + hashlib.sha256(os.fsencode(folder.root)).hexdigest()[:24]


def hand_over(folder: DataFolder, path: str | None) -> bool:
    """Ask the running window to raise itself (and to open ``path``); False if it does not answer."""
    socket = QLocalSocket()
    socket.connectToServer(_name(folder))
    if not socket.waitForConnected(_WAIT_MS):
        return False
    message = json.dumps({"path": os.path.abspath(path) if path else ""}) + "\n"
    socket.write(message.encode())
    socket.waitForBytesWritten(_WAIT_MS)
    socket.disconnectFromServer()
    return True


class InstanceServer(QObject):
    """Listens, for this user only, for later launches."""

    raise_requested = Signal(str)

    def __init__(self, folder: DataFolder, parent: QObject) -> None:
        super().__init__(parent)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._connected)
        QLocalServer.removeServer(_name(folder))  # the window lease proves that a left-over name is dead
        self._server.listen(_name(folder))

    def close(self) -> None:
        self._server.close()

    @Slot()
    def _connected(self) -> None:
        socket = self._server.nextPendingConnection()
        socket.setParent(self)
        socket.readyRead.connect(self._arrived)
        socket.disconnected.connect(socket.deleteLater)

    @Slot()
    def _arrived(self) -> None:
        socket = self.sender()
        if not isinstance(socket, QLocalSocket) or not socket.canReadLine():
            return
        try:
            message = json.loads(bytes(socket.readLine(_LONGEST).data()))
            path = message.get("path", "") if isinstance(message, dict) else ""
        except ValueError:
            path = ""
        self.raise_requested.emit(path if isinstance(path, str) else "")
