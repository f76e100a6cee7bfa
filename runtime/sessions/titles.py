"""Titles: from the first line, cut by grapheme at 80, clean (spec/sessions.md section 1).

"New conversation" is not a title: it is what the program says while there is none.
"""

from __future__ import annotations

import unicodedata

from runtime.sessions.graphemes import cut

LIMIT = 80
_LONGEST = 1_000  # code points: a line of nothing but combining marks is one grapheme of any length
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_JOINERS = frozenset("\u200c\u200d")


def clean_title(text: str) -> str:
    """One line without control, bidirectional and other invisible formatting characters, at most 80 graphemes.

    Joiners stay (they make emoji and many scripts whole); a cut is marked with an ellipsis within the 80.
    """
    head = text[:_LONGEST]
    kept = "".join(character if _is_kept(character) else " " if character.isspace() else "" for character in head)
    line = " ".join(kept.split()).strip("\u200c\u200d")
    short = cut(line, LIMIT)
    if short == line:
        return line
    return cut(line, LIMIT - 1).rstrip() + "…"


def title_from(text: str) -> str:
    """The title that the first line with anything in it gives; empty if there is none."""
    for line in text.splitlines():
        title = clean_title(line)
        if title:
            return title
    return ""


def _is_kept(character: str) -> bool:
    if character in _BIDI:
        return False
    if character in _JOINERS:
        return True
    category = unicodedata.category(character)
    return category not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") or 0xE0020 <= ord(character) <= 0xE007F
