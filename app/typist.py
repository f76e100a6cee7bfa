"""Between one composer and the draft it shows: every edit goes to the journal before it is painted.

Light: works from the first paint on, before the drafts store exists (:class:`EditSink`).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from PySide6.QtCore import QObject, Signal, Slot

from app.composer.document import ComposerDocument
from app.composer.panel import ComposerPanel
from drafts.fold import units
from drafts.journal import EditJournal
from drafts.model import DraftKey, TextEdit
from drafts.open_draft import OpenDraft, type_edit
from runtime.base.errors import RejectedFault

_KEPT = 20


class EditSink(Protocol):
    """Takes edits synchronously: the store, or before it is open the journal alone."""

    def edit(self, draft_id: str, edit: TextEdit, caret: int, anchor: int) -> int: ...

    def move_caret(self, draft_id: str, caret: int, anchor: int) -> None: ...


class BootSink:
    """The one draft of the first paint, until the store adopts it."""

    def __init__(self, journal: EditJournal, draft: OpenDraft) -> None:
        self._journal = journal
        self._draft = draft

    def edit(self, draft_id: str, edit: TextEdit, caret: int, anchor: int) -> int:
        del draft_id  # there is only one
        return type_edit(self._journal, self._draft, edit, caret, anchor)

    def move_caret(self, draft_id: str, caret: int, anchor: int) -> None:
        del draft_id
        self._draft.caret, self._draft.anchor = caret, anchor


class Typist(QObject):
    """Shows drafts in a composer, each with its own document and undo stack (cases D01, D19)."""

    typed = Signal()
    """An edit was taken."""

    def __init__(self, panel: ComposerPanel, sink: EditSink | None, parent: QObject) -> None:
        super().__init__(parent)
        self.panel = panel
        self.sink = sink
        self.draft: OpenDraft | None = None
        self._documents: OrderedDict[tuple[DraftKey, int], ComposerDocument] = OrderedDict()
        self._showing = False
        self._loading = False  # what is shown was typed before the stored text was read
        panel.editor.edited.connect(self._edited)
        panel.editor.caret_moved.connect(self._caret_moved)

    def show(self, draft: OpenDraft) -> None:
        """Show ``draft`` with the document it had, or a new one. Harmless when it is shown already: what is typed
        and where the caret is stays."""
        if draft is not self.draft:  # its own caret is known, and may have moved with a text that was just read
            self._keep_caret()
        self.draft, self._loading = draft, draft.loading
        key = (draft.key, draft.generation)
        document = self._documents.get(key)
        if document is None:
            document = self._documents[key] = ComposerDocument(parent=self)
            self._load(document, draft)
            changed = True
        else:
            changed = document.length != draft.text_units or document.text() != draft.text
            if changed:
                self._load(document, draft)
        self._documents.move_to_end(key)
        self._present(document, changed=changed)
        self._evict(document)

    def settle(self) -> None:
        """The stored text may have been read: from now on edits must count from what the draft really holds."""
        if self._loading and self.draft is not None and not self.draft.loading:
            self.show(self.draft)

    def refresh(self) -> None:
        """The store has changed the text (cleared, reloaded): show what is there now."""
        if self.draft is not None:
            self.show(self.draft)

    def _present(self, document: ComposerDocument, *, changed: bool) -> None:
        self._showing = True
        try:
            if self.panel.editor.shown is not document:
                self.panel.show_document(document)
            elif changed:
                self.panel.show_document(document)
                self.panel.editor.refresh()
        finally:
            self._showing = False

    def _load(self, document: ComposerDocument, draft: OpenDraft) -> None:
        repair = document.load(draft.text, draft.caret, draft.anchor)
        if repair is not None and self.sink is not None and not draft.locked:
            self.sink.edit(draft.id, repair, draft.caret, draft.anchor)

    def _evict(self, shown: ComposerDocument) -> None:
        while len(self._documents) > _KEPT:
            key, document = self._documents.popitem(last=False)
            if document is shown:
                self._documents[key] = document
                return
            document.deleteLater()

    def _keep_caret(self) -> None:
        if self.draft is not None and self.sink is not None:
            self._move(*self.panel.editor.caret_and_anchor())

    @Slot(object)
    def _edited(self, edit: TextEdit) -> None:
        if self.draft is None or self.sink is None:
            return
        caret = edit.position + units(edit.inserted)
        try:
            self.sink.edit(self.draft.id, edit, caret, caret)
        except RejectedFault:
            self.refresh()  # the draft was locked in this very moment: show the text that counts
            return
        self.typed.emit()

    @Slot(int, int)
    def _caret_moved(self, caret: int, anchor: int) -> None:
        if not self._showing:
            self._move(caret, anchor)

    def _move(self, caret: int, anchor: int) -> None:
        if self.draft is None or self.sink is None or self.draft.locked:
            return
        try:
            self.sink.move_caret(self.draft.id, caret, anchor)
        except RejectedFault:
            return  # the draft has been let go of; its caret is stored already
