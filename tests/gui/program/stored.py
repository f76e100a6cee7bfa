"""What the two databases of a data folder hold, read beside the running program."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import apsw

from runtime.base.folder import DataFolder


@dataclass(frozen=True)
class Stored:
    """Reads; never writes."""

    folder: DataFolder

    def drafts(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        return _rows(self.folder.drafts_database, sql, values)

    def state(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        return _rows(self.folder.state_database, sql, values)

    @property
    def operations(self) -> int:
        return self._count(self.drafts("SELECT count(*) FROM operations"))

    @property
    def active_drafts(self) -> int:
        return self._count(self.drafts("SELECT count(*) FROM drafts WHERE status = 'active'"))

    @property
    def sessions(self) -> int:
        return self._count(self.state("SELECT count(*) FROM sessions"))

    @property
    def turns(self) -> int:
        return self._count(self.state("SELECT count(*) FROM turns"))

    @property
    def phases(self) -> list[object]:
        return [row[0] for row in self.drafts("SELECT phase FROM operations ORDER BY created_at, id")]

    @property
    def turn_states(self) -> list[object]:
        return [row[0] for row in self.state("SELECT state FROM turns ORDER BY rowid")]

    def _count(self, rows: list[tuple[object, ...]]) -> int:
        return cast("int", rows[0][0]) if rows else 0


def _rows(path: Path, sql: str, values: tuple[object, ...]) -> list[tuple[object, ...]]:
    if not path.exists():
        return []
    with contextlib.closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        connection.set_busy_timeout(5_000)
        return [tuple(row) for row in connection.execute(sql, values)]  # type: ignore[arg-type]
