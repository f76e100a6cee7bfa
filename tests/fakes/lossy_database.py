"""A database that loses answers or refuses steps where a test says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import apsw

from runtime.base.errors import EnvironmentFault
from runtime.base.failpoints import Step
from runtime.storage.database import Database

T = TypeVar("T")


class LossyDatabase(Database):
    """``refuse`` and ``lose`` name steps (``operations.reserve``); ``deaf`` makes that many reads fail."""

    def __init__(self, opened: Database) -> None:
        super().__init__(opened._connection, opened.path)
        self.refuse: dict[str, int] = {}
        self.lose: dict[str, int] = {}
        self.deaf = 0

    async def run(
        self, step: Step, body: Callable[[apsw.Connection], T], committed: Callable[[T], None] | None = None
    ) -> T:
        if self.refuse.get(step.name, 0):
            self.refuse[step.name] -= 1
            raise EnvironmentFault("disk_full")
        value = await super().run(step, body, committed)
        if self.lose.get(step.name, 0):
            self.lose[step.name] -= 1
            raise EnvironmentFault("io_error")
        return value

    async def read(self, body: Callable[[apsw.Connection], T]) -> T:
        if self.deaf:
            self.deaf -= 1
            raise EnvironmentFault("database_locked")
        return await super().read(body)
