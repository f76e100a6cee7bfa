"""One save as one transaction: fold, compare, write, keep what loses (spec/drafts.md section 4)."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Literal

import apsw

from drafts import history, repository
from drafts.fold import BaseText, base_text, fold
from drafts.model import Conflict, Draft, DraftContent, DraftKey, DraftSettings, TextEdit
from drafts.records import settings_object
from runtime.base import failpoints
from runtime.base.handover import Place

Outcome = Literal["saved", "conflict", "converted", "discarded", "operation_locked"]

INSERT = failpoints.step("drafts.insert", "a first revision is wholly there or its journal recreates it")
SAVE = failpoints.step("drafts.save", "the old or the new revision, and what was typed since from the journal")
CONFLICT = failpoints.step("drafts.conflict", "the losing copy is stored or still in the journal")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a save hands to the worker: the edits are folded there. ``revision`` 0 means a first save.

    ``copy_id`` names the conflict copy before the first try, so that a repeated save makes no second one.
    """

    id: str
    key: DraftKey
    place: Place
    revision: int
    generation: int
    source: str
    edits: tuple[TextEdit, ...]
    content: DraftContent  # without its text
    settings: DraftSettings
    writer: str
    seq: int
    copy_id: str
    keep_before: bool
    now: int


@dataclass(frozen=True, slots=True)
class Written:
    """What became of it. ``row`` is the current one if it is not ours; ``copied``: a conflict copy was stored."""

    outcome: Outcome
    id: str
    revision: int
    text: str
    base: BaseText
    copied: bool = False
    row: Draft | None = None


@dataclass(frozen=True, slots=True)
class SaveResult:
    """``edit_version`` is the one that ``revision`` holds; ``current`` is the row that won a conflict."""

    outcome: Outcome
    revision: int
    edit_version: int
    conflict_id: str = ""
    current: Draft | None = None


def write(connection: apsw.Connection, out: Outgoing) -> Written:
    """Insert or CAS ``out``. On a mismatch the losing copy is stored in this same transaction."""
    text = fold(out.source, out.edits)
    draft = _draft(out, replace(out.content, text=text))
    base = base_text(text)
    current = repository.read_draft(connection, out.id) if out.revision == 0 else None
    current = current or (repository.read_active(connection, out.key) if out.revision == 0 else None)
    if out.revision == 0 and current is None:
        repository.insert(connection, draft)
    elif current is not None or not _swap(connection, draft, out):
        if repository.live_phase(connection, out.id) is not None:
            return Written("operation_locked", out.id, out.revision, text, base)
        return _lost(connection, draft, out, base)
    if not draft.content.is_empty:
        history.keep_row(connection, draft.id, out.now)
    return Written("saved", draft.id, draft.revision, text, base)


def confirm(connection: apsw.Connection, out: Outgoing) -> Written | None:
    """After an error: the row, if it is what was sent (a lost acknowledgement). Reads only."""
    row = repository.read_draft(connection, out.id)
    if row is None or row.status != "active" or row.revision != out.revision + 1:
        return None
    text = fold(out.source, out.edits)
    if not same(row, replace(out.content, text=text), out.settings):
        return None
    return Written("saved", row.id, row.revision, text, base_text(text))


def same(row: Draft, content: DraftContent, settings: DraftSettings) -> bool:
    """Whether a row holds this content and these settings; carets and an inherited concrete model do not count."""
    if row.content.text != content.text:
        return False
    return _essence(content, settings) == _essence(row.content, row.settings)


def _essence(content: DraftContent, settings: DraftSettings) -> str:
    kept = settings if settings.model_source == "explicit" else replace(settings, model="")
    return json.dumps([content.parts, settings_object(kept)], sort_keys=True)


def _draft(out: Outgoing, content: DraftContent) -> Draft:
    return Draft(
        id=out.id,
        key=out.key,
        place=out.place,
        revision=out.revision + 1,
        content=content,
        settings=out.settings,
        status="active",
        generation=out.generation,
        journal_writer=out.writer,
        journal_seq=out.seq,
        pending_submission_id="",
        created_at=out.now,
        updated_at=out.now,
    )


def _swap(connection: apsw.Connection, draft: Draft, out: Outgoing) -> bool:
    """The CAS; before a text is emptied or replaced it is kept as an earlier version."""
    head = connection.execute("SELECT revision, status FROM drafts WHERE id = ?", (out.id,)).fetchone()
    if head != (out.revision, "active") or repository.live_phase(connection, out.id) is not None:
        return False
    if out.keep_before or draft.content.is_empty:
        before = repository.read_draft(connection, out.id)
        if before is not None and not before.content.is_empty:
            history.keep_row(connection, out.id, out.now, always=True)
    return repository.cas_update(connection, draft, out.revision)


def _lost(connection: apsw.Connection, draft: Draft, out: Outgoing, base: BaseText) -> Written:
    """Someone else's row is there: equal content counts as saved, anything else leaves a copy."""
    row = repository.read_draft(connection, out.id) or repository.read_active(connection, out.key)
    text = draft.content.text
    if row is None:
        return Written("discarded", out.id, out.revision, text, base)
    equal = same(row, draft.content, draft.settings)
    if equal and row.status == "active":
        return Written("saved", row.id, row.revision, text, base)
    if not equal and not draft.content.is_empty:
        copy = Conflict(out.copy_id, row.id, out.revision, row.revision, draft.content, draft.settings, out.now)
        history.add_conflict(connection, copy)
        failpoints.hit(CONFLICT.before)
    outcome: Outcome = "conflict" if row.status == "active" else row.status
    return Written(outcome, row.id, row.revision, text, base, copied=not equal and not draft.content.is_empty, row=row)
