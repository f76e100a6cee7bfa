"""One draft's text with its own caret, scroll position and undo stack, told outside as exact edits.

Each draft has a document of its own, so nothing typed or undone in one can appear in another (cases D01, D19).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QTextCursor, QTextDocument

from app.composer.line_spacing import SpacedLayout
from app.composer.plain import from_document, plain, units
from drafts.model import TextEdit


class ComposerDocument(QObject):
    """Text, caret, anchor and scroll of one draft. Positions count UTF-16 units."""

    edited = Signal(object)
    """A :class:`drafts.model.TextEdit`; applying every one in order gives the text, whatever made the change."""

    def __init__(
        self, text: str = "", caret: int = 0, anchor: int | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.document = QTextDocument(self)
        self._layout = SpacedLayout(self.document)
        self.document.setDocumentLayout(self._layout)
        self.caret = 0
        self.anchor = 0
        self.scroll = 0
        self._length = 0
        self._silent = False
        self._layout_only = False
        self.document.contentsChange.connect(self._changed)
        self.load(text, caret, anchor)

    @property
    def length(self) -> int:
        """Length of the text in UTF-16 units."""
        return self._length

    def set_font(self, font: QFont, line_height: float) -> None:
        """Lay the text out in ``font`` with ``line_height`` times its size from line to line."""
        self._layout.extra = max(0.0, round(font.pixelSize() * line_height - QFontMetricsF(font).lineSpacing()))
        self.document.setDefaultFont(font)

    def height(self, at_most: float) -> float:
        """Height of the text and its margins in pixels, measured no further than ``at_most``."""
        # the margin stays as Qt has it: with another one Qt looks through all lines for the widest at every key
        total, block = 2 * self.document.documentMargin(), self.document.firstBlock()
        while block.isValid() and total < at_most:
            total += self._layout.blockBoundingRect(block).height()
            block = block.next()
        return min(total, at_most)

    def text(self) -> str:
        """The whole text; reads the whole document, so never on a key."""
        return from_document(self.document.toRawText())

    def load(self, text: str, caret: int = 0, anchor: int | None = None) -> TextEdit | None:
        """Replace everything without telling anyone, with an empty undo stack.

        Returns the edit that makes the source agree if ``text`` held what a composer cannot keep
        (carriage returns, NUL), else None.
        """
        kept = plain(text)
        self._silent = True
        try:
            self.document.setPlainText(kept)
        finally:
            self._silent = False
        self._length = self.document.characterCount() - 1
        self.place_caret(caret, caret if anchor is None else anchor)
        self.scroll = 0
        return None if kept == text else TextEdit(0, units(text), kept)

    def place_caret(self, caret: int, anchor: int) -> None:
        """Remember caret and anchor, kept inside the text."""
        self.caret = max(0, min(caret, self._length))
        self.anchor = max(0, min(anchor, self._length))

    @contextmanager
    def only_layout(self) -> Iterator[None]:
        """Changes inside are marks of an input method's preedit: layout, not text."""
        self._layout_only = True
        try:
            yield
        finally:
            self._layout_only = False

    def _changed(self, position: int, removed: int, added: int) -> None:
        if self._silent:
            return
        before, after = self._length, self.document.characterCount() - 1
        self._length = after
        if self._layout_only and before == after:
            return
        edit = self._exact(position, removed, added, before) or self._everything(before)
        if edit.removed or edit.inserted:
            self.edited.emit(edit)

    def _exact(self, position: int, removed: int, added: int, before: int) -> TextEdit | None:
        """The reported window without the closing separator that Qt counts at the end of the document."""
        after = self._length
        if position > min(before, after):
            return None
        removed, added = min(removed, before - position), min(added, after - position)
        if added - removed != after - before:
            return None
        inserted = self._read(position, added)
        return None if units(inserted) != added else TextEdit(position, removed, inserted)

    def _everything(self, before: int) -> TextEdit:
        """The whole text as one edit: right whatever Qt reported."""
        return TextEdit(0, before, self.text())

    def _read(self, position: int, length: int) -> str:
        if not length:
            return ""
        cursor = QTextCursor(self.document)
        cursor.setPosition(position)
        cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
        return from_document(cursor.selectedText())
