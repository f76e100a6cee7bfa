"""Ends of a draft's text other than a save: discarded, or sent as a follow-up (spec/drafts.md sections 4 and 9)."""

from __future__ import annotations

from dataclasses import replace

import apsw

from drafts import history, repository
from drafts.model import DraftContent
from drafts.saving import Outcome
from runtime.base import failpoints

DISCARD = failpoints.step("drafts.discard", "the draft is active or discarded, never half of either")
PENDING = failpoints.step("drafts.pending", "a pending submission is noted before it is dispatched")
CLEAR = failpoints.step("drafts.clear", "the text is there with its pending id, or both are gone")


def discard(connection: apsw.Connection, draft_id: str, revision: int, position: tuple[str, int], now: int) -> Outcome:
    """CAS to ``discarded``; ``position`` is the journal position that goes with the draft. A row-less draft goes."""
    row = repository.read_draft(connection, draft_id)
    if row is None:
        return "discarded" if revision == 0 else "conflict"
    if repository.live_phase(connection, draft_id) is not None:
        return "operation_locked"
    if not repository.set_status(connection, draft_id, revision, "discarded", now):
        return "conflict" if row.status == "active" else row.status
    connection.execute("UPDATE drafts SET journal_writer = ?, journal_seq = ? WHERE id = ?", (*position, draft_id))
    repository.clear_slots_of(connection, row.key)
    return "discarded"


def note(connection: apsw.Connection, draft_id: str, submission_id: str, revision: int) -> bool:
    """Set the pending submission and the revision whose text it takes, if none is pending."""
    connection.execute(
        "UPDATE drafts SET pending_submission_id = ?1, pending_revision = ?2 WHERE id = ?3 AND status = 'active' "
        "AND revision >= ?2 AND pending_submission_id IN ('', ?1)",
        (submission_id, revision, draft_id),
    ).fetchall()
    return connection.changes() == 1


def forget(connection: apsw.Connection, draft_id: str, submission_id: str) -> None:
    """Remove the pending submission; the text stays. Harmless when it is another one."""
    connection.execute(
        "UPDATE drafts SET pending_submission_id = '', pending_revision = 0 WHERE id = ? AND pending_submission_id = ?",
        (draft_id, submission_id),
    ).fetchall()


def clear(
    connection: apsw.Connection, draft_id: str, submission_id: str, position: tuple[str, int] | None, now: int
) -> bool:
    """Empty the draft if its revision is still the pending one; its undo stack goes with the old generation.

    ``position`` is what the cleared text covers of the caller's journal (None: not open there). True: cleared.
    """
    row = repository.read_draft(connection, draft_id)
    if row is None or row.status != "active" or row.pending_submission_id != submission_id:
        return False
    source = connection.execute("SELECT pending_revision FROM drafts WHERE id = ?", (draft_id,)).get
    forget(connection, draft_id, submission_id)
    if source != row.revision:
        return False
    history.keep_row(connection, draft_id, now, always=True)
    writer, seq = position or (row.journal_writer, row.journal_seq)
    cleared = replace(
        row,
        revision=row.revision + 1,
        content=DraftContent(),
        generation=row.generation + 1,
        journal_writer=writer,
        journal_seq=seq,
        updated_at=now,
    )
    return repository.cas_update(connection, cleared, row.revision)
