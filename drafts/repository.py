"""The SQL of drafts: one function a statement, called inside a transaction that someone else owns."""

from __future__ import annotations

from typing import Any, cast

import apsw

from drafts.model import Draft, DraftContent, DraftKey, DraftSettings, DraftStatus, Surface
from drafts.records import content_object, dump, load, read_content, read_settings, settings_object
from runtime.base import failpoints
from runtime.base.handover import Place, Scope

CONVERT = failpoints.declare("drafts.convert", "a draft is converted with its accepted operation or not at all")
_COLUMNS = (
    "id, surface, key, workspace_id, scope, workspace_root, revision, content_json, settings_json, status, "
    "generation, journal_writer, journal_seq, pending_submission_id, created_at, updated_at"
)
_LIVE = "phase NOT IN ('accepted','terminal_failed','cancelled','abandoned')"


def read_draft(connection: apsw.Connection, draft_id: str) -> Draft | None:
    """The row of ``draft_id``, whatever its status."""
    row = connection.execute(f"SELECT {_COLUMNS} FROM drafts WHERE id = ?", (draft_id,)).fetchone()
    return None if row is None else draft_of(row)


def read_active(connection: apsw.Connection, key: DraftKey) -> Draft | None:
    """The one active draft of ``key``."""
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM drafts WHERE surface = ? AND key = ? AND status = 'active'",
        (str(key.surface), key.key),
    ).fetchone()
    return None if row is None else draft_of(row)


def insert(connection: apsw.Connection, draft: Draft) -> None:
    """A first revision. A second active draft of one key is ``apsw.ConstraintError``: look first."""
    connection.execute(
        f"INSERT INTO drafts ({_COLUMNS}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            draft.id,
            str(draft.key.surface),
            draft.key.key,
            draft.place.workspace_id,
            draft.place.scope,
            draft.place.root,
            draft.revision,
            dump(content_object(draft.content)),
            dump(settings_object(draft.settings)),
            draft.status,
            draft.generation,
            draft.journal_writer,
            draft.journal_seq,
            draft.pending_submission_id,
            draft.created_at,
            draft.updated_at,
        ),
    ).fetchall()


def cas_update(connection: apsw.Connection, draft: Draft, expected: int) -> bool:
    """Write content, settings and journal position of ``draft`` as ``draft.revision`` if ``expected`` is current."""
    connection.execute(
        "UPDATE drafts SET revision = ?, content_json = ?, settings_json = ?, generation = ?, journal_writer = ?, "
        "journal_seq = ?, updated_at = ? WHERE id = ? AND revision = ? AND status = 'active'",
        (
            draft.revision,
            dump(content_object(draft.content)),
            dump(settings_object(draft.settings)),
            draft.generation,
            draft.journal_writer,
            draft.journal_seq,
            draft.updated_at,
            draft.id,
            expected,
        ),
    ).fetchall()
    return connection.changes() == 1


def set_status(connection: apsw.Connection, draft_id: str, expected: int, status: DraftStatus, now: int) -> bool:
    """CAS an active draft of revision ``expected`` to ``status``."""
    connection.execute(
        "UPDATE drafts SET status = ?, updated_at = ? WHERE id = ? AND revision = ? AND status = 'active'",
        (status, now, draft_id, expected),
    ).fetchall()
    return connection.changes() == 1


def convert(connection: apsw.Connection, draft_id: str, now: int) -> Draft | None:
    """Convert an active draft and clear its restore slots; idempotent. Returns the row as it is afterwards.

    For the transaction that accepts an operation (spec/drafts.md section 6, step 8): the operation holds the
    draft, so no revision is compared.
    """
    connection.execute(
        "UPDATE drafts SET status = 'converted', updated_at = ? WHERE id = ? AND status = 'active'", (now, draft_id)
    ).fetchall()
    failpoints.hit(CONVERT)
    row = read_draft(connection, draft_id)
    if row is not None and row.status == "converted":
        clear_slots_of(connection, row.key)
    return row


def live_phase(connection: apsw.Connection, draft_id: str) -> str | None:
    """The phase of the operation that holds the draft, if one does."""
    phase = connection.execute(
        f"SELECT phase FROM operations WHERE draft_id = ? AND {_LIVE} ORDER BY created_at DESC LIMIT 1", (draft_id,)
    ).get
    return cast("str | None", phase)


def clear_slots_of(connection: apsw.Connection, key: DraftKey) -> None:
    """Forget every restore slot that names the surface of ``key``."""
    connection.execute(
        "DELETE FROM restore_state WHERE json_extract(surface_json, '$.surface') = ? "
        "AND json_extract(surface_json, '$.key') = ?",
        (str(key.surface), key.key),
    ).fetchall()


def draft_of(row: Any) -> Draft:
    """The record of one row in the order of the table's columns."""
    (
        draft_id,
        surface,
        key,
        workspace_id,
        scope,
        root,
        revision,
        content,
        settings,
        status,
        generation,
        writer,
        seq,
        pending,
        created_at,
        updated_at,
    ) = row
    return Draft(
        id=draft_id,
        key=DraftKey(Surface(surface), key),
        place=Place(workspace_id, cast("Scope", scope), root),
        revision=revision,
        content=contents(content),
        settings=settings_of(settings),
        status=cast("DraftStatus", status),
        generation=generation,
        journal_writer=writer,
        journal_seq=seq,
        pending_submission_id=pending,
        created_at=created_at,
        updated_at=updated_at,
    )


def contents(text: str) -> DraftContent:
    """The content of a ``content_json`` column."""
    return read_content(load(text))


def settings_of(text: str) -> DraftSettings:
    """The settings of a ``settings_json`` column."""
    return read_settings(load(text))
