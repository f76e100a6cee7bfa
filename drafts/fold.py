"""Edits folded onto a text, counted in UTF-16 code units as Qt and the edit journal do.

The work is done on UTF-16-LE bytes with ``surrogatepass``: a surrogate pair that two edits bring in halves
comes together again, and a lone surrogate survives. Light on purpose (the first paint imports it).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from drafts.model import TextEdit
from runtime.base.record import record

_ENCODING = "utf-16-le"
_ERRORS = "surrogatepass"


class MisfitError(ValueError):
    """An edit reaches beyond the text that it is applied to."""


@record
class BaseText:
    """What identifies a text without holding it: its length in UTF-16 units and a digest of its bytes."""

    units: int
    digest: str


def encode(text: str) -> bytes:
    """The UTF-16-LE bytes of ``text``, two for each unit."""
    return text.encode(_ENCODING, _ERRORS)


def units(text: str) -> int:
    """Length in UTF-16 code units."""
    return len(text) if text.isascii() else len(encode(text)) // 2


def base_text(text: str) -> BaseText:
    """The identity of ``text`` for a ``begin`` record."""
    data = encode(text)
    return BaseText(len(data) // 2, hashlib.sha256(data).hexdigest()[:32])


EMPTY_TEXT = base_text("")


def fold(text: str, edits: Sequence[TextEdit]) -> str:
    """``text`` after ``edits`` in order. Raises :class:`MisfitError` if one lies outside the text."""
    if not edits:
        return text
    data = bytearray(encode(text))
    for position, removed, inserted in _runs(edits):
        start, end = 2 * position, 2 * (position + removed)
        if position < 0 or removed < 0 or end > len(data):
            raise MisfitError("an edit does not fit its text")
        data[start:end] = inserted
    return data.decode(_ENCODING, _ERRORS)


def shifted(edits: Iterable[TextEdit], by: int) -> list[TextEdit]:
    """The same edits ``by`` units further behind."""
    return [TextEdit(edit.position + by, edit.removed, edit.inserted) for edit in edits]


def typed_pieces(base_units: int, edits: Sequence[TextEdit]) -> str:
    """What ``edits`` put into a text of ``base_units`` that is not known; pieces apart are joined by a newline.

    The last resort for records whose base is gone: positions beyond the end count as the end.
    """
    pieces: list[int | bytes] = [base_units]  # a number stands for that many unknown units
    for edit in edits:
        before, rest = _cut(pieces, max(edit.position, 0))
        _, after = _cut(rest, max(edit.removed, 0))
        pieces = [*before, encode(edit.inserted), *after] if edit.inserted else [*before, *after]
    joined: list[bytearray] = []
    gap = True
    for piece in pieces:
        if isinstance(piece, int):
            gap = gap or piece > 0
            continue
        if gap:
            joined.append(bytearray())
            gap = False
        joined[-1] += piece
    return "\n".join(part.decode(_ENCODING, _ERRORS) for part in joined if part)


def _runs(edits: Sequence[TextEdit]) -> Iterator[tuple[int, int, bytearray]]:
    """Edits inside what the run before them inserted are merged into it: typing costs one splice a run."""
    position, removed = edits[0].position, edits[0].removed
    inserted = bytearray(encode(edits[0].inserted))
    for edit in edits[1:]:
        start = 2 * (edit.position - position)
        end = start + 2 * edit.removed
        if 0 <= start <= end <= len(inserted):
            inserted[start:end] = encode(edit.inserted)
            continue
        yield position, removed, inserted
        position, removed, inserted = edit.position, edit.removed, bytearray(encode(edit.inserted))
    yield position, removed, inserted


def _cut(pieces: Sequence[int | bytes], at: int) -> tuple[list[int | bytes], list[int | bytes]]:
    before: list[int | bytes] = []
    for index, piece in enumerate(pieces):
        length = piece if isinstance(piece, int) else len(piece) // 2
        if at < length:
            if isinstance(piece, int):
                return [*before, at], [piece - at, *pieces[index + 1 :]]
            return [*before, piece[: 2 * at]], [piece[2 * at :], *pieces[index + 1 :]]
        before.append(piece)
        at -= length
    return before, []
