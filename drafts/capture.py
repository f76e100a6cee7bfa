"""Step 1 of first execution: freeze what is sent, before any await (spec/drafts.md section 6)."""

from __future__ import annotations

from dataclasses import dataclass

from drafts.model import DraftContent, DraftKey, DraftSettings
from drafts.open_draft import OpenDraft
from drafts.snapshot import Snapshot, fingerprint, freeze, source_digest
from drafts.store import DraftStore
from runtime.base.errors import RejectedFault
from runtime.base.handover import Place
from runtime.base.ids import new_id

SENDING = "sending"
"""Lock reason between the capture and the first durable phase."""


@dataclass(frozen=True, slots=True)
class Capture:
    """One trigger of *send*. ``snapshot`` still has the model as chosen; ``intent`` is the navigation intent."""

    draft_id: str
    key: DraftKey
    place: Place
    generation: int
    edit_version: int
    intent: int
    snapshot: Snapshot
    fingerprint: str
    source_digest: str

    @property
    def request_id(self) -> str:
        return self.snapshot.request_id

    @property
    def content(self) -> DraftContent:
        return self.snapshot.content

    @property
    def settings(self) -> DraftSettings:
        return self.snapshot.settings


def capture(store: DraftStore, draft_id: str, intent: int) -> Capture:
    """Lock the editor and freeze the draft under a new request id.

    Raises :class:`RejectedFault`: ``draft_locked`` (a second trigger, or an operation holds it),
    ``empty_draft``, ``text_unsendable``; the lock is then as it was.
    """
    draft = open_draft(store, draft_id)
    made = frozen(draft, intent)
    store.lock(draft_id, SENDING)
    return made


def open_draft(store: DraftStore, draft_id: str) -> OpenDraft:
    """The draft if it may be sent now. Raises as :func:`capture` does."""
    draft = store.by_id(draft_id)
    if draft is None or draft.loading:
        raise RejectedFault("draft_locked", reason="loading")
    if draft.locked:
        raise RejectedFault("draft_locked", reason=draft.locked)
    if not draft.has_content:
        raise RejectedFault("empty_draft")
    return draft


def frozen(draft: OpenDraft, intent: int = 0) -> Capture:
    """The draft as it stands, under a new request id. Raises :class:`RejectedFault` ``text_unsendable``."""
    content = DraftContent(draft.text, draft.caret, draft.anchor, draft.parts)
    snapshot = freeze(new_id("req"), draft.place, content, draft.settings)
    return Capture(
        draft_id=draft.id,
        key=draft.key,
        place=draft.place,
        generation=draft.generation,
        edit_version=draft.edit_version,
        intent=intent,
        snapshot=snapshot,
        fingerprint=fingerprint(snapshot),
        source_digest=source_digest(content, draft.settings),
    )
