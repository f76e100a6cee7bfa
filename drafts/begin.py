"""Step 5 of first execution: reserve the identities of one operation (spec/drafts.md section 6, rules a-f)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import apsw

from drafts import operations
from drafts.phases import Operation, Phase
from drafts.records import load, read_content, read_settings
from drafts.snapshot import Snapshot, request_object, source_digest
from runtime.base.errors import RejectedFault
from runtime.base.ids import new_id

GONE = frozenset({"session_archived", "session_trashed", "session_erased"})
"""Failures after which the reserved session cannot be used again: the next send reserves another one."""


@dataclass(frozen=True, slots=True)
class BeginRequest:
    """One captured, saved, validated request. ``snapshot`` already holds the resolved model."""

    draft_id: str
    draft_revision: int
    snapshot: Snapshot
    fingerprint: str
    source_digest: str


def begin(connection: apsw.Connection, request: BeginRequest, now: int) -> Operation:
    """The operation of this request, inserted in phase ``reserved`` unless it is there already.

    Raises :class:`RejectedFault`, which proves that nothing was reserved: ``conflict`` (the request, the
    revision or the content is another one), ``converted``, ``discarded``, ``operation_locked``.
    """
    earlier = operations.by_request(connection, request.draft_id, request.snapshot.request_id)  # (a)
    if earlier is not None:
        if (earlier.fingerprint, earlier.source_digest) != (request.fingerprint, request.source_digest):
            raise RejectedFault("conflict", "the request id belongs to another request")
        return earlier
    _check_draft(connection, request)  # (b) (c) (d)
    latest = operations.latest(connection, request.draft_id)
    if latest is not None and not latest.phase.is_editable:  # (e)
        if latest.fingerprint == request.fingerprint:
            return latest
        raise RejectedFault("operation_locked", phase=latest.phase.value)
    operation = _reserved(request, latest, now)  # (f)
    operations.insert(connection, operation)
    return operation


def _check_draft(connection: apsw.Connection, request: BeginRequest) -> None:
    row: Any = connection.execute(
        "SELECT status, revision, content_json, settings_json FROM drafts WHERE id = ?", (request.draft_id,)
    ).fetchone()
    if row is None:
        raise RejectedFault("discarded", "no such draft")
    status, revision, content, settings = row
    if status != "active":
        raise RejectedFault(status)
    if revision != request.draft_revision:
        raise RejectedFault("conflict", "another revision", expected=request.draft_revision, actual=revision)
    if source_digest(read_content(load(content)), read_settings(load(settings))) != request.source_digest:
        raise RejectedFault("conflict", "the stored content is not what was captured")


def _reserved(request: BeginRequest, ended: Operation | None, now: int) -> Operation:
    keep = ended is not None and ended.error_code not in GONE
    return Operation(
        id=new_id("op"),
        draft_id=request.draft_id,
        workspace_id=request.snapshot.place.workspace_id,
        draft_revision=request.draft_revision,
        session_id=ended.session_id if ended is not None and keep else new_id("ses"),
        topic_id=ended.topic_id if ended is not None and keep else new_id("top"),
        submission_id=new_id("sub"),
        fingerprint=request.fingerprint,
        request=request_object(request.snapshot),
        execution=None,
        phase=Phase.RESERVED,
        error_code="",
        error="",
        request_id=request.snapshot.request_id,
        source_digest=request.source_digest,
        operation_revision=1,
        created_at=now,
        updated_at=now,
    )
