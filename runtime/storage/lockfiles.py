"""The files behind leases, for those who only look. Light: the first paint has neither a loop nor the lock library.

Taking and waiting is :mod:`runtime.storage.leases`.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Literal

Kind = Literal["worker", "publication", "request", "owner"]

if sys.platform == "win32":
    import msvcrt

    def _is_free(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def _is_free(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def lease_path(folder: Path, kind: Kind, identity: tuple[str, ...]) -> Path:
    """The lock file of a lease; its name is a hash of the resolved identity."""
    name = hashlib.sha256("\0".join(identity).encode()).hexdigest()[:32]
    return folder / f"{kind}-{name}.lock"


def looks_held(folder: Path, kind: Kind, *identity: str) -> bool:
    """Whether a live process holds the lease; a missing or unreadable file is not held."""
    try:
        descriptor = os.open(lease_path(folder, kind, identity), os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _is_free(descriptor)
    finally:
        os.close(descriptor)
