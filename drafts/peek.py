"""What the first paint needs of drafts: the surface to show and its draft, read without writing anything.

Runs in the boot reader before any loop exists: apsw read-only, no asyncio, no pydantic. Journals of dead
writers are replayed on the row in memory; the store folds them for good after the paint.
"""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from drafts import repository, restore
from drafts.model import Draft, DraftKey
from drafts.open_draft import OpenDraft
from drafts.replay import Log, Stored, dead_logs, read_log, replay
from drafts.schema import VERSION
from runtime.base.errors import Fault
from runtime.base.handover import JsonObject, Place
from runtime.base.record import record
from runtime.storage.faults import translate

PATIENCE_MS = 100


@record
class Peeked:
    """``surface`` is the restore slot (None: show the default). ``draft`` None: the store cannot be used.

    ``code``: empty, ``missing`` (a first start), ``database_locked`` or ``old_schema`` (the draft is then
    ``loading``: keys go behind what will be read), ``future_schema``, ``unsupported_schema``,
    ``database_damaged``, ``record_damaged``, ``cannot_open``, ``io_error``.
    """

    surface: JsonObject | None
    draft: OpenDraft | None
    code: str = ""


def peek(database: Path, journals: Path, default: tuple[DraftKey, Place], slot: str = restore.ACTIVE) -> Peeked:
    """The surface of ``slot`` and its draft as a kill left them. Raises nothing that the environment causes."""
    if not database.exists() or database.stat().st_size == 0:
        return Peeked(None, _draft_of(None, journals, default), "missing")
    try:
        return _read(database, journals, default, slot)
    except apsw.Error as error:
        fault = translate(error)
        code = fault.code if isinstance(fault, Fault) else "database_damaged"
    except Fault as fault:
        code = fault.code
    except OSError:
        code = "io_error"
    return Peeked(None, _loading(default) if code == "database_locked" else None, code)


def _read(database: Path, journals: Path, default: tuple[DraftKey, Place], slot: str) -> Peeked:
    connection = apsw.Connection(os.fspath(database), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.set_busy_timeout(PATIENCE_MS)
        version = int(connection.execute("PRAGMA user_version").get)
        if version != VERSION:
            return _other_version(version, default)
        connection.execute("BEGIN")
        surface = restore.read_slot(connection, slot)
        target = restore.surface_of(surface) if surface is not None else None
        return Peeked(surface, _draft_of(connection, journals, target or default))
    finally:
        connection.close()


def _other_version(version: int, default: tuple[DraftKey, Place]) -> Peeked:
    if version > VERSION:
        return Peeked(None, None, "future_schema")
    if version == 0:
        return Peeked(None, None, "unsupported_schema")
    return Peeked(None, _loading(default), "old_schema")


def _loading(target: tuple[DraftKey, Place]) -> OpenDraft:
    draft = OpenDraft.unsaved(*target)
    draft.loading = True
    return draft


def _draft_of(connection: apsw.Connection | None, journals: Path, target: tuple[DraftKey, Place]) -> OpenDraft:
    """The active draft of the target with everything that dead writers typed, or a new one."""
    key, place = target
    row = repository.read_active(connection, key) if connection is not None else None
    draft = OpenDraft.of(row) if row is not None else OpenDraft.unsaved(key, place)
    if connection is not None and row is not None:
        draft.locked = repository.live_phase(connection, row.id) or ""
    stored = None if row is None else Stored(row.content.text, row.journal_writer, row.journal_seq)
    for path in dead_logs(journals):
        try:
            log = read_log(path)
        except OSError:
            continue  # the store will say so; what can be read is shown
        draft_id = _id_in(log, key, row, connection)
        if draft_id is None:
            continue
        found = replay(stored, log, log.chains_of(draft_id, key))
        if found.changed:
            stored = Stored(found.text, log.writer, found.seq)
            draft.replay(found.text, found.caret)
            if row is None:
                draft.id = draft_id
    return draft


def _id_in(log: Log, key: DraftKey, row: Draft | None, connection: apsw.Connection | None) -> str | None:
    """Under which id the log speaks of this draft; drafts that have ended are left to the store."""
    if row is not None:
        return row.id
    for chain in log.chains:
        if chain.key == key and (connection is None or repository.read_draft(connection, chain.draft_id) is None):
            return chain.draft_id
    return None
