"""Earlier versions and losing edits: nothing that was typed is overwritten without a copy.

``revisions`` keeps the last 20 non-empty revisions of a draft, at most one a minute. Numbers below 1 mark text
that was recovered from a journal and never was the draft's content.
"""

from __future__ import annotations

from dataclasses import dataclass

import apsw

from drafts.model import Conflict, DraftContent, DraftSettings
from drafts.records import content_object, dump, settings_object
from drafts.repository import contents, settings_of

KEPT = 20
APART_MS = 60_000


@dataclass(frozen=True, slots=True)
class EarlierVersion:
    """One row of ``revisions``. ``revision`` below 1: recovered from a journal."""

    draft_id: str
    revision: int
    content: DraftContent
    settings: DraftSettings
    saved_at: int


def keep_row(connection: apsw.Connection, draft_id: str, now: int, *, always: bool = False) -> None:
    """Copy the draft's row into ``revisions`` unless one was kept within the last minute.

    ``always`` takes the place of that one instead: for the last text before it is emptied or replaced.
    """
    newest = connection.execute(
        "SELECT max(saved_at) FROM revisions WHERE draft_id = ? AND revision > 0", (draft_id,)
    ).get
    if newest is not None and now - newest < APART_MS:
        if not always:
            return
        connection.execute(
            "DELETE FROM revisions WHERE draft_id = ? AND revision > 0 AND saved_at = ?", (draft_id, newest)
        ).fetchall()
    connection.execute(
        "INSERT OR REPLACE INTO revisions SELECT id, revision, content_json, settings_json, ? FROM drafts WHERE id = ?",
        (now, draft_id),
    ).fetchall()
    _trim(connection, draft_id)


def keep_recovered(
    connection: apsw.Connection, draft_id: str, content: DraftContent, settings: DraftSettings, now: int
) -> None:
    """Add text that fits nowhere as an earlier version, under a number below 1."""
    lowest = connection.execute("SELECT min(revision) FROM revisions WHERE draft_id = ?", (draft_id,)).get
    connection.execute(
        "INSERT INTO revisions VALUES (?,?,?,?,?)",
        (
            draft_id,
            min(1, lowest if lowest is not None else 1) - 1,
            dump(content_object(content)),
            dump(settings_object(settings)),
            now,
        ),
    ).fetchall()
    _trim(connection, draft_id)


def read_earlier(connection: apsw.Connection, draft_id: str) -> list[EarlierVersion]:
    """Newest first."""
    rows = connection.execute(
        "SELECT draft_id, revision, content_json, settings_json, saved_at FROM revisions WHERE draft_id = ? "
        "ORDER BY saved_at DESC, revision DESC",
        (draft_id,),
    )
    return [
        EarlierVersion(owner, revision, contents(content), settings_of(settings), saved_at)
        for owner, revision, content, settings, saved_at in rows
    ]


def add_conflict(connection: apsw.Connection, conflict: Conflict) -> None:
    """Store a losing copy, or its newer text if this copy is there already."""
    connection.execute(
        "INSERT INTO conflicts VALUES (?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET "
        "actual_revision = excluded.actual_revision, content_json = excluded.content_json, "
        "settings_json = excluded.settings_json",
        (
            conflict.id,
            conflict.draft_id,
            conflict.expected_revision,
            conflict.actual_revision,
            dump(content_object(conflict.content)),
            dump(settings_object(conflict.settings)),
            conflict.created_at,
        ),
    ).fetchall()


def drop_conflict(connection: apsw.Connection, conflict_id: str) -> None:
    """Remove a copy that its person has restored or given up."""
    connection.execute("DELETE FROM conflicts WHERE id = ?", (conflict_id,)).fetchall()


def read_conflicts(connection: apsw.Connection, draft_id: str) -> list[Conflict]:
    """Newest first."""
    rows = connection.execute(
        "SELECT id, draft_id, expected_revision, actual_revision, content_json, settings_json, created_at "
        "FROM conflicts WHERE draft_id = ? ORDER BY created_at DESC, id DESC",
        (draft_id,),
    )
    return [
        Conflict(copy, owner, expected, actual, contents(content), settings_of(settings), created_at)
        for copy, owner, expected, actual, content, settings, created_at in rows
    ]


def _trim(connection: apsw.Connection, draft_id: str) -> None:
    connection.execute(
        "DELETE FROM revisions WHERE draft_id = ?1 AND revision NOT IN "
        "(SELECT revision FROM revisions WHERE draft_id = ?1 ORDER BY saved_at DESC, revision DESC LIMIT ?2)",
        (draft_id, KEPT),
    ).fetchall()
