"""Is the writer of a journal alive? The system's lock on its own file answers, and goes with the process.

Leases (runtime/storage/leases.py) need the lock library and with it a loop; the first paint has neither, and
a journal must never be taken for a dead one between its creation and the moment when leases are there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    _FAR = 1 << 40  # a byte far behind any content: Windows locks are mandatory for what they cover

    def hold(descriptor: int) -> None:
        """Lock the open file until it is closed. Raises ``OSError`` if another process holds it."""
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
        os.lseek(descriptor, 0, os.SEEK_END)

    def _try_hold(descriptor: int) -> bool:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
else:
    import fcntl

    def hold(descriptor: int) -> None:
        """Lock the open file until it is closed; waits for a reader that is just looking."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def _try_hold(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def is_held(path: Path) -> bool:
    """Whether a live process holds the file; a missing or unreadable one is not held."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _try_hold(descriptor)
    finally:
        os.close(descriptor)
