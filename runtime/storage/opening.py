"""Look before writing: the version check, the backup and the migrations of one database file.

The version is read through a read-only connection before any write or writing pragma; a newer or
unknown file is refused and stays byte-identical (spec/drafts.md section 3).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import apsw

from runtime.base import failpoints
from runtime.base.errors import EnvironmentFault
from runtime.base.ids import new_id
from runtime.storage.atomic import sync_folder, write_fault
from runtime.storage.faults import translate
from runtime.storage.schema import Schema

T = TypeVar("T")
BUSY_TIMEOUT_MS = 5_000
MIGRATE = failpoints.step("storage.migrate", "the file is wholly at the old or wholly at the new version")


async def prepare_file(path: Path, schema: Schema, *, vfs: str | None = None) -> None:
    """Bring ``path`` to ``schema.version`` or refuse it; create it (0600) if it does not exist."""
    try:
        found = await _found_version(path, schema, vfs)
        if found == schema.version:
            return
        if found > 0:
            await _with(path, vfs, apsw.SQLITE_OPEN_READONLY, lambda c: _back_up(c, path, found))
        else:
            _create_private(path)
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        await _with(path, vfs, flags, lambda c: _advance(c, schema))
    except apsw.Error as error:
        raise translate(error) from error
    except OSError as error:
        fault = write_fault(error)
        code = fault.code if fault.code != "write_failed" else "cannot_open"
        raise EnvironmentFault(code, fault.args[0], errno=error.errno) from error


async def _found_version(path: Path, schema: Schema, vfs: str | None) -> int:
    """0 for a file that is to be created; raises for one that must not be touched."""
    if not path.exists() or path.stat().st_size == 0:
        return 0
    version, tables = await _with(path, vfs, apsw.SQLITE_OPEN_READONLY, _look)
    if version == 0 and tables:  # another process may be creating the file right now: look once more
        version, tables = await _with(path, vfs, apsw.SQLITE_OPEN_READONLY, _look)
    _refuse(version, tables, schema)
    return version


def _refuse(version: int, tables: int, schema: Schema) -> None:
    """Raise unless a file of ``version`` with that many tables can be used or brought up."""
    if version > schema.version:
        raise EnvironmentFault("future_schema", found=version, known=schema.version, store=schema.name)
    if (version == 0 and tables) or (version and schema.path_from(version) is None):
        raise EnvironmentFault("unsupported_schema", found=version, known=schema.version, store=schema.name)


def _look(connection: apsw.Connection) -> tuple[int, int]:
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    return _version_and_tables(connection)


def _version_and_tables(connection: apsw.Connection) -> tuple[int, int]:
    version = connection.execute("PRAGMA user_version").get
    tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").get
    return int(version), int(tables)


def _advance(connection: apsw.Connection, schema: Schema) -> None:
    """One transaction from whatever version is there now to the current one."""
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.execute("PRAGMA secure_delete=ON").fetchall()
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        version, tables = _version_and_tables(connection)
        _refuse(version, tables, schema)  # another process may have been here since the look
        if version == 0:
            schema.create(connection)
        for step in schema.path_from(version) or () if version else ():
            step.apply(connection)
        connection.execute(f"PRAGMA application_id={schema.application_id}")
        connection.execute(f"PRAGMA user_version={schema.version}")
        failpoints.hit(MIGRATE.before)
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise
    failpoints.hit(MIGRATE.after)


def _back_up(connection: apsw.Connection, path: Path, version: int) -> None:
    """A consistent copy beside the file, published only if no backup of this version exists yet."""
    target = path.with_name(f"{path.name}.v{version}.backup")
    if target.exists():
        return
    temporary = path.with_name(f"{path.name}.{new_id('tmp')}")
    try:
        _create_private(temporary)  # VACUUM INTO accepts an empty file: the mode comes before the content
        connection.execute("VACUUM INTO ?", (os.fspath(temporary),))
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):  # another process published the same backup first
            os.link(temporary, target)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def roll_back(connection: apsw.Connection) -> None:
    """Undo what is open; a disk that fails again must not hide the first error (the next open rolls back)."""
    with contextlib.suppress(apsw.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _create_private(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


async def _with(path: Path, vfs: str | None, flags: int, body: Callable[[apsw.Connection], T]) -> T:
    connection: Any = await apsw.Connection.as_async(os.fspath(path), flags=flags, vfs=vfs)
    try:
        return await connection.async_run(body, connection)
    finally:
        await end(connection)


async def end(connection: Any) -> None:
    """Close for good. SQLite tries a last checkpoint; if the disk refuses that, the next open makes up for it."""
    try:
        await connection.aclose()
    except apsw.Error as error:
        if translate(error) is error:
            raise
