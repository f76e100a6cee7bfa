"""The drafts in memory: which are open, what was typed into them, and who is told about their state."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable

from drafts.events import DraftEvent, DraftStateChanged
from drafts.fold import units
from drafts.journal import EditJournal
from drafts.model import DraftKey, DraftSettings, TextEdit
from drafts.open_draft import OpenDraft, type_edit
from runtime.base.errors import RejectedFault
from runtime.base.handover import JsonObject
from runtime.base.subscribers import Subscribers

KEPT_CLEAN = 20
DISCARDING = "discarding"
log = logging.getLogger(__name__)


class LiveDrafts:
    """Synchronous throughout: navigation and keys never wait. :class:`drafts.store.DraftStore` saves and loads."""

    def __init__(self, journal: EditJournal) -> None:
        self._journal = journal
        self._drafts: OrderedDict[str, OpenDraft] = OrderedDict()  # the most recently opened last
        self._aliases: dict[str, str] = {}  # ids that drafts had before their row was known
        self._announced: dict[str, DraftStateChanged] = {}
        self._subscribers: Subscribers[DraftEvent] = Subscribers(_report)

    def subscribe(self, callback: Callable[[DraftEvent], None]) -> Callable[[], None]:
        """Hear of every event of this store; the result unsubscribes."""
        return self._subscribers.subscribe(callback)

    def publish(self, event: DraftEvent) -> None:
        """Tell the subscribers; for the parts of drafts that share this store."""
        self._subscribers.publish(event)

    def find(self, key: DraftKey) -> OpenDraft | None:
        """The draft of ``key`` if it is in memory."""
        return next((draft for draft in reversed(self._drafts.values()) if draft.key == key), None)

    def by_id(self, draft_id: str) -> OpenDraft | None:
        """The draft if it is in memory, also by an id it had before its row was read."""
        return self._drafts.get(self._aliases.get(draft_id, draft_id))

    def lock(self, draft_id: str, reason: str) -> None:
        """Refuse edits from now on; ``reason`` is a word for the screen. A locked draft is never evicted."""
        self._get(draft_id).locked = reason

    def unlock(self, draft_id: str) -> None:
        """Give editing back. Harmless when the draft is gone or not locked."""
        draft = self.by_id(draft_id)
        if draft is not None:
            draft.locked = ""

    def edit(self, draft_id: str, edit: TextEdit, caret: int, anchor: int) -> int:
        """Journal record, memory, autosave; returns the edit version. All positions count UTF-16 units.

        Raises :class:`RejectedFault` ``draft_locked`` or ``draft_not_open``, ``MisfitError`` for a position
        outside the text (a bug). A failing disk raises nothing: the draft's state becomes ``error``.
        """
        draft = self._get(draft_id)
        version = type_edit(self._journal, draft, edit, caret, anchor)
        self._changed(draft)
        return version

    def move_caret(self, draft_id: str, caret: int, anchor: int) -> None:
        """Remember caret and selection; stored with the next save, at the latest before eviction and exit."""
        draft = self._get(draft_id)
        if (draft.caret, draft.anchor) != (caret, anchor):
            draft.caret, draft.anchor = caret, anchor
            draft.caret_moved = draft.revision > 0

    def set_settings(self, draft_id: str, settings: DraftSettings) -> int:
        """Replace the settings; returns the edit version. A new mirror of an inherited model is no edit."""
        draft = self._unlocked(draft_id)
        if settings == draft.settings:
            return draft.edit_version
        mirror_only = settings.model_source == draft.settings.model_source == "default" and settings == _with_model(
            draft.settings, settings.model
        )
        draft.settings = settings
        if not mirror_only:
            draft.touch()
            self._changed(draft)
        return draft.edit_version

    def set_parts(self, draft_id: str, parts: JsonObject) -> int:
        """Replace the structured content; returns the edit version.

        While a discard is under way the parts are held: they stay if it fails and go with the draft if not.
        """
        draft = self._get(draft_id)
        if draft.locked and draft.locked != DISCARDING:
            raise RejectedFault("draft_locked", reason=draft.locked)
        if parts != draft.parts:
            draft.parts = parts
            draft.touch()
            self._changed(draft)
        return draft.edit_version

    def replace_text(self, draft_id: str, text: str) -> int:
        """The whole text at once, through the journal; the replaced one becomes an earlier version."""
        draft = self._unlocked(draft_id)
        draft.keep_before = True
        end = units(text)
        return self.edit(draft_id, TextEdit(0, draft.text_units, text), end, end)

    def _changed(self, draft: OpenDraft) -> None:
        """The draft has something to save."""
        self._announce(draft)

    def _announce(self, draft: OpenDraft) -> None:
        event = DraftStateChanged(draft.id, draft.key, draft.state, draft.revision, draft.has_content, draft.error_code)
        if self._announced.get(draft.id) != event:
            self._announced[draft.id] = event
            self.publish(event)

    def _remember(self, draft: OpenDraft) -> None:
        self._drafts[draft.id] = draft
        self._drafts.move_to_end(draft.id)

    def _rekey(self, old: str, draft: OpenDraft) -> None:
        """The draft turned out to be the row ``draft.id``: calls with its old id still reach it."""
        if old == draft.id:
            return
        self._drafts.pop(old, None)
        self._announced.pop(old, None)
        self._aliases[old] = draft.id
        self._remember(draft)

    def _forget(self, draft: OpenDraft) -> None:
        self._drafts.pop(draft.id, None)
        self._announced.pop(draft.id, None)
        for old in [old for old, new in self._aliases.items() if new == draft.id]:
            del self._aliases[old]

    def _evict(self) -> list[OpenDraft]:
        """Let the oldest clean drafts go; returns those whose caret must be stored first."""
        late: list[OpenDraft] = []
        for draft in self._surplus():
            if draft.caret_moved:
                late.append(draft)
            else:
                self._forget(draft)
        return late

    def _surplus(self) -> list[OpenDraft]:
        """The clean drafts beyond the newest twenty, as things are now."""
        clean = [d for d in self._drafts.values() if d.state == "saved" and not d.locked and not d.loading]
        return clean[: max(0, len(clean) - KEPT_CLEAN)]

    def _get(self, draft_id: str) -> OpenDraft:
        draft = self.by_id(draft_id)
        if draft is None:
            raise RejectedFault("draft_not_open")
        return draft

    def _unlocked(self, draft_id: str) -> OpenDraft:
        draft = self._get(draft_id)
        if draft.locked:
            raise RejectedFault("draft_locked", reason=draft.locked)
        return draft


def _with_model(settings: DraftSettings, model: str) -> DraftSettings:
    return DraftSettings(
        model, settings.model_source, settings.instructions, settings.sampling, settings.effort, settings.extra
    )


def _report(error: BaseException) -> None:
    log.error("a listener of draft events failed", extra={"error": type(error).__name__}, exc_info=error)
