"""Replace a small file so that a reader sees the old bytes or the new ones, never half."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from runtime.base import failpoints
from runtime.base.errors import EnvironmentFault
from runtime.base.ids import new_id

REPLACE = failpoints.step("storage.replace", "the file holds the old or the new bytes, never a mixture")

_CODES = {
    errno.ENOSPC: "disk_full",
    getattr(errno, "EDQUOT", errno.ENOSPC): "disk_full",
    errno.EROFS: "read_only",
    errno.EACCES: "read_only",
    errno.EPERM: "read_only",
}


def write_atomic(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Temporary file (mode before content), fsync, replace, fsync of the folder.

    Raises :class:`EnvironmentFault` ``disk_full``, ``read_only`` or ``write_failed``: ``path`` then holds the old
    bytes, or (if only the last fsync failed) the new ones.
    """
    temporary = path.with_name(f".{path.name}.{new_id('tmp')}")
    try:
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        failpoints.hit(REPLACE.before)
        os.replace(temporary, path)
        sync_folder(path.parent)
        failpoints.hit(REPLACE.after)
    except OSError as error:
        raise write_fault(error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_fault(error: OSError) -> EnvironmentFault:
    """A failed write in the words of the specification; paths stay out of the message."""
    code = _CODES.get(error.errno or 0, "write_failed")
    return EnvironmentFault(code, error.strerror or "", errno=error.errno)


def sync_folder(folder: Path) -> None:
    """Make renames in ``folder`` durable; a no-op where folders cannot be opened (Windows)."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
