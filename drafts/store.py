"""The drafts store: one place for all unsent work (spec/drafts.md sections 3 and 4)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass, replace

import apsw

from drafts import pending, repository
from drafts.autosave import Autosave, Hooks
from drafts.events import DraftCleared
from drafts.fold import EMPTY_TEXT, BaseText, base_text
from drafts.journal import EditJournal
from drafts.journal_recovery import JournalRecovery, RecoveredJournals
from drafts.live import DISCARDING, LiveDrafts
from drafts.model import Draft, DraftKey, DraftSummary
from drafts.open_draft import OpenDraft
from drafts.queries import DraftQueries
from drafts.saving import Outcome, SaveResult
from runtime.base.clock import Clock
from runtime.base.errors import Fault, RejectedFault
from runtime.base.handover import Place
from runtime.base.tasks import TaskSupervisor
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Unsaved:
    """A draft that the exit barrier could not store, and why (a fault's code, or ``conflict``)."""

    draft_id: str
    key: DraftKey
    code: str


class DraftStore(LiveDrafts, DraftQueries):
    """Everything that a draft can go through except being sent. Runs on the loop's thread."""

    def __init__(
        self, database: Database, journal: EditJournal, leases: LeaseBook, clock: Clock, tasks: TaskSupervisor
    ) -> None:
        LiveDrafts.__init__(self, journal)
        DraftQueries.__init__(self, database, clock)
        self._tasks = tasks
        self._autosave = Autosave(
            database, journal, clock, tasks, Hooks(self._announce, self._rekey, self.recover_journals)
        )
        self._journals = JournalRecovery(journal.path.parent, journal.writer, database, leases, clock)
        self._loads: dict[OpenDraft, asyncio.Task[None]] = {}
        self._recovery: asyncio.Task[RecoveredJournals] | None = None
        self._recovering = asyncio.Lock()

    def begin_open(self, key: DraftKey, place: Place) -> OpenDraft:
        """The draft of ``key`` at once. If it must be read first it is ``loading``: keys typed now are kept and
        go behind the stored text. No row is made before the first save."""
        draft = self.find(key)
        if draft is None:
            draft = OpenDraft.unsaved(key, place)
            draft.loading = True
        self._remember(draft)
        if draft.loading and draft not in self._loads:
            self._loads[draft] = self._tasks.spawn(f"open {draft.id}", self._load(draft))
        for late in self._evict():
            self._tasks.spawn(f"caret {late.id}", self._store_caret(late))
        return draft

    async def open(self, key: DraftKey, place: Place) -> OpenDraft:
        """:meth:`begin_open`, then wait until the stored text and the journals of dead writers are in.

        Raises :class:`EnvironmentFault` if it cannot be read; the draft stays ``loading`` and keeps what is typed.
        """
        draft = self.begin_open(key, place)
        load = self._loads.get(draft)
        if load is not None:
            await asyncio.shield(load)
        return draft

    def adopt(self, draft: OpenDraft) -> None:
        """Take a draft that the first paint has read itself, with what was typed into it meanwhile."""
        if self.by_id(draft.id) is not None or self.find(draft.key) is not None:
            raise ValueError(f"draft {draft.id} is open already")
        self._remember(draft)
        if draft.loading:
            self._loads[draft] = self._tasks.spawn(f"open {draft.id}", self._load(draft))
        elif draft.replayed:
            self._tasks.spawn("recover journals", self.recover_journals())
        if draft.is_dirty:
            self._changed(draft)

    async def save(self, draft_id: str) -> SaveResult:
        """Commit the edit version of this call and wait for it.

        Raises :class:`RejectedFault` ``draft_not_open``, or the :class:`EnvironmentFault` that is in the way
        (``database_locked``, ``disk_full`` …); the text is then kept and tried again.
        """
        return await self._autosave.save(await self._loaded(draft_id))

    async def flush(self) -> list[Unsaved]:
        """Exit barrier: save everything dirty, carets too; what could not be saved is returned."""
        unsaved: list[Unsaved] = []
        for draft in list(self._drafts.values()):
            if draft.state == "saved" and not draft.caret_moved:
                continue
            try:
                outcome = (await self.save(draft.id)).outcome
            except Fault as fault:
                outcome = fault.code
            if outcome != "saved" and draft.has_content:
                unsaved.append(Unsaved(draft.id, draft.key, outcome))
        return unsaved

    async def reload(self, draft_id: str) -> OpenDraft:
        """Show what the row holds now ("use theirs", or after a conversion): unsaved edits are stored first, a
        losing one as its copy. If the draft has ended, the result is the next draft of its key."""
        draft = await self._loaded(draft_id)
        if draft.is_dirty and draft.status == "active":
            await self.save(draft.id)
        async with self._autosave.lock(draft):
            found = await self._database.read(lambda connection: _row_of(connection, draft))
            if found is None or found[0].status != "active":
                self._drop(draft)
            else:
                self._show(draft, *found)
                return draft
        return await self.open(draft.key, draft.place)

    async def keep_mine(self, draft_id: str) -> SaveResult:
        """Settle a conflict for the text in memory: a CAS against the row as it is right now, whose text becomes
        an earlier version. If the row has ended, the text becomes a new draft of the same key."""
        draft = await self._loaded(draft_id)
        if draft.is_dirty:
            await self._autosave.save(draft)
        async with self._autosave.lock(draft):
            row = await self._database.read(lambda connection: repository.read_draft(connection, draft.id))
            row = row or await self._database.read(lambda connection: repository.read_active(connection, draft.key))
            copy, old = draft.conflict_id, draft.id
            if row is not None and row.status == "active":
                draft.id, draft.revision = row.id, row.revision
            else:
                draft.id, draft.revision = OpenDraft.unsaved(draft.key, draft.place).id, 0
            draft.status = "active"
            self._rekey(old, draft)
            if old != draft.id:
                self._journal.moved(old, draft.id)
                draft.rebase()
            draft.keep_before = True
            draft.touch()
        result = await self._autosave.save(draft)
        if result.outcome == "saved" and copy:
            await self.drop_conflict(copy)
        return result

    async def discard(self, draft_id: str, revision: int) -> SaveResult:
        """Give a draft up if ``revision`` is still its newest; ``conflict`` if not, ``operation_locked`` while an
        operation holds it. Editing is refused meanwhile; text that is not stored yet is stored first."""
        draft = await self._loaded(draft_id)
        if draft.locked:
            return SaveResult("operation_locked", draft.revision, draft.saved_version)
        draft.locked = DISCARDING
        try:
            if draft.is_dirty:
                await self._autosave.save(draft)
            async with self._autosave.lock(draft):
                position = (self._journal.writer, draft.seq)
                now = self._clock.now_ms()
                outcome: Outcome = await self._database.run(
                    pending.DISCARD, lambda c: pending.discard(c, draft.id, revision, position, now)
                )
                if outcome == "discarded":
                    self._drop(draft)
        finally:
            draft.locked = ""
        if outcome == "discarded":
            self.publish(DraftCleared(draft.id, draft.key))
        return SaveResult(outcome, draft.revision, draft.saved_version)

    async def set_pending(self, draft_id: str, submission_id: str, saved: SaveResult) -> bool:
        """Note durably that the text of ``saved`` is being sent; False if another submission is pending.

        Raises :class:`EnvironmentFault`: nothing may then be dispatched (spec/drafts.md section 9).
        """
        draft = self._get(draft_id)
        async with self._autosave.lock(draft):
            noted = await self._database.run(
                pending.PENDING, lambda c: pending.note(c, draft.id, submission_id, saved.revision)
            )
            if noted:
                draft.pending_submission_id, draft.pending_version = submission_id, saved.edit_version
        return noted

    async def clear_after_receipt(self, draft_id: str, submission_id: str) -> bool:
        """The submission was admitted: clear the text if it is unchanged since, keep it if not; the pending id
        goes in both cases. Works on a stored draft that is not open, too. True: the text was cleared."""
        draft = self.by_id(draft_id)
        if draft is None:
            now = self._clock.now_ms()
            return await self._database.run(
                pending.CLEAR, lambda c: pending.clear(c, draft_id, submission_id, None, now)
            )
        async with self._autosave.lock(draft):
            return await self._clear(draft, submission_id)

    async def clear_pending(self, draft_id: str, submission_id: str) -> None:
        """The submission was proven not to be admitted: unlock it with its text."""
        await self._database.run(pending.PENDING, lambda c: pending.forget(c, draft_id, submission_id))
        draft = self.by_id(draft_id)
        if draft is not None and draft.pending_submission_id == submission_id:
            draft.pending_submission_id = ""

    async def recover_journals(self) -> RecoveredJournals:
        """Fold the journals of dead writers into their drafts and remove them; a second run changes nothing.

        Raises :class:`EnvironmentFault` if the database is in the way; the journals are then as before.
        """
        async with self._recovering:
            recovered = await self._journals.run()
        for draft in [draft for draft in self._drafts.values() if draft.replayed]:
            found = await self._database.read(lambda connection, d=draft: _row_of(connection, d))
            if found is not None and found[1] == draft.base and found[0].status == "active":
                draft.revision, draft.replayed = found[0].revision, False  # the row now holds what was shown
            else:
                draft.replayed = False  # it has become something else: the next save makes a conflict copy
                draft.touch()
            self._changed(draft)
        return recovered

    async def close(self) -> None:
        """End autosave and let go of the journal, which stays if it holds what no commit does."""
        await self._autosave.close()
        self._journal.close()

    def _changed(self, draft: OpenDraft) -> None:
        super()._changed(draft)
        if draft.is_dirty:
            self._autosave.nudge(draft)

    def _seen(self, summary: DraftSummary) -> DraftSummary:
        draft = self.by_id(summary.id)
        if draft is None or (draft.state == "saved" and summary.save_state == "conflict"):
            return summary
        return replace(summary, save_state=draft.state, has_content=draft.has_content)

    def _drop(self, draft: OpenDraft) -> None:
        """The draft has ended: nothing of it is to be saved or replayed any more."""
        draft.saved_version = draft.edit_version
        self._journal.covered(draft.id, draft.seq)
        self._journal.end_chain(draft.id)
        self._forget(draft)

    def _show(self, draft: OpenDraft, row: Draft, base: BaseText) -> None:
        self._journal.covered(draft.id, draft.seq)
        self._journal.end_chain(draft.id)
        old = draft.id
        draft.show(row, base)
        self._rekey(old, draft)
        self._announce(draft)

    async def _load(self, draft: OpenDraft) -> None:
        started = self._clock.monotonic()
        try:
            await self._recovered()
            found, holder = await self._database.read(lambda connection: _row_and_holder(connection, draft.key))
        except Fault as fault:
            draft.error_code = fault.code
            self._announce(draft)
            raise
        finally:
            self._loads.pop(draft, None)
        old, draft.loading, draft.error_code = draft.id, False, ""
        if found is not None:
            draft.place_behind(*found)
            self._rekey(old, draft)
        draft.locked = draft.locked or holder
        if self._journal.has_chain(old):
            try:
                self._journal.settle(old, draft.id, draft.revision, found[1] if found else EMPTY_TEXT)
            except OSError:  # replay will put these records behind whatever is stored then
                self._journal.moved(old, draft.id)
                draft.rebase()
        log.info(
            "draft opened",
            extra={
                "draft": draft.id,
                "revision": draft.revision,
                "ms": round(1000 * (self._clock.monotonic() - started)),
            },
        )
        self._changed(draft)

    async def _loaded(self, draft_id: str) -> OpenDraft:
        """The draft with its stored text; a read that failed is tried again."""
        draft = self._get(draft_id)
        return await self.open(draft.key, draft.place) if draft.loading else draft

    async def _recovered(self) -> None:
        """Journals of dead writers are in their rows before anything is read from those."""
        if self._recovery is None or (self._recovery.done() and _failed(self._recovery)):
            self._recovery = self._tasks.spawn("recover", self.recover_journals())
        await asyncio.shield(self._recovery)

    async def _clear(self, draft: OpenDraft, submission_id: str) -> bool:
        version = draft.edit_version
        unchanged = not draft.is_dirty and draft.pending_version in (-1, version)
        if unchanged:
            self._journal.end_chain(draft.id)  # a key typed meanwhile states the text that it saw
        position = (self._journal.writer, draft.seq) if unchanged else None
        now = self._clock.now_ms()
        cleared = unchanged and await self._database.run(
            pending.CLEAR, lambda c: pending.clear(c, draft.id, submission_id, position, now)
        )
        if not unchanged:
            await self._database.run(pending.PENDING, lambda c: pending.forget(c, draft.id, submission_id))
        draft.pending_submission_id, draft.pending_version = "", -1
        if not cleared:
            return False
        found = await self._database.read(lambda connection: _row_of(connection, draft))
        if found is None:
            raise RejectedFault("draft_not_open")
        if draft.edit_version == version:
            self._show(draft, *found)
            self.publish(DraftCleared(draft.id, draft.key))
        else:
            draft.revision = found[0].revision  # typing meanwhile is kept
            self._changed(draft)
        return draft.edit_version == version

    async def _store_caret(self, draft: OpenDraft) -> None:
        with contextlib.suppress(Fault):
            await self._autosave.save(draft)
        if draft in self._surplus():  # it may have been opened again meanwhile
            self._forget(draft)


def _row_of(connection: apsw.Connection, draft: OpenDraft) -> tuple[Draft, BaseText] | None:
    row = repository.read_draft(connection, draft.id)
    return _row_by_key(connection, draft.key) if row is None else (row, base_text(row.content.text))


def _row_by_key(connection: apsw.Connection, key: DraftKey) -> tuple[Draft, BaseText] | None:
    row = repository.read_active(connection, key)
    return None if row is None else (row, base_text(row.content.text))


def _row_and_holder(connection: apsw.Connection, key: DraftKey) -> tuple[tuple[Draft, BaseText] | None, str]:
    """The row of ``key``, and the phase of the operation that holds it (empty: nothing does)."""
    found = _row_by_key(connection, key)
    return found, "" if found is None else repository.live_phase(connection, found[0].id) or ""


def _failed(task: asyncio.Task[RecoveredJournals]) -> bool:
    return task.cancelled() or task.exception() is not None
