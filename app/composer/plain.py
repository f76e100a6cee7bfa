"""What a composer may hold: plain text that Qt's document, the draft store and the journal count alike. No Qt."""

from __future__ import annotations

import re

_CARRIAGE = re.compile("\r\n?")
_BREAKS = str.maketrans({"\u2028": "\n", "\u2029": "\n", "\x00": None, "\ufdd0": "\ufffd", "\ufdd1": "\ufffd"})
_LONE = re.compile("[\ud800-\udfff]")


def plain(text: str) -> str:
    """Text as the composer keeps it: line feeds only, no NUL, no half characters.

    U+2028 and U+2029 are line breaks to Qt, U+FDD0 and U+FDD1 its frame marks, and a lone surrogate gets lost on
    the way into Qt: each would make two places disagree about positions.
    """
    if "\r" in text:
        text = _CARRIAGE.sub("\n", text)
    text = text.translate(_BREAKS) if not text.isascii() or "\x00" in text else text
    return text if text.isascii() else _LONE.sub("\ufffd", text)


def from_document(raw: str) -> str:
    """Text read out of a document: Qt's paragraph and line separators become line feeds, one for one."""
    return raw.replace("\u2029", "\n").replace("\u2028", "\n")


def units(text: str) -> int:
    """Length in UTF-16 code units, as Qt and the journal count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
