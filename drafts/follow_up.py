"""Sending from the composer of a formal session (spec/drafts.md section 9).

The editor stays free while a follow-up is on its way: what is typed meanwhile is kept. The text is cleared
only after the receipt and only if it is still what was sent.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import Literal

from drafts import waiting
from drafts.attempt import Failed, attempt
from drafts.capture import Capture, frozen, open_draft
from drafts.model import Surface
from drafts.preparation import check_attachments, expand
from drafts.saving import SaveResult
from drafts.waiting import Waiting
from drafts.watch import busy
from drafts.workbench import Workbench
from runtime.base import failpoints
from runtime.base.errors import EnvironmentFault, Fault, RejectedFault
from runtime.base.handover import JsonObject, Receipt, Submission
from runtime.base.ids import new_id

log = logging.getLogger(__name__)
UNKNOWN = "follow_up_unknown"
"""Lock reason while it is unknown whether a follow-up was admitted."""
BEFORE_ADMIT = failpoints.declare("follow_up.before_admit", "the text is there, and the receipt decides")
AFTER_ADMIT = failpoints.declare("follow_up.after_admit", "the text is cleared once, by the receipt")


@dataclass(frozen=True, slots=True)
class FollowUpResult:
    """What became of one follow-up; ``code`` says why.

    ``accepted``: a receipt is there (``cleared``: the text was still what was sent). ``refused``: proven not
    admitted, the text is kept. ``unknown``: locked until the receipt decides. ``not_sent``: no receipt was
    found, the text is free again.
    """

    outcome: Literal["accepted", "refused", "unknown", "not_sent"]
    code: str = ""
    cleared: bool = False


class FollowUp:
    """One follow-up at a time per draft; its submission id is stored before anything is handed over."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._sending: set[str] = set()

    def capture(self, draft_id: str) -> Capture:
        """Freeze the text as it stands; synchronous, and a second trigger is refused.

        An earlier send that was never decided is decided before this one is noted, and does not refuse it.

        Raises :class:`RejectedFault` ``draft_locked``, ``empty_draft``, ``text_unsendable``.
        """
        draft = open_draft(self._bench.store, draft_id)
        if draft.key.surface is not Surface.SESSION:
            raise ValueError(f"a {draft.key.surface} draft has no session to follow up")
        if draft.key.key in self._sending:
            raise RejectedFault("draft_locked", reason="sending")
        captured = frozen(draft)
        self._sending.add(draft.key.key)
        return captured

    async def send(self, draft_id: str) -> FollowUpResult:
        """Capture and submit. Raises :class:`Fault` if nothing was handed over; the text is as it was."""
        return await self.submit(self.capture(draft_id))

    async def submit(self, captured: Capture) -> FollowUpResult:
        """Store the pending id, admit once, clear if unchanged; in a task of its own.

        Raises :class:`Fault` only before the hand-over: the save lost or failed, ``attachment_unreadable``,
        ``workspace_unavailable``, the pending id could not be stored.
        """
        return await asyncio.shield(self._bench.tasks.spawn(f"follow-up {captured.draft_id}", self._submit(captured)))

    async def check_again(self, draft_id: str) -> FollowUpResult:
        """Let the receipt decide now. Raises :class:`Fault` if it cannot be looked for; a lock then stays."""
        found = await self._waiting(draft_id)
        if found is not None:
            return await self._decide(found)
        self._bench.free(draft_id)
        return FollowUpResult("not_sent")

    async def reconcile(self) -> int:
        """At startup, after the journals are folded: found, clear if unchanged; not found, unlock with the text.

        Returns how many were decided. What cannot be decided (a live sender, an unreadable receipt) stays locked.
        """
        decided = 0
        for found in await self._bench.database.read(waiting.every):
            try:
                await self._decide(found)
                decided += 1
            except Fault as fault:
                self._lock(found.draft_id)
                log.info("a follow-up cannot be decided", extra={"draft": found.draft_id, "code": fault.code})
        return decided

    async def _submit(self, captured: Capture) -> FollowUpResult:
        try:
            saved = await self._saved(captured)
            payload = await self._payload(captured)
            draft_id = self._draft_id(captured)
            submission = Submission(new_id("sub"), captured.key.key, captured.fingerprint, payload)
            lease = self._bench.leases.try_acquire("request", draft_id, submission.submission_id)
            if lease is None:
                raise busy()
            try:
                await self._note(draft_id, submission.submission_id, saved)
                return await self._admit(draft_id, submission)
            finally:
                lease.release()
        finally:
            self._sending.discard(captured.key.key)

    async def _saved(self, captured: Capture) -> SaveResult:
        """The revision that was sent. If typing went on, the row holds more than that: revision 0, never cleared."""
        saved = await self._bench.store.save(captured.draft_id)
        if saved.outcome != "saved":
            raise RejectedFault(saved.outcome)
        if saved.edit_version == captured.edit_version:
            return saved
        return replace(saved, revision=0, edit_version=captured.edit_version)

    async def _payload(self, captured: Capture) -> JsonObject:
        check_attachments(captured.content)
        await self._bench.gateway.check_place(captured.place)
        return await expand(self._bench.gateway, captured.content, captured.place)

    def _draft_id(self, captured: Capture) -> str:
        """Its row may have turned out to be another one than the draft was made with."""
        draft = self._bench.store.by_id(captured.draft_id)
        return captured.draft_id if draft is None else draft.id

    async def _note(self, draft_id: str, submission_id: str, saved: SaveResult) -> None:
        """Store the pending id, or nothing is dispatched.

        Raises :class:`RejectedFault` ``conflict`` if an earlier send turns out to have delivered this very text.
        """
        try:
            if await self._bench.store.set_pending(draft_id, submission_id, saved):
                return
            found = await self._waiting(draft_id)  # an earlier send that was never decided
            if found is not None and (await self._decide(found)).cleared:
                raise RejectedFault("conflict", "an earlier submission has sent this text")
            if await self._bench.store.set_pending(draft_id, submission_id, saved):
                return
        except (EnvironmentFault, OSError) as error:
            await self._forget(draft_id, submission_id)  # the answer may be all that was lost
            if isinstance(error, OSError):
                raise EnvironmentFault("io_error", type(error).__name__) from error
            raise
        raise RejectedFault("draft_locked", reason="sending")

    async def _forget(self, draft_id: str, submission_id: str) -> None:
        try:
            await self._bench.store.clear_pending(draft_id, submission_id)
        except EnvironmentFault as fault:
            log.info("a pending id may be left behind", extra={"draft": draft_id, "code": fault.code})

    async def _admit(self, draft_id: str, submission: Submission) -> FollowUpResult:
        failpoints.hit(BEFORE_ADMIT)
        answer = await attempt("admit", self._bench.gateway.admit(submission), "outcome_unknown")
        if isinstance(answer, Failed):
            if not answer.refused:
                return self._unknown(draft_id, answer.code)
            await self._forget(draft_id, submission.submission_id)
            return FollowUpResult("refused", answer.code)
        failpoints.hit(AFTER_ADMIT)
        found = self._bench.gateway.find_receipt(submission.submission_id)
        receipt = await attempt("find_receipt", found, "outcome_unknown")
        if isinstance(receipt, Failed):
            return self._unknown(draft_id, receipt.code)
        if receipt is None or not _proves(receipt, submission.session_id, submission.fingerprint):
            return self._unknown(draft_id, "outcome_unknown")
        return await self._clear(draft_id, submission.submission_id)

    async def _clear(self, draft_id: str, submission_id: str) -> FollowUpResult:
        """The receipt is there. If the disk is in the way the draft stays locked, so that nothing goes twice."""
        try:
            cleared = await self._bench.store.clear_after_receipt(draft_id, submission_id)
        except EnvironmentFault as fault:
            self._lock(draft_id)
            return FollowUpResult("accepted", fault.code)
        return FollowUpResult("accepted", cleared=cleared)

    async def _decide(self, found: Waiting) -> FollowUpResult:
        """The receipt decides. Raises :class:`Fault` if it cannot be looked for or its sender is alive."""
        lease = self._bench.leases.try_acquire("request", found.draft_id, found.submission_id)
        if lease is None:
            raise busy()
        try:
            receipt = await self._bench.gateway.find_receipt(found.submission_id)
            if receipt is None:
                await self._bench.store.clear_pending(found.draft_id, found.submission_id)
                self._bench.free(found.draft_id)
                return FollowUpResult("not_sent")
            if receipt.session_id != found.session_id:
                raise EnvironmentFault("receipt_mismatch")
            result = await self._clear(found.draft_id, found.submission_id)
            if not result.code:
                self._bench.free(found.draft_id)
            return result
        finally:
            lease.release()

    async def _waiting(self, draft_id: str) -> Waiting | None:
        return await self._bench.database.read(lambda c: waiting.read(c, draft_id))

    def _unknown(self, draft_id: str, code: str) -> FollowUpResult:
        self._lock(draft_id)
        return FollowUpResult("unknown", code)

    def _lock(self, draft_id: str) -> None:
        if self._bench.store.by_id(draft_id) is not None:
            self._bench.store.lock(draft_id, UNKNOWN)


def _proves(receipt: Receipt, session_id: str, fingerprint: str) -> bool:
    return (receipt.session_id, receipt.fingerprint) == (session_id, fingerprint)
