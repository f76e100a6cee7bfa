"""Refuses an SQLite that can lose committed data.

Up to 3.51.2 a reset of the WAL while another process checkpoints could drop a committed transaction; apsw brings
its own SQLite, so an old one means a broken installation (case L07).
"""

from __future__ import annotations

import apsw

from runtime.base.errors import EnvironmentFault

OLDEST = (3, 51, 3)


def refuse_old_sqlite(version: str | None = None) -> None:
    """Raise :class:`EnvironmentFault` ``sqlite_too_old`` if the library (or ``version``) is older than 3.51.3."""
    found = version or apsw.sqlite_lib_version()
    if tuple(int(part) for part in found.split(".")) < OLDEST:
        raise EnvironmentFault("sqlite_too_old", found=found, needed=".".join(str(part) for part in OLDEST))
