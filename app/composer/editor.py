"""The text field of a composer: plain text only, safe with input methods, and exact about what changed."""

from __future__ import annotations

import math

from PySide6.QtCore import QEvent, QMimeData, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QGuiApplication,
    QInputMethodEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
    QTextCursor,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from app.composer.document import ComposerDocument
from app.composer.plain import plain

_TEXT_KEYS = frozenset(QKeySequence(keys) for keys in (
    "Ctrl+Z", "Ctrl+Y", "Ctrl+Shift+Z", "Ctrl+A", "Ctrl+C", "Ctrl+V", "Ctrl+X", "Ctrl+Backspace", "Ctrl+Delete",
    "Ctrl+Home", "Ctrl+End", "Ctrl+Left", "Ctrl+Right", "Backspace", "Delete", "Home", "End", "Shift+Insert",
    "Return", "Enter", "Shift+Return", "Shift+Enter", "Ctrl+Return", "Ctrl+Enter",
))  # fmt: skip
_SELECT_ONLY = Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
_MIN_LINES = 2

_MODIFIERS = frozenset({
    Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_AltGr, Qt.Key.Key_CapsLock,
})  # fmt: skip


class ComposerEditor(QPlainTextEdit):
    """Shows one :class:`ComposerDocument` at a time and turns keys into edits, newlines and requests."""

    edited = Signal(object)
    """:class:`drafts.model.TextEdit` of the shown document."""
    caret_moved = Signal(int, int)
    """Caret and anchor in UTF-16 units."""
    send_requested = Signal()
    steer_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = ComposerDocument(parent=self)
        self._preedit = ""
        self._composition_ended = False
        self._known_caret = (0, 0)
        self._height_limit = 360
        self._type = self.font()
        self._line_height = 1.5
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.timeout.connect(self._forget_composition)
        self.setProperty("role", "composer")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setAccessibleName(self.tr("Message"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.cursorPositionChanged.connect(self._caret_changed)
        self.selectionChanged.connect(self._caret_changed)
        self._install(self._shown)

    def open_menu(self, position: QPoint, screen_position: QPoint) -> None:
        """Qt's own editing menu, opened without a nested loop."""
        menu = self.createStandardContextMenu(position)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(screen_position)

    # what is shown

    @property
    def shown(self) -> ComposerDocument:
        return self._shown

    def show_document(self, document: ComposerDocument) -> None:
        """Put a draft's document in place with its caret, selection and scroll; the one before keeps its own."""
        if document is self._shown:
            return
        self._drop_preedit()
        self.remember()
        self._shown.edited.disconnect(self.edited)
        self._shown.document.documentLayout().documentSizeChanged.disconnect(self._size_changed)
        self._install(document)

    def remember(self) -> None:
        """Note caret, anchor and scroll in the shown document."""
        self._shown.place_caret(*self.caret_and_anchor())
        self._shown.scroll = self.verticalScrollBar().value()

    def refresh(self) -> None:
        """Show caret and scroll again after the shown document was loaded anew."""
        cursor = QTextCursor(self._shown.document)
        cursor.setPosition(self._shown.anchor)
        cursor.setPosition(self._shown.caret, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self._fit()
        self.verticalScrollBar().setValue(self._shown.scroll)

    def caret_and_anchor(self) -> tuple[int, int]:
        cursor = self.textCursor()
        return cursor.position(), cursor.anchor()

    @property
    def is_empty(self) -> bool:
        return self._shown.length == 0

    @property
    def is_composing(self) -> bool:
        """Whether Return belongs to an input method: text is unfinished, or was finished in this turn of the loop."""
        return bool(self._preedit) or self._composition_ended

    def set_locked(self, locked: bool) -> None:
        """Read-only while a submission holds the draft; the text stays selectable."""
        if locked:
            self._drop_preedit()
        self.setReadOnly(locked)
        if locked:
            self.setTextInteractionFlags(_SELECT_ONLY)

    def set_type(self, font: QFont, line_height: float) -> None:
        """The font of the text and its line height as a multiple of the font's size."""
        self._type, self._line_height = font, line_height
        self.setFont(font)
        self._shown.set_font(font, line_height)
        self._fit()

    def set_height_limit(self, pixels: int) -> None:
        """Largest height; beyond it the text scrolls."""
        self._height_limit = pixels
        self._fit()

    def _install(self, document: ComposerDocument) -> None:
        document.set_font(self._type, self._line_height)
        self._shown = document
        self.setDocument(document.document)
        document.edited.connect(self.edited)
        document.document.documentLayout().documentSizeChanged.connect(self._size_changed)
        self._known_caret = (document.caret, document.anchor)
        self.refresh()

    # height

    def _wanted_height(self) -> int:
        """Height of the text, between two lines and the limit."""
        line = self._type.pixelSize() * self._line_height
        smallest = round(_MIN_LINES * line + 2 * self._shown.document.documentMargin())
        return max(smallest, math.ceil(self._shown.height(max(smallest, self._height_limit))))

    def _size_changed(self) -> None:
        self._fit()

    def _fit(self) -> None:
        wanted = self._wanted_height()
        if self.minimumHeight() != wanted or self.maximumHeight() != wanted:
            self.setFixedHeight(wanted)

    # caret

    def _caret_changed(self) -> None:
        now = self.caret_and_anchor()
        if now != self._known_caret:
            self._known_caret = now
            self.caret_moved.emit(*now)

    # input methods

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Commit by an exact edit of our own, and leave only the preedit to Qt.

        Qt would report the whole paragraph as changed for each composed character (case K01: preedit is not text).
        """
        if self.isReadOnly():
            super().inputMethodEvent(event)
            return
        had_preedit, self._preedit = bool(self._preedit), event.preeditString()
        if had_preedit and not self._preedit:
            self._composition_ended = True
            self._turn.start(0)
        if event.commitString() or event.replacementLength() or self._preedit:
            self._commit(event)
        with self._shown.only_layout():
            super().inputMethodEvent(QInputMethodEvent(self._preedit, event.attributes()))
        event.accept()

    def _commit(self, event: QInputMethodEvent) -> None:
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.removeSelectedText()
        if event.replacementLength():
            start = max(0, cursor.position() + event.replacementStart())
            cursor.setPosition(start)
            end = min(self._shown.document.characterCount() - 1, start + event.replacementLength())
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.removeSelectedText()
        cursor.insertText(plain(event.commitString()))
        cursor.endEditBlock()
        self.setTextCursor(cursor)

    def _drop_preedit(self) -> None:
        if self._preedit:
            QGuiApplication.inputMethod().reset()
            with self._shown.only_layout():
                QPlainTextEdit.inputMethodEvent(self, QInputMethodEvent())
            self._preedit = ""

    def _forget_composition(self) -> None:
        self._composition_ended = False

    # keys

    def event(self, event: QEvent) -> bool:
        """Keep editing keys for the text before any shortcut of the program sees them (case K05)."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            if QKeySequence(modifiers.value | event.key()) in _TEXT_KEYS:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._return_pressed(event)
        elif event.matches(QKeySequence.StandardKey.Redo) or _is_redo(event):
            event.accept()
            if not self.isReadOnly():
                self.redo()
        else:
            if event.key() not in _MODIFIERS:
                self._drop_preedit()  # Qt would count preedit characters as text and cut what stands behind them
            super().keyPressEvent(event)

    def _return_pressed(self, event: QKeyEvent) -> None:
        event.accept()
        if self.is_composing:
            return
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modifiers == Qt.KeyboardModifier.NoModifier:
            if not event.isAutoRepeat():
                self.send_requested.emit()
        elif modifiers == Qt.KeyboardModifier.ControlModifier:
            if not event.isAutoRepeat():
                self.steer_requested.emit()
        elif not self.isReadOnly():
            self.textCursor().insertText("\n")
            self.ensureCursorVisible()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A press inside the selection places the caret: dragging text out would run a loop inside Qt."""
        pressed = self.cursorForPosition(event.position().toPoint())
        cursor = self.textCursor()
        inside = cursor.selectionStart() <= pressed.position() < cursor.selectionEnd()
        if event.button() == Qt.MouseButton.LeftButton and inside and not event.modifiers():
            self.setTextCursor(pressed)
        super().mousePressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    # clipboard: plain text both ways

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        self.textCursor().insertText(plain(source.text()))
        self.ensureCursorVisible()

    def createMimeDataFromSelection(self) -> QMimeData:
        mime = QMimeData()
        mime.setText(self.textCursor().selectedText().replace("\u2029", "\n").replace("\u2028", "\n"))
        return mime

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.open_menu(event.pos(), event.globalPos())


def _is_redo(event: QKeyEvent) -> bool:
    """Both spellings of redo work on every system."""
    pressed = QKeySequence(event.keyCombination())
    return pressed in (QKeySequence("Ctrl+Y"), QKeySequence("Ctrl+Shift+Z"))
