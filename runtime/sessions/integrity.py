"""Does the store still hold what it says it holds? Reports at idle after the start; deletes and mends nothing."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from runtime.sessions.rows import chunks_of
from runtime.sessions.store import SessionStore


@dataclass(frozen=True, slots=True)
class IntegrityReport:
    """Counts only. ``missing_items``: holes in a session's order; ``dangling``: rows whose parent row is gone."""

    missing_items: int = 0
    sessions_with_holes: tuple[str, ...] = ()
    missing_chunks: int = 0
    dangling: int = 0

    @property
    def is_whole(self) -> bool:
        return not (self.missing_items or self.missing_chunks or self.dangling)


async def check_integrity(store: SessionStore) -> IntegrityReport:
    """One pass over the indexes of the state store (about a second per million items, in its worker)."""
    return await store.database.read(_check)


def _check(connection: apsw.Connection) -> IntegrityReport:
    holes = connection.execute(
        "SELECT s.id, s.last_seq - (SELECT count(*) FROM items i WHERE i.session_id = s.id AND i.seq <= s.last_seq)"
        " AS missing FROM sessions s WHERE missing > 0 ORDER BY s.id"
    ).fetchall()
    streaming = connection.execute("SELECT id FROM items WHERE state = 'streaming'").fetchall()
    broken = sum(not chunks_of(connection, str(row[0]))[1] for row in streaming)
    missing = sum(int(str(row[1])) for row in holes)
    dangling = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    return IntegrityReport(missing, tuple(str(row[0]) for row in holes), broken, dangling)
