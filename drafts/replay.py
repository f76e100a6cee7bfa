"""Reading journals: which records of a writer are beyond a draft's row, and do they fit it?

Pure and light: recovery uses it inside its transaction, the first paint without writing anything.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from drafts.filelocks import is_held
from drafts.fold import BaseText, MisfitError, base_text, fold, shifted, typed_pieces
from drafts.journal import FORMAT
from drafts.model import DraftKey, Surface, TextEdit
from runtime.base.handover import Place, Scope
from runtime.base.record import record


@dataclass(slots=True)
class Chain:
    """Edits that follow from one ``begin``. ``base`` None: they count from the end of whatever is stored."""

    draft_id: str
    key: DraftKey
    place: Place
    base_revision: int
    base: BaseText | None
    begun: int
    broken: bool = False
    edits: list[tuple[int, TextEdit]] = field(default_factory=list[tuple[int, TextEdit]])


@dataclass(slots=True)
class Log:
    """The journal of one writer. ``unknown``: it has records of a newer format and must be left alone."""

    writer: str
    path: Path
    chains: list[Chain] = field(default_factory=list[Chain])
    covered: dict[str, int] = field(default_factory=dict[str, int])
    unknown: bool = False

    def drafts(self) -> list[str]:
        """Ids with records, in the order of their first one."""
        return list(dict.fromkeys(chain.draft_id for chain in self.chains))

    def chains_of(self, draft_id: str, key: DraftKey) -> list[Chain]:
        """The chains of a draft; those that were begun before its id was known count by key."""
        return [c for c in self.chains if c.draft_id == draft_id or (c.key == key and c.base is None)]


@record
class Stored:
    """What replay needs of a row. ``writer`` and ``seq``: what the row covers of the journals."""

    text: str
    writer: str
    seq: int


@record
class Loss:
    """Records that do not fit: the chain, and those of its edits that no row covers."""

    chain: Chain
    uncovered: tuple[TextEdit, ...]


@record
class Replayed:
    """The text with all records that fit. ``seq`` is the last record of this draft, ``caret`` the place of it."""

    text: str
    changed: bool
    seq: int
    caret: int
    losses: tuple[Loss, ...] = ()


def dead_logs(folder: Path) -> list[Path]:
    """Journals whose writer is gone, oldest first."""
    if not folder.is_dir():
        return []
    return [path for path in sorted(folder.glob("*.log")) if not is_held(path)]


def read_log(path: Path) -> Log:
    """Parse a journal; a torn or damaged line is skipped, and what follows a gap is marked broken.

    Raises ``OSError`` if the file cannot be read.
    """
    log = Log(path.stem, path)
    current: dict[str, Chain] = {}
    last = 0
    for line in path.read_bytes().split(b"\n"):
        record = _decode(line)
        if record is None:
            log.unknown = log.unknown or _is_newer(line)
            continue
        seq = int(record["seq"])
        if last and seq != last + 1:
            for chain in current.values():
                chain.broken = True
        last = seq
        _take(log, current, record, seq)
    return log


def replay(stored: Stored | None, log: Log, chains: Iterable[Chain]) -> Replayed:
    """Fold the records of one draft that ``stored`` does not cover onto its text (None: no row yet)."""
    text, seq, caret, changed = stored.text if stored else "", 0, 0, False
    ours = stored is not None and stored.writer == log.writer
    losses: list[Loss] = []
    for chain in chains:
        covered = max(log.covered.get(chain.draft_id, 0), stored.seq if stored is not None and ours else 0)
        edits = [edit for number, edit in chain.edits if number > covered]
        if not edits:
            continue
        seq = chain.edits[-1][0]
        continued = chain.begun <= covered and any(number <= covered for number, _edit in chain.edits)
        following = _following(text, chain, edits, ours if continued else None)
        if following is None:
            losses.append(Loss(chain, tuple(edits)))
            continue
        text, caret = following
        changed = True
    return Replayed(text, changed, seq, caret, tuple(losses))


def rebuild(loss: Loss, candidates: Iterable[str]) -> str:
    """The text of records that did not fit: on their own base if it is among ``candidates``, else what was typed."""
    base, edits = loss.chain.base, [edit for _seq, edit in loss.chain.edits]
    if base is not None and not loss.chain.broken:
        for text in candidates:
            if base_text(text) == base:
                try:
                    return fold(text, edits)
                except MisfitError:
                    break
    return typed_pieces(base.units if base else 0, loss.uncovered)


def _following(text: str, chain: Chain, edits: list[TextEdit], continued: bool | None) -> tuple[str, int] | None:
    """Text and caret after ``edits``; None if they do not fit. ``continued``: the row is this chain's own state."""
    if chain.broken or continued is False:
        return None
    length = base_text(text)
    if chain.base is None:
        edits = shifted(edits, length.units)
    elif continued is None and chain.base != length:
        return None
    try:
        return fold(text, edits), edits[-1].position + base_text(edits[-1].inserted).units
    except MisfitError:
        return None


def _decode(line: bytes) -> dict[str, Any] | None:
    version, _, rest = line.partition(b" ")
    checksum, _, body = rest.partition(b" ")
    if version != FORMAT or checksum != b"%08x" % zlib.crc32(body):
        return None
    try:
        record: Any = json.loads(body.decode("utf-8", "surrogatepass"))
    except ValueError:
        return None
    return cast("dict[str, Any]", record) if isinstance(record, dict) and "seq" in record else None


def _is_newer(line: bytes) -> bool:
    version, _, rest = line.partition(b" ")
    checksum, _, body = rest.partition(b" ")
    return version.isdigit() and version != FORMAT and checksum == b"%08x" % zlib.crc32(body)


def _take(log: Log, current: dict[str, Chain], record: Mapping[str, Any], seq: int) -> None:
    kind, draft_id = record["k"], record["draft"]
    if kind == "begin":
        workspace, scope, root = record["place"]
        base = BaseText(record["units"], record["digest"]) if "digest" in record else None
        chain = Chain(
            draft_id,
            DraftKey(Surface(record["surface"]), record["key"]),
            Place(workspace, cast("Scope", scope), root),
            record["rev"],
            base,
            seq,
        )
        current[draft_id] = chain
        log.chains.append(chain)
    elif kind == "mark":
        log.covered[draft_id] = max(record["upto"], log.covered.get(draft_id, 0))
    elif draft_id not in current:
        return  # only after damage: the records before are gone, and with them what these refer to
    elif kind == "base":
        chain = current.pop(draft_id)
        chain.draft_id, chain.base_revision = record["row"], record["rev"]
        chain.base = BaseText(record["units"], record["digest"])
        chain.edits = [
            (number, moved)
            for (number, _), moved in zip(
                chain.edits, shifted((e for _, e in chain.edits), chain.base.units), strict=True
            )
        ]
        current[chain.draft_id] = chain
    elif kind == "edit":
        current[draft_id].edits.append((seq, TextEdit(record["at"], record["del"], record["ins"])))
    else:
        log.unknown = True
