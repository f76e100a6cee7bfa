"""One serial CAS loop per draft: 250 ms after the last edit, 1 s after the first unsaved one at the latest."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from drafts.fold import EMPTY_TEXT
from drafts.journal import EditJournal
from drafts.model import DraftContent, DraftSettings
from drafts.open_draft import OpenDraft
from drafts.saving import CONFLICT, INSERT, SAVE, Outgoing, SaveResult, Written, confirm, write
from runtime.base import failpoints
from runtime.base.clock import Clock
from runtime.base.errors import EnvironmentFault, Fault
from runtime.base.ids import new_id
from runtime.base.tasks import TaskSupervisor
from runtime.storage.database import Database

QUIET_SECONDS = 0.25
CEILING_SECONDS = 1.0
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Rounds:
    """The saves of one draft: never two at a time."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    task: asyncio.Task[None] | None = None
    first: float = 0.0
    last: float = 0.0
    waiting: bool = False  # an edit since the last round began
    copy_id: str = ""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the store does around a save."""

    announce: Callable[[OpenDraft], None]
    rekey: Callable[[str, OpenDraft], None]
    recover: Callable[[], Awaitable[object]]


class Autosave:
    """Saves drafts by themselves and on request. Errors back off and retry; the text stays in memory."""

    def __init__(
        self, database: Database, journal: EditJournal, clock: Clock, tasks: TaskSupervisor, hooks: Hooks
    ) -> None:
        self._database = database
        self._journal = journal
        self._clock = clock
        self._tasks = tasks
        self._hooks = hooks
        self._rounds: WeakKeyDictionary[OpenDraft, _Rounds] = WeakKeyDictionary()

    def nudge(self, draft: OpenDraft) -> None:
        """An edit was made: start the draft's loop, or let the running one see it."""
        if draft.loading:
            return
        rounds = self._of(draft)
        now = self._clock.monotonic()
        if not rounds.waiting:
            rounds.waiting, rounds.first = True, now
        rounds.last = now
        if rounds.task is None or rounds.task.done():
            rounds.task = self._tasks.spawn(f"autosave {draft.id}", self._loop(draft, rounds))

    async def save(self, draft: OpenDraft) -> SaveResult:
        """Commit the edit version of this call and wait for it; a cancelled caller does not stop the save.

        Raises :class:`Fault` with the code of what is in the way; the loop goes on trying.
        """
        return await asyncio.shield(self._tasks.spawn(f"save {draft.id}", self._save(draft, draft.edit_version)))

    def lock(self, draft: OpenDraft) -> asyncio.Lock:
        """Held by whoever else changes the draft's row."""
        return self._of(draft).lock

    async def close(self) -> None:
        """End the loops; what they have handed to the worker still commits."""
        running = [rounds.task for rounds in self._rounds.values() if rounds.task is not None]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        self._rounds.clear()

    def _of(self, draft: OpenDraft) -> _Rounds:
        return self._rounds.setdefault(draft, _Rounds())

    async def _save(self, draft: OpenDraft, version: int) -> SaveResult:
        async with self.lock(draft):
            caret_moved = draft.caret_moved and not draft.pending_submission_id  # a new revision would keep sent text
            if draft.saved_version >= version and draft.state == "saved" and not caret_moved:
                return SaveResult("saved", draft.revision, draft.saved_version)
            try:
                return await self._round(draft)
            except Fault:
                self.nudge(draft)
                raise

    async def _loop(self, draft: OpenDraft, rounds: _Rounds) -> None:
        pause = FIRST_PAUSE
        while draft.is_dirty:
            await self._quiet(rounds)
            try:
                async with rounds.lock:
                    outcome = (await self._round(draft)).outcome if draft.is_dirty else "saved"
            except Exception as error:  # whatever is wrong, the text is in memory and the next try may store it
                outcome = "failed"
                expected = isinstance(error, Fault)
                log.log(
                    logging.INFO if expected else logging.ERROR,
                    "draft not saved",
                    extra={"draft": draft.id, "code": draft.error_code, "error": type(error).__name__},
                    exc_info=None if expected else error,
                )
            if outcome in ("failed", "operation_locked"):
                await self._clock.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                pause = FIRST_PAUSE

    async def _quiet(self, rounds: _Rounds) -> None:
        """Wait for the end of a burst of edits, but not longer than the ceiling."""
        while rounds.waiting:
            wait = min(rounds.last + QUIET_SECONDS, rounds.first + CEILING_SECONDS) - self._clock.monotonic()
            if wait <= 0:
                return
            await self._clock.sleep(wait)

    async def _round(self, draft: OpenDraft) -> SaveResult:
        """One save of the current edit version. The caller holds the draft's lock."""
        rounds = self._of(draft)
        if draft.replayed:
            await self._recover(draft)
        rounds.waiting = False
        version, started = draft.edit_version, self._clock.monotonic()
        if _nothing_to_keep(draft):
            return self._skip(draft, version)
        rounds.copy_id = draft.conflict_id or rounds.copy_id or new_id("cfl")
        out = self._outgoing(draft, rounds.copy_id)
        draft.saving = True
        self._hooks.announce(draft)
        try:
            result = await self._commit(draft, out, version)
        except Fault as error:
            draft.error_code = error.code
            raise
        except OSError as error:
            draft.error_code = "io_error"
            raise EnvironmentFault("io_error", str(error), errno=error.errno) from error
        except Exception:
            draft.error_code = "internal_error"
            raise
        finally:
            draft.saving = False
            self._hooks.announce(draft)
        log.info(
            "draft written",
            extra={
                "draft": draft.id,
                "outcome": result.outcome,
                "revision": result.revision,
                "ms": round(1000 * (self._clock.monotonic() - started)),
            },
        )
        return result

    async def _commit(self, draft: OpenDraft, out: Outgoing, version: int) -> SaveResult:
        done: list[SaveResult] = []

        def committed(written: Written) -> None:
            if written.outcome == "conflict":
                failpoints.hit(CONFLICT.after)
            done.append(self._settle(draft, out, version, written))

        try:
            await self._database.run(SAVE if out.revision else INSERT, lambda c: write(c, out), committed)
        except (Fault, OSError):
            confirmed = await self._confirmed(out)
            if confirmed is None:
                raise
            committed(confirmed)
        return done[0]

    async def _confirmed(self, out: Outgoing) -> Written | None:
        """An error need not mean that nothing was stored: look."""
        try:
            return await self._database.read(lambda connection: confirm(connection, out))
        except (Fault, OSError):
            return None

    async def _recover(self, draft: OpenDraft) -> None:
        try:
            await self._hooks.recover()
        except Fault as error:
            draft.error_code = error.code
            self._hooks.announce(draft)
            raise

    def _settle(self, draft: OpenDraft, out: Outgoing, version: int, written: Written) -> SaveResult:
        """Memory after a commit; edits made meanwhile stay dirty and go into the next round."""
        if written.outcome == "operation_locked":
            draft.error_code = "operation_locked"
            return SaveResult("operation_locked", draft.revision, draft.saved_version)
        old, draft.id = draft.id, written.id
        self._hooks.rekey(old, draft)
        draft.saved_version = version
        draft.folded_as(out.source, len(out.edits), written.text)
        draft.base = written.base
        draft.keep_before = draft.caret_moved = draft.replayed = False
        if not (draft.unjournaled and draft.is_dirty):
            draft.error_code, draft.unjournaled = "", False
        self._journal.covered(old, out.seq)
        if written.outcome == "saved":
            draft.revision, draft.conflict_id = written.revision, ""
            self._of(draft).copy_id = ""
        else:
            draft.conflict_id = out.copy_id if written.copied else draft.conflict_id
            draft.status = written.row.status if written.row else "discarded"
        if old != draft.id or written.outcome != "saved":
            self._journal.moved(old, draft.id)  # the row is not the chain's own: the next edit states its base
            draft.rebase()
        return SaveResult(written.outcome, written.revision, version, draft.conflict_id, written.row)

    def _skip(self, draft: OpenDraft, version: int) -> SaveResult:
        """A draft that was never saved and is empty again needs no row."""
        draft.saved_version = version
        draft.error_code, draft.unjournaled, draft.base = "", False, EMPTY_TEXT
        self._journal.covered(draft.id, draft.seq)
        self._journal.end_chain(draft.id)
        self._hooks.announce(draft)
        return SaveResult("saved", 0, version)

    def _outgoing(self, draft: OpenDraft, copy_id: str) -> Outgoing:
        source, edits = draft.pending()
        return Outgoing(
            id=draft.id,
            key=draft.key,
            place=draft.place,
            revision=draft.revision,
            generation=draft.generation,
            source=source,
            edits=edits,
            content=DraftContent("", draft.caret, draft.anchor, draft.parts),
            settings=draft.settings,
            writer=self._journal.writer,
            seq=draft.seq,
            copy_id=copy_id,
            keep_before=draft.keep_before,
            now=self._clock.now_ms(),
        )


def _nothing_to_keep(draft: OpenDraft) -> bool:
    return (
        draft.revision == 0
        and draft.text_units == 0
        and not any(draft.parts.values())
        and draft.settings == DraftSettings()
    )
