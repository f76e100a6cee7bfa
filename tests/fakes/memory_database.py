"""A drafts database in memory for tests of SQL functions: same transactions, no file and no worker."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import apsw

from runtime.base.failpoints import Step
from runtime.storage.schema import Schema

T = TypeVar("T")


class MemoryDatabase:
    """Has the ``run`` and ``read`` of :class:`runtime.storage.database.Database`."""

    def __init__(self, schema: Schema) -> None:
        self._connection = apsw.Connection(":memory:")
        schema.create(self._connection)

    async def run(self, step: Step, body: Callable[[apsw.Connection], T]) -> T:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            value = body(self._connection)
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")
        return value

    async def read(self, body: Callable[[apsw.Connection], T]) -> T:
        return body(self._connection)

    def close(self) -> None:
        self._connection.close()
