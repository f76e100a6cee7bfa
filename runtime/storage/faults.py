"""SQLite's errors in the words of the specification."""

from __future__ import annotations

import apsw

from runtime.base.errors import EnvironmentFault, Fault

_CODES: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.BusyError, "database_locked"),
    (apsw.LockedError, "database_locked"),
    (apsw.FullError, "disk_full"),
    (apsw.ReadOnlyError, "read_only"),
    (apsw.PermissionsError, "read_only"),
    (apsw.CorruptError, "database_damaged"),
    (apsw.NotADBError, "database_damaged"),
    (apsw.CantOpenError, "cannot_open"),
    (apsw.IOError, "io_error"),
)


def translate(error: apsw.Error) -> Fault | apsw.Error:
    """The environment's fault with its code; a programming error is returned as it is."""
    if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
        return EnvironmentFault("disk_full", str(error), sqlite=type(error).__name__)  # no room for the -shm file
    for kind, code in _CODES:
        if isinstance(error, kind):
            return EnvironmentFault(code, str(error), sqlite=type(error).__name__)
    return error
