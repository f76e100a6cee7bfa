"""One SQLite file, one worker thread, whole-function transactions.

A transaction is one synchronous function that runs in the worker and never spans an await; it is
shielded from the caller's cancellation, so it either commits or rolls back as a whole (DESIGN.md).
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import apsw
import apsw.aio

from runtime.base import failpoints
from runtime.base.errors import EnvironmentFault
from runtime.base.failpoints import Step
from runtime.storage.faults import translate
from runtime.storage.opening import BUSY_TIMEOUT_MS, end, prepare_file, roll_back
from runtime.storage.schema import Schema
from runtime.storage.sqlite_version import refuse_old_sqlite

T = TypeVar("T")


class Database:
    """An open database. Made by :meth:`open`, ended by :meth:`close` (a missing close hangs the exit)."""

    def __init__(self, connection: Any, path: Path) -> None:
        self._connection = connection
        self.path = path
        self._closed = False

    @staticmethod
    async def open(path: Path, schema: Schema, *, vfs: str | None = None) -> Database:
        """Open or create ``path`` at ``schema.version``.

        Raises :class:`EnvironmentFault`: ``future_schema``, ``unsupported_schema``, ``database_damaged``,
        ``database_locked``, ``disk_full``, ``read_only``, ``cannot_open``, ``io_error``, ``sqlite_too_old``. A refused
        file is byte-identical.
        """
        refuse_old_sqlite()
        apsw.async_controller.set(apsw.aio.AsyncIO)  # type: ignore[arg-type]  # the stub wants an instance
        await prepare_file(path, schema, vfs=vfs)
        try:
            connection: Any = await apsw.Connection.as_async(os.fspath(path), vfs=vfs)
        except apsw.Error as error:
            raise translate(error) from error
        database = Database(connection, path)
        try:
            await database._work(lambda: _configure(connection))
        except BaseException:
            await database.close()
            raise
        return database

    async def run(
        self, step: Step, body: Callable[[apsw.Connection], T], committed: Callable[[T], None] | None = None
    ) -> T:
        """Run ``body`` as one ``BEGIN IMMEDIATE`` transaction named by its failpoints and return its value.

        ``committed`` is called on the loop after the commit, before this call returns, in commit order and also
        when the caller was cancelled meanwhile: what is stored is announced exactly once.
        """
        connection = self._connection

        def transaction() -> T:
            connection.execute("BEGIN IMMEDIATE")
            try:
                value = body(connection)
                failpoints.hit(step.before)
                connection.execute("COMMIT")
            except BaseException:
                roll_back(connection)
                raise
            failpoints.hit(step.after)
            return value

        return await self._work(transaction, committed)

    async def read(self, body: Callable[[apsw.Connection], T]) -> T:
        """Run ``body`` over one consistent snapshot. Writing in it is a bug: undone, and RuntimeError raised."""
        connection = self._connection

        def snapshot() -> T:
            connection.execute("BEGIN")
            before = connection.total_changes()
            try:
                value = body(connection)
                if connection.total_changes() != before:
                    raise RuntimeError("a read wrote to the database")
                return value
            finally:
                roll_back(connection)

        return await self._work(snapshot)

    async def close(self) -> None:
        """Truncate the WAL if nobody else needs it, end the worker. Harmless when repeated."""
        if self._closed:
            return
        self._closed = True
        connection = self._connection
        try:
            await self._shielded(lambda: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").get)
        except apsw.Error:
            pass  # another process reads the WAL, or the disk is full: the next open folds it
        finally:
            await end(connection)

    async def _work(self, body: Callable[[], T], committed: Callable[[T], None] | None = None) -> T:
        try:
            return await self._shielded(body, committed)
        except apsw.Error as error:
            raise translate(error) from error
        except OSError as error:
            raise EnvironmentFault("io_error", error.strerror or "", errno=error.errno) from error

    async def _shielded(self, body: Callable[[], T], committed: Callable[[T], None] | None = None) -> T:
        future: asyncio.Future[T] = asyncio.ensure_future(self._connection.async_run(body))
        future.add_done_callback(_retrieve)
        if committed is not None:
            announce = committed
            future.add_done_callback(lambda done: _succeeded(done) and announce(done.result()))
        return await asyncio.shield(future)


def _retrieve(future: asyncio.Future[Any]) -> None:
    """A cancelled caller no longer awaits the outcome: mark a possible error as seen."""
    if not future.cancelled():
        future.exception()


def _succeeded(future: asyncio.Future[Any]) -> bool:
    return not future.cancelled() and future.exception() is None


def _configure(connection: apsw.Connection) -> None:
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
