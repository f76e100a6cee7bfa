"""An SQLite file layer whose n-th operation fails, as a broken or a full disk does.

Operations are counted over all files of the layer. One that fails leaves the disk as it was, except that a write
may be torn: ``torn`` bytes of it arrive.
"""

from __future__ import annotations

from typing import Any, Literal

import apsw

Operation = Literal["write", "sync", "truncate", "open"]
ALL: frozenset[Operation] = frozenset(("write", "sync", "truncate", "open"))
_EXTENDED: dict[Operation, int] = {
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "open": apsw.SQLITE_CANTOPEN,
}


class FaultyVFS(apsw.VFS):
    """Register with ``FaultyVFS("name")``, open databases with ``vfs="name"``, end with ``unregister()``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.count = 0
        self.failed: list[Operation] = []
        self._fail_at = 0
        self._full = False
        self._lasting = False
        self._torn = 0
        super().__init__(name, "")

    def arm(self, fail_at: int, *, full: bool = False, lasting: bool = False, torn: int = 0) -> None:
        """Fail operation ``fail_at`` (counted from 1) with EIO, or with ENOSPC if ``full``; ``lasting``: all later
        ones too."""
        self.count = 0
        self.failed = []
        self._fail_at, self._full, self._lasting, self._torn = fail_at, full, lasting, torn

    def disarm(self) -> None:
        self._fail_at = 0

    def passes(self, operation: Operation) -> bool:
        """Count one operation; False if it is the one that fails."""
        self.count += 1
        if not self._fail_at or self.count < self._fail_at or (self.count > self._fail_at and not self._lasting):
            return True
        if self._full and operation in {"sync", "truncate"}:
            return True  # a full disk still syncs and shrinks
        self.failed.append(operation)
        return False

    def error(self, operation: Operation) -> apsw.Error:
        if operation == "open":
            return _with_code(apsw.CantOpenError("faulty open"), _EXTENDED["open"])
        if self._full:
            return _with_code(apsw.FullError("faulty disk is full"), apsw.SQLITE_FULL)
        return _with_code(apsw.IOError(f"faulty {operation}"), _EXTENDED[operation])

    @property
    def torn(self) -> int:
        return self._torn

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        creates = flags[0] & apsw.SQLITE_OPEN_CREATE
        if creates and not self.passes("open"):
            raise self.error("open")
        return _FaultyFile(self, name, flags)


class _FaultyFile(apsw.VFSFile):
    def __init__(self, vfs: FaultyVFS, name: Any, flags: list[int]) -> None:
        self._vfs = vfs
        super().__init__("", name, flags)

    def xWrite(self, data: Any, offset: int) -> None:
        if not self._vfs.passes("write"):
            if self._vfs.torn:
                super().xWrite(bytes(data)[: self._vfs.torn], offset)
            raise self._vfs.error("write")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        if not self._vfs.passes("sync"):
            raise self._vfs.error("sync")
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        if not self._vfs.passes("truncate"):
            raise self._vfs.error("truncate")
        super().xTruncate(newsize)


def _with_code(error: apsw.Error, code: int) -> apsw.Error:
    error.extendedresult = code  # type: ignore[attr-defined]  # how apsw is told the exact code
    return error
