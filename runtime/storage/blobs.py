"""Bytes by their digest: attachments are copied here once, and read back only if they are still what they were.

A blob is ``blobs/ab/cdef…`` (SHA-256, two levels, 0600). It appears whole or not at all, and publishing it again
mends a damaged one. Symlinks are refused on both sides (spec/drafts.md section 8).
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from runtime.base import failpoints
from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.base.ids import new_id
from runtime.storage.atomic import sync_folder, write_fault

PUBLISH = failpoints.step("storage.publish_blob", "the blob is there whole, or not at all")
_CHUNK = 1 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Blob:
    """A stored blob: lower-case hexadecimal SHA-256 and size in bytes."""

    digest: str
    size: int


class BlobStore:
    """The blobs below one folder, which must exist."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes) -> Blob:
        """Store ``data``; durable when this returns. Raises ``disk_full``, ``read_only`` or ``write_failed``."""
        blob = Blob(hashlib.sha256(data).hexdigest(), len(data))
        if not self.holds(blob.digest):
            self._publish(blob.digest, data)
        return blob

    async def copy_in(self, source: Path, below: Path) -> Blob:
        """Store a copy of the regular file ``source``, which must lie below the folder ``below``.

        Gives way to the loop after every megabyte. Raises :class:`RejectedFault` ``attachment_missing``,
        ``attachment_unreadable``, ``attachment_not_a_file``, ``attachment_symlink`` or ``attachment_escapes``, and
        :class:`EnvironmentFault` as :meth:`put`.
        """
        with _open_source(source, below) as origin:
            temporary = self._folder / new_id("tmp")
            try:
                blob = await _copy(origin, temporary)
                self._move(temporary, blob.digest)
            except OSError as error:
                raise write_fault(error) from error
            finally:
                with contextlib.suppress(OSError):
                    temporary.unlink(missing_ok=True)
        return blob

    def read(self, digest: str) -> bytes:
        """The bytes of ``digest``. Raises :class:`EnvironmentFault` ``blob_missing`` or ``blob_damaged``."""
        path = self._path(digest)
        try:
            with open(os.open(path, os.O_RDONLY | _NO_FOLLOW), "rb") as file:
                data = file.read()
        except FileNotFoundError as error:
            raise EnvironmentFault("blob_missing", digest=digest) from error
        except OSError as error:
            raise EnvironmentFault("blob_damaged", digest=digest, errno=error.errno) from error
        if path.parent.is_symlink() or hashlib.sha256(data).hexdigest() != digest:
            raise EnvironmentFault("blob_damaged", digest=digest)
        return data

    def holds(self, digest: str) -> bool:
        """Whether ``digest`` is stored and undamaged (reads it)."""
        try:
            self.read(digest)
        except EnvironmentFault:
            return False
        return True

    def _publish(self, digest: str, data: bytes) -> None:
        temporary = self._folder / new_id("tmp")
        try:
            with _create(temporary) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            self._move(temporary, digest)
        except OSError as error:
            raise write_fault(error) from error
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _move(self, temporary: Path, digest: str) -> None:
        target = self._path(digest)
        if target.parent.is_symlink():
            target.parent.unlink()
        if not target.parent.exists():
            target.parent.mkdir(mode=0o700, exist_ok=True)
            sync_folder(self._folder)
        failpoints.hit(PUBLISH.before)
        os.replace(temporary, target)
        sync_folder(target.parent)
        failpoints.hit(PUBLISH.after)

    def _path(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise RejectedFault("bad_digest")
        return self._folder / digest[:2] / digest[2:]


def _create(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")


async def _copy(origin: BinaryIO, target: Path) -> Blob:
    hasher = hashlib.sha256()
    size = 0
    with _create(target) as file:
        while chunk := origin.read(_CHUNK):
            hasher.update(chunk)
            size += len(chunk)
            file.write(chunk)
            await asyncio.sleep(0)
        file.flush()
        os.fsync(file.fileno())
    return Blob(hasher.hexdigest(), size)


def _open_source(source: Path, below: Path) -> BinaryIO:
    """Open a file that was named by a person or an agent, refusing what is not plainly that file."""
    _refuse_links(source, below)
    try:
        descriptor = os.open(source, os.O_RDONLY | _NO_FOLLOW)
    except FileNotFoundError as error:
        raise RejectedFault("attachment_missing") from error
    except OSError as error:
        raise RejectedFault("attachment_unreadable", errno=error.errno) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RejectedFault("attachment_not_a_file")
    return os.fdopen(descriptor, "rb")


def _refuse_links(source: Path, below: Path) -> None:
    """Only what lies below ``below`` is judged: that folder itself may be reached through a link."""
    try:
        parts = source.relative_to(below).parts
    except ValueError as error:
        raise RejectedFault("attachment_escapes") from error
    if ".." in parts or not parts:
        raise RejectedFault("attachment_escapes")
    step = below
    for part in parts:
        step = step / part
        if step.is_symlink():
            raise RejectedFault("attachment_symlink")
