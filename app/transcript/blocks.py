"""A row's text cut into pieces that are laid out, measured and painted one by one. No Qt.

Pieces are small (about 3 KB), so that a long answer costs what is visible of it, and streamed text costs only the
last piece. Text is plain; the one structure that is recognised is the fenced code block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from app.transcript.rows import Row

BlockKind: TypeAlias = Literal["prose", "code"]
SOFT_LIMIT = 3_000
"""A piece ends at the first line end beyond this many characters."""
HARD_LIMIT = 8_000
"""A single line is cut at a space before this many characters."""
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)[^`\n]*$", re.MULTILINE)


class Piece(NamedTuple):
    """Characters ``start`` to ``end`` of a row's text; ``first`` and ``last`` say whether its block begins, ends here.

    ``fence`` is the opening fence of a code block, by which the closing one is recognised.
    """

    block: BlockKind
    start: int
    end: int
    first: bool = True
    last: bool = True
    language: str = ""
    fence: str = ""


def pieces_of(row: Row) -> list[Piece]:
    """The pieces of a row in order; at least one, so that an empty row has a place too."""
    if row.kind in ("user", "assistant", "reasoning"):
        found = list(_merged(row.text, 0, None))
    else:
        found = list(_split(row.text, Piece("prose", 0, len(row.text))))
    return found or [Piece("prose", 0, 0)]


def extend_pieces(pieces: list[Piece], text: str) -> int:
    """Bring ``pieces`` up to date with a longer ``text``; returns the number of the first piece that changed.

    Only the last piece is read again.
    """
    number = len(pieces) - 1
    last = pieces[number]
    fresh = list(_merged(text, last.start, last))
    if not last.first:
        fresh = _continued(fresh, last, len(text))
    pieces[number:] = fresh or ([] if number else [Piece("prose", 0, 0)])
    if number and not pieces[number - 1].last and (not fresh or fresh[0].first):
        number -= 1
        pieces[number] = pieces[number]._replace(last=True)
    return number


def _continued(fresh: list[Piece], last: Piece, length: int) -> list[Piece]:
    """Pieces read from the middle of a block: the first goes on with it, or vanishes if nothing of it is left."""
    if not fresh or fresh[0].block != last.block or fresh[0].start != last.start:
        return fresh
    if fresh[0].start >= fresh[0].end < length:
        return fresh[1:]
    return [fresh[0]._replace(first=False), *fresh[1:]]


def _merged(text: str, start: int, inside: Piece | None) -> Iterator[Piece]:
    for block in _blocks(text, start, inside):
        yield from _split(text, block)


def _blocks(text: str, start: int, inside: Piece | None) -> Iterator[Piece]:
    """Prose and code in turn from ``start`` on; ``inside`` is the block that is open there."""
    begin, fence = start, inside.fence if inside is not None else ""
    language = inside.language if inside is not None else ""
    middle = start if inside is not None and not inside.first else -1
    for match in _FENCE.finditer(text, start):
        if fence and match[1].startswith(fence) and not match[2]:
            yield Piece("code", begin, max(begin, match.start() - 1), language=language, fence=fence)
            begin, fence, language = match.end() + 1, "", ""
        elif not fence and match.end() < len(text):  # an unfinished line may still become something else
            yield from _prose(text, begin, match.start(), begin == middle)
            begin, fence, language = match.end() + 1, match[1], match[2]
    if fence:
        yield Piece("code", min(begin, len(text)), len(text), language=language, fence=fence)
    else:
        yield from _prose(text, begin, len(text), begin == middle)


def _prose(text: str, start: int, end: int, goes_on: bool) -> Iterator[Piece]:
    """A prose block without the blank lines at its edges; one that ``goes_on`` keeps those at its start."""
    while not goes_on and start < end and text[start] == "\n":
        start += 1
    while end > start and text[end - 1] == "\n":
        end -= 1
    if end > start:
        yield Piece("prose", start, end)


def _split(text: str, block: Piece) -> Iterator[Piece]:
    start, first = block.start, True
    while block.end - start > SOFT_LIMIT:
        cut, resume = _cut(text, start, block.end)
        if cut >= block.end:
            break
        ends = resume >= block.end < len(text)  # only a block that is still open keeps an empty line at its end
        yield block._replace(start=start, end=cut, first=first, last=ends)
        if ends:
            return
        start, first = resume, False
    yield block if first else block._replace(start=start, first=False)


def _cut(text: str, start: int, end: int) -> tuple[int, int]:
    """Where a piece that begins at ``start`` ends, and where the next one begins."""
    newline = text.find("\n", start + SOFT_LIMIT, min(end, start + HARD_LIMIT))
    if newline >= 0:
        return newline, newline + 1
    newline = text.rfind("\n", start + 1, start + SOFT_LIMIT)
    if newline >= 0 and end - start > HARD_LIMIT:
        return newline, newline + 1
    if end - start <= HARD_LIMIT:
        return end, end
    space = text.rfind(" ", start + SOFT_LIMIT, start + HARD_LIMIT)
    return (space, space + 1) if space >= 0 else (start + HARD_LIMIT, start + HARD_LIMIT)
