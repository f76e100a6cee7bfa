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
from runtime.storage.faults import translate
from runtime.storage.schema import Schema

T = TypeVar("T")
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
        raise EnvironmentFault("cannot_open", str(error), errno=error.errno) from error


async def _found_version(path: Path, schema: Schema, vfs: str | None) -> int:
    """0 for a file that is to be created; raises for one that must not be touched."""
    if not path.exists() or path.stat().st_size == 0:
        return 0
    version, tables = await _with(path, vfs, apsw.SQLITE_OPEN_READONLY, _look)
    if version == 0 and tables:  # another process may be creating the file right now: look once more
        version, tables = await _with(path, vfs, apsw.SQLITE_OPEN_READONLY, _look)
    if version > schema.version:
        raise EnvironmentFault("future_schema", found=version, known=schema.version, store=schema.name)
    if version == 0 and tables:
        raise EnvironmentFault("unsupported_schema", found=0, known=schema.version, store=schema.name)
    if version and schema.path_from(version) is None:
        raise EnvironmentFault("unsupported_schema", found=version, known=schema.version, store=schema.name)
    return version


def _look(connection: apsw.Connection) -> tuple[int, int]:
    connection.set_busy_timeout(5_000)
    version = connection.execute("PRAGMA user_version").get
    tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").get
    return int(version), int(tables)


def _advance(connection: apsw.Connection, schema: Schema) -> None:
    """One transaction from whatever version is there now to the current one."""
    connection.set_busy_timeout(5_000)
    connection.execute("PRAGMA secure_delete=ON").fetchall()
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("PRAGMA synchronous=FULL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = int(connection.execute("PRAGMA user_version").get)
        if version == 0:
            schema.create(connection)
        else:
            for step in schema.path_from(version) or ():
                step.apply(connection)
        connection.execute(f"PRAGMA application_id={schema.application_id}")
        connection.execute(f"PRAGMA user_version={schema.version}")
        failpoints.hit(MIGRATE.before)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    failpoints.hit(MIGRATE.after)


def _back_up(connection: apsw.Connection, path: Path, version: int) -> None:
    """A consistent copy beside the file, published only if no backup of this version exists yet."""
    target = path.with_name(f"{path.name}.v{version}.backup")
    if target.exists():
        return
    temporary = path.with_name(f"{path.name}.{new_id('tmp')}")
    try:
        connection.execute("VACUUM INTO ?", (os.fspath(temporary),))
        os.chmod(temporary, 0o600)
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):  # another process published the same backup first
            os.link(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _create_private(path: Path) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


async def _with(path: Path, vfs: str | None, flags: int, body: Callable[[apsw.Connection], T]) -> T:
    connection: Any = await apsw.Connection.as_async(os.fspath(path), flags=flags, vfs=vfs)
    try:
        return await connection.async_run(body, connection)
    finally:
        await connection.aclose()
