"""Cut text where a reader sees a boundary, not inside one visible character (UAX #29, the part titles need).

Covers combining marks, variation selectors, emoji modifiers and tags, joiner sequences, flags, Hangul and CRLF.
Indic conjuncts are cut between their parts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

_ZWJ = 0x200D


def graphemes(text: str) -> Iterator[str]:
    """The visible characters of ``text`` in order; joined they are ``text``."""
    start = 0
    flags = 0
    for index in range(1, len(text)):
        before, after = ord(text[index - 1]), ord(text[index])
        flags = flags + 1 if _is_flag(before) else 0
        if not _joins(text, index, before, after, flags):
            yield text[start:index]
            start = index
            flags = 0
    if text:
        yield text[start:]


def cut(text: str, limit: int) -> str:
    """The first ``limit`` visible characters of ``text``."""
    length = 0
    for number, grapheme in enumerate(graphemes(text)):
        if number == limit:
            return text[:length]
        length += len(grapheme)
    return text


def _joins(text: str, index: int, before: int, after: int, flags: int) -> bool:
    """Whether there is no boundary between the characters at ``index - 1`` and ``index``."""
    if before == 0x0D and after == 0x0A:
        return True
    if unicodedata.category(chr(before)) in ("Cc", "Zl", "Zp"):
        return False
    if _extends(after):
        return unicodedata.category(chr(before)) != "Cc"
    if before == _ZWJ:
        return _is_pictographic(after) and index >= 2
    if _is_flag(before) and _is_flag(after):
        return flags % 2 == 1
    return _hangul_joins(before, after)


def _extends(code: int) -> bool:
    if code == _ZWJ or 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F:
        return True
    return unicodedata.category(chr(code)) in ("Mn", "Me", "Mc") or code == 0x200C or 0xFF9E <= code <= 0xFF9F


def _is_flag(code: int) -> bool:
    return 0x1F1E6 <= code <= 0x1F1FF


def _is_pictographic(code: int) -> bool:
    return (
        0x1F000 <= code <= 0x1FAFF
        or 0x2190 <= code <= 0x2BFF
        or code in (0x00A9, 0x00AE, 0x203C, 0x2049, 0x2122, 0x2139, 0x3030, 0x303D, 0x3297, 0x3299)
    )


def _hangul_joins(before: int, after: int) -> bool:
    """Leading consonant + vowel or syllable, vowel + vowel or tail, tail + tail."""
    left, right = _hangul(before), _hangul(after)
    if left == "L":
        return right in ("L", "V", "LV", "LVT")
    if left in ("LV", "V"):
        return right in ("V", "T")
    return left in ("LVT", "T") and right == "T"


def _hangul(code: int) -> str:
    if 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C:
        return "L"
    if 0x1160 <= code <= 0x11A7 or 0xD7B0 <= code <= 0xD7C6:
        return "V"
    if 0x11A8 <= code <= 0x11FF or 0xD7CB <= code <= 0xD7FB:
        return "T"
    if 0xAC00 <= code <= 0xD7A3:
        return "LV" if (code - 0xAC00) % 28 == 0 else "LVT"
    return ""
