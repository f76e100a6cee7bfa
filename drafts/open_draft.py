"""A draft in memory: what the editor shows, ahead of what is confirmed. One thread, no I/O but the journal.

Light on purpose: the first paint makes one before the store exists (:func:`type_edit` serves both).
"""

from __future__ import annotations

from drafts.fold import EMPTY_TEXT, BaseText, MisfitError, base_text, fold, shifted, units
from drafts.journal import EditJournal
from drafts.model import Draft, DraftContent, DraftKey, DraftSettings, DraftStatus, SaveState, TextEdit
from runtime.base.errors import RejectedFault
from runtime.base.handover import JsonObject, Place
from runtime.base.ids import new_id

LARGE_UNITS = 100_000
"""Beyond this many UTF-16 units a draft is folded in the database worker only."""
_NO_PARTS: JsonObject = {}
_CHECKED_UNITS = 2_000


class OpenDraft:
    """Mutable, owned by the store. ``revision`` 0 means: no row yet. Positions count UTF-16 units."""

    def __init__(self, draft_id: str, key: DraftKey, place: Place) -> None:
        self.id = draft_id
        self.key = key
        self.place = place
        self.revision = 0
        self.generation = 1
        self.status: DraftStatus = "active"
        self.settings = DraftSettings()
        self.parts = _NO_PARTS
        self.pending_submission_id = ""
        self.pending_version = -1
        self.caret = 0
        self.anchor = 0
        self.edit_version = 0
        self.saved_version = 0
        self.locked = ""
        self.loading = False
        self.replayed = False  # shows records of dead writers that no row holds yet
        self.saving = False
        self.conflict_id = ""
        self.error_code = ""
        self.caret_moved = False
        self.keep_before = False  # the next save keeps the row's text as an earlier version
        self.base = EMPTY_TEXT  # the text that the next chain in the journal starts from
        self.seq = 0  # the last record of this draft in our journal
        self.unjournaled = False
        self._folded = ""
        self._edits: list[TextEdit] = []
        self._units = 0
        self._has_text = False

    @staticmethod
    def unsaved(key: DraftKey, place: Place) -> OpenDraft:
        """A new, empty draft: no row until its first save."""
        return OpenDraft(new_id("drf"), key, place)

    @staticmethod
    def of(row: Draft, base: BaseText | None = None) -> OpenDraft:
        """A clean draft as the row has it; ``base`` spares the digest of a large text."""
        draft = OpenDraft(row.id, row.key, row.place)
        draft.show(row, base)
        return draft

    @property
    def state(self) -> SaveState:
        """In the precedence of spec/drafts.md section 4."""
        if self.conflict_id:
            return "conflict"
        if self.error_code:
            return "error"
        if self.saving:
            return "saving"
        return "dirty" if self.is_dirty else "saved"

    @property
    def is_dirty(self) -> bool:
        return self.edit_version != self.saved_version or self.replayed

    @property
    def text(self) -> str:
        """The text with every edit; folds what is pending (not for every key of a large draft)."""
        if self._edits:
            self._folded, self._edits = fold(self._folded, self._edits), []
        return self._folded

    @property
    def text_units(self) -> int:
        """Length in UTF-16 units, without folding."""
        return self._units

    @property
    def has_content(self) -> bool:
        """Whether anything would be lost; a large draft counts without being folded."""
        return self._has_text or any(self.parts.values())

    def content(self) -> DraftContent:
        return DraftContent(self.text, self.caret, self.anchor, self.parts)

    def show(self, row: Draft, base: BaseText | None = None) -> None:
        """Become what ``row`` holds; edits that are pending here are dropped."""
        self.id, self.revision, self.generation, self.status = row.id, row.revision, row.generation, row.status
        self.settings, self.parts = row.settings, row.content.parts
        self.pending_submission_id = row.pending_submission_id
        self._set_text(row.content.text)
        self.base = base or base_text(row.content.text)
        self.caret, self.anchor = min(row.content.caret, self._units), min(row.content.anchor, self._units)
        self.saved_version = self.edit_version
        self.conflict_id = self.error_code = ""
        self.caret_moved = self.unjournaled = False

    def replay(self, text: str, caret: int) -> None:
        """Show ``text``, which the journals of dead writers give on top of the row."""
        self._set_text(text)
        self.base = base_text(text)
        self.caret = self.anchor = min(caret, self._units)
        self.replayed = True

    def check(self, edit: TextEdit) -> None:
        """Raises ``MisfitError`` (a bug of the caller) for an edit outside the text, ``draft_locked`` if locked."""
        if self.locked:
            raise RejectedFault("draft_locked", reason=self.locked)
        if edit.position < 0 or edit.removed < 0 or edit.position + edit.removed > self._units:
            raise MisfitError(f"{edit.position}+{edit.removed} of {self._units} units")

    def apply(self, edit: TextEdit) -> None:
        """Take an edit that was checked."""
        self._edits.append(edit)
        self._units += units(edit.inserted) - edit.removed
        self.edit_version += 1
        if edit.inserted.strip():
            self._has_text = True
        elif edit.removed and self._units <= _CHECKED_UNITS:
            self._has_text = bool(self.text.strip())

    def rebase(self) -> None:
        """The next chain in the journal starts from the text as it is now."""
        self.base = base_text(self.text)

    def touch(self) -> int:
        """Something but the text has changed; returns the new edit version."""
        self.edit_version += 1
        return self.edit_version

    def place_behind(self, row: Draft, base: BaseText) -> None:
        """The stored text has been read: what was typed meanwhile goes behind it."""
        typed, caret, anchor = list(self._edits), self.caret, self.anchor
        own = fold("", typed) if not self._folded else self.text
        dirty = self.is_dirty
        settings, parts = self.settings, self.parts
        self.show(row, base)
        if not dirty:
            return
        self.saved_version = self.edit_version - 1
        if own:
            self._edits = shifted([TextEdit(0, 0, own)], base.units)
            self._units += units(own)
            self._has_text = self._has_text or bool(own.strip())
            self.caret, self.anchor = caret + base.units, anchor + base.units
        if settings != DraftSettings():
            self.settings = settings
        self.parts = {**self.parts, **parts}

    def pending(self) -> tuple[str, tuple[TextEdit, ...]]:
        """The folded text and the edits behind it: what a save hands to the worker."""
        return self._folded, tuple(self._edits)

    def folded_as(self, source: str, count: int, text: str) -> None:
        """The worker has folded ``count`` edits onto ``source``: take ``text`` unless we folded ourselves."""
        if self._folded is source and len(self._edits) >= count:
            self._folded = text
            del self._edits[:count]

    def _set_text(self, text: str) -> None:
        self._folded, self._edits = text, []
        self._units = units(text)
        self._has_text = bool(text.strip())


def type_edit(journal: EditJournal, draft: OpenDraft, edit: TextEdit, caret: int, anchor: int) -> int:
    """Journal record first, then memory; returns the edit version (spec/drafts.md section 4).

    A record that cannot be written is no reason to refuse a key: the draft's state becomes ``error`` until a
    save has worked. Raises :class:`RejectedFault` ``draft_locked``.
    """
    draft.check(edit)
    if not draft.unjournaled:
        try:
            if not journal.has_chain(draft.id):
                base = None if draft.loading else draft.base
                journal.begin(draft.id, draft.key, draft.place, draft.revision, base)
            draft.seq = journal.append(draft.id, edit, draft.revision)
        except OSError as error:
            journal.end_chain(draft.id)  # what follows a gap must not be read as a continuation
            draft.unjournaled = True
            draft.error_code = "disk_full" if error.errno == 28 else "journal_failed"
    draft.apply(edit)
    draft.caret, draft.anchor, draft.caret_moved = caret, anchor, False
    return draft.edit_version
