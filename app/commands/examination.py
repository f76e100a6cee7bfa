"""What ``inkfast doctor`` reads: databases and journals, read-only, without content and without a trace."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import apsw

from drafts import operations
from drafts.replay import dead_logs
from runtime.base.folder import DataFolder

T = TypeVar("T")
_DRAFT_COUNTS = {
    "drafts": "SELECT count(*) FROM drafts WHERE status = 'active'",
    "conflict_copies": "SELECT count(*) FROM conflicts",
    "operations": "SELECT count(*) FROM operations",
    "unsettled_operations": "SELECT count(*) FROM operations WHERE phase NOT IN "
    "('accepted', 'terminal_failed', 'cancelled', 'abandoned')",
    "unconfirmed_follow_ups": "SELECT count(*) FROM drafts WHERE status = 'active' "
    "AND coalesce(pending_submission_id, '') <> ''",
}
_STATE_COUNTS = {
    "sessions": "SELECT count(*) FROM sessions",
    "items": "SELECT count(*) FROM items",
    "unended_turns": "SELECT count(*) FROM turns WHERE ended_at IS NULL",
}


def counts(folder: DataFolder) -> dict[str, int]:
    """How much there is, and how much the next start has to recover; no word of it."""
    found = {**_asked(folder.drafts_database, _DRAFT_COUNTS), **_asked(folder.state_database, _STATE_COUNTS)}
    journals = len(list(folder.draft_journal.glob("*.log"))) if folder.draft_journal.is_dir() else 0
    left = len(dead_logs(folder.draft_journal))
    return {**found, "journals_in_use": journals - left, "journals_to_recover": left}


def phases(folder: DataFolder) -> dict[str, int]:
    """Operations by phase (spec/drafts.md section 11)."""
    if not folder.drafts_database.exists():
        return {}
    try:
        return look(folder.drafts_database, operations.counts)
    except apsw.Error:
        return {}  # the check of this database says why


def examine(connection: apsw.Connection) -> tuple[int, bool]:
    """Schema version, and whether the file is whole."""
    found = int(connection.execute("PRAGMA user_version").get)
    whole = str(connection.execute("PRAGMA integrity_check(1)").get) == "ok"
    return found, whole and not connection.execute("PRAGMA foreign_key_check").fetchall()


def look(path: Path, body: Callable[[apsw.Connection], T]) -> T:
    """Run ``body`` on a read-only connection. Raises ``apsw.Error``."""
    connection = _opened(path)
    try:
        connection.set_busy_timeout(2_000)
        return body(connection)
    finally:
        connection.close()


def _opened(path: Path) -> apsw.Connection:
    """Where nothing can be written, nobody writes, and SQLite must not try to make its -shm file."""
    if os.access(path.parent, os.W_OK):
        return apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READONLY)
    return apsw.Connection(f"{path.as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _asked(path: Path, questions: Mapping[str, str]) -> dict[str, int]:
    if not path.exists():
        return {}
    try:
        return look(path, lambda c: {name: int(c.execute(sql).get) for name, sql in questions.items()})
    except apsw.Error:
        return {}  # the check of this database says why
