"""Journals of dead writers: folded into their drafts, then removed (spec/drafts.md section 4).

What does not fit its base becomes an earlier version of the draft; what is there already is not added again,
so that a second and a third run change nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import apsw

from drafts import history, repository
from drafts.filelocks import is_held
from drafts.model import Draft, DraftContent, DraftSettings
from drafts.replay import Chain, Log, Loss, Replayed, Stored, dead_logs, read_log, rebuild, replay
from runtime.base import failpoints
from runtime.base.clock import Clock
from runtime.base.errors import EnvironmentFault, Fault
from runtime.base.ids import new_id
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook

FOLD = failpoints.step("drafts.fold", "the records are in the journal, in a committed row, or both; never in neither")
REMOVE = failpoints.step("journal.remove", "a journal goes only after its records are committed")
_EMPTY_FOR_SECONDS = 60.0
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecoveredJournals:
    """Counts of one run. ``postponed`` journals stay: held, unreadable or of a newer format."""

    journals: int = 0
    drafts: int = 0
    kept_apart: int = 0
    postponed: int = 0


class JournalRecovery:
    """Folds dead journals, one transaction each. Two processes never work on the same one."""

    def __init__(self, folder: Path, own: str, database: Database, leases: LeaseBook, clock: Clock) -> None:
        self._folder = folder
        self._own = own
        self._database = database
        self._leases = leases
        self._clock = clock

    async def run(self) -> RecoveredJournals:
        """Raises :class:`EnvironmentFault` if the database is in the way; the journals are then as before."""
        total = RecoveredJournals()
        for path in dead_logs(self._folder):
            if path.stem == self._own:
                continue
            lease = self._leases.try_acquire("owner", "journal", path.stem)
            if lease is None:
                total = replace(total, postponed=total.postponed + 1)
                continue
            try:
                total = await self._fold(path, total)
            finally:
                lease.release()
        if total != RecoveredJournals():
            log.info(
                "journals recovered",
                extra={
                    "journals": total.journals,
                    "drafts": total.drafts,
                    "kept_apart": total.kept_apart,
                    "postponed": total.postponed,
                },
            )
        return total

    async def _fold(self, path: Path, total: RecoveredJournals) -> RecoveredJournals:
        try:
            journal = read_log(path)
            newborn = path.stat().st_size == 0 and time.time() - path.stat().st_mtime < _EMPTY_FOR_SECONDS
        except FileNotFoundError:
            return total
        except OSError:
            return replace(total, postponed=total.postponed + 1)
        if newborn or is_held(path):
            return total  # its writer may be about to take its lock, or took it after the listing
        drafts = apart = 0
        if journal.chains:
            now = self._clock.now_ms()
            drafts, apart = await self._database.run(FOLD, lambda connection: _fold_all(connection, journal, now))
        if journal.unknown or drafts < 0:
            return replace(total, postponed=total.postponed + 1)
        failpoints.hit(REMOVE.before)
        with suppress(OSError):
            path.unlink(missing_ok=True)
        failpoints.hit(REMOVE.after)
        return replace(
            total, journals=total.journals + 1, drafts=total.drafts + drafts, kept_apart=total.kept_apart + apart
        )


def _fold_all(connection: apsw.Connection, journal: Log, now: int) -> tuple[int, int]:
    """(drafts changed, texts kept apart); (-1, …) if a damaged row must be looked at by a person first."""
    drafts = apart = 0
    damaged = False
    for draft_id in journal.drafts():
        try:
            changed, losses = _fold_draft(connection, journal, draft_id, now)
        except Fault as fault:
            log.warning("journal of a damaged draft kept", extra={"draft": draft_id, "code": fault.code})
            damaged = True
            continue
        drafts += changed
        apart += losses
    return (-1 if damaged else drafts), apart


def _fold_draft(connection: apsw.Connection, journal: Log, draft_id: str, now: int) -> tuple[int, int]:
    first = next(chain for chain in journal.chains if chain.draft_id == draft_id)
    row = repository.read_draft(connection, draft_id)
    if row is None or row.status != "active":
        active = repository.read_active(connection, first.key)
        row = active if row is None else row
    chains = journal.chains_of(draft_id, first.key)
    if row is not None and row.status != "active":
        return _after_the_end(connection, journal, row, chains, now)
    stored = None if row is None else Stored(row.content.text, row.journal_writer, row.journal_seq)
    found = replay(stored, journal, chains)
    if found.changed:
        row = _write(connection, journal, row, first, found, now)
    kept = sum(_keep_apart(connection, row, first, loss, now) for loss in found.losses)
    return int(found.changed), kept


def _write(
    connection: apsw.Connection, journal: Log, row: Draft | None, first: Chain, found: Replayed, now: int
) -> Draft:
    if row is None:
        return _new(connection, first, found.text, (journal.writer, found.seq), now)
    content = replace(row.content, text=found.text, caret=found.caret, anchor=found.caret)
    if not row.content.is_empty:
        history.keep_row(connection, row.id, now, always=True)  # later journals may start from this text
    after = replace(
        row,
        revision=row.revision + 1,
        content=content,
        journal_writer=journal.writer,
        journal_seq=found.seq,
        updated_at=now,
    )
    if not repository.cas_update(connection, after, row.revision):
        raise EnvironmentFault("record_damaged", "a row changed inside its own transaction")
    return after


def _new(connection: apsw.Connection, chain: Chain, text: str, covered: tuple[str, int], now: int) -> Draft:
    taken = repository.read_draft(connection, chain.draft_id) is not None
    end = len(text.encode("utf-16-le", "surrogatepass")) // 2
    draft = Draft(
        id=new_id("drf") if taken else chain.draft_id,
        key=chain.key,
        place=chain.place,
        revision=1,
        content=DraftContent(text, end, end),
        settings=DraftSettings(),
        status="active",
        generation=1,
        journal_writer=covered[0],
        journal_seq=covered[1],
        pending_submission_id="",
        created_at=now,
        updated_at=now,
    )
    repository.insert(connection, draft)
    return draft


def _after_the_end(
    connection: apsw.Connection, journal: Log, row: Draft, chains: list[Chain], now: int
) -> tuple[int, int]:
    """Edits of a draft that was converted or discarded meanwhile: its key gets a draft again, or a copy."""
    found = replay(Stored(row.content.text, row.journal_writer, row.journal_seq), journal, chains)
    texts = [rebuild(loss, _texts(connection, row)) for loss in found.losses]
    if found.changed:
        texts.append(found.text)
    made = kept = 0
    for text in texts:
        active = repository.read_active(connection, row.key)
        if not text.strip():
            continue
        if active is None:
            _new(connection, replace(chains[0], place=row.place), text, (journal.writer, found.seq), now)
            made += 1
        else:
            kept += _keep_text(connection, active, text, now)
    return made, kept


def _keep_apart(connection: apsw.Connection, row: Draft | None, first: Chain, loss: Loss, now: int) -> int:
    text = rebuild(loss, _texts(connection, row))
    if not text.strip():
        return 0
    if row is None:
        _new(connection, first, text, ("", 0), now)
        return 1
    return _keep_text(connection, row, text, now)


def _keep_text(connection: apsw.Connection, row: Draft, text: str, now: int) -> int:
    """Keep ``text`` as an earlier version unless it is there already."""
    if text in _texts(connection, row):
        return 0
    history.keep_recovered(connection, row.id, DraftContent(text), row.settings, now)
    return 1


def _texts(connection: apsw.Connection, row: Draft | None) -> Iterator[str]:
    """Every text that is stored for a draft, and the empty one that all began with."""
    yield ""
    if row is None:
        return
    current = repository.read_draft(connection, row.id)
    yield current.content.text if current is not None else row.content.text
    for version in history.read_earlier(connection, row.id):
        yield version.content.text
    for conflict in history.read_conflicts(connection, row.id):
        yield conflict.content.text
