"""The edit journal: one append-only file per process, one record per edit, written before the paint.

A record is one line: format version, CRC-32 of the body in eight hexadecimal digits, the body as compact
JSON in UTF-8 (lone surrogates pass)::

    1 5f3c09aa {"k":"edit","seq":7,"draft":"drf-…","rev":3,"at":12,"del":0,"ins":"x"}

``begin``  opens a chain: ``surface``, ``key``, ``place`` (workspace id, scope, root), ``rev`` (0: never saved),
           ``units`` and ``digest`` of the text that the edits start from. Without them the edits were typed
           before the stored text was read; they count from its end.
``base``   supplies what such a ``begin`` lacked, and the stored draft's id (``row``).
``edit``   ``at`` and ``del`` count UTF-16 units; ``rev`` is the revision known at that moment.
``mark``   everything of this draft up to ``upto`` is in a committed row or conflict copy.

``seq`` counts all records of one writer and never restarts. A writer is alive while it holds the lock of its
file (spec/drafts.md section 4). Light on purpose: made before the first paint, without lock library or loop.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import zlib
from pathlib import Path
from typing import Any

from drafts.filelocks import hold
from drafts.fold import EMPTY_TEXT, BaseText
from drafts.model import DraftKey, TextEdit
from runtime.base import failpoints
from runtime.base.handover import Place
from runtime.base.ids import new_id

FORMAT = b"1"
APPEND = failpoints.step("journal.append", "every edit whose record was written comes back after a kill")
CUT = failpoints.step("journal.cut", "a record is removed only after a committed row covers it")


def encode_record(record: dict[str, Any]) -> bytes:
    """One line, newline included."""
    body = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return b"%s %08x %s\n" % (FORMAT, zlib.crc32(body), body)


class EditJournal:
    """The writing side. Every method is synchronous; ``OSError`` means that the record is not in the file."""

    def __init__(self, folder: Path, writer: str) -> None:
        self.writer = writer
        self.path = folder / f"{writer}.log"
        self._descriptor = -1
        self._seq = 0
        self._size = 0
        self._torn = False
        self._open: set[str] = set()  # drafts whose text follows from a chain in the file
        self._uncovered: dict[str, int] = {}  # the last record of a draft that no commit holds yet

    @staticmethod
    def open(folder: Path, writer: str | None = None) -> EditJournal:
        """A journal with a new writer id; the file is made (0600) with its first record."""
        return EditJournal(folder, writer or new_id("jnl"))

    @property
    def seq(self) -> int:
        """The number of the newest record."""
        return self._seq

    def has_chain(self, draft_id: str) -> bool:
        """Whether ``append`` may follow without a ``begin``."""
        return draft_id in self._open

    def begin(
        self, draft_id: str, key: DraftKey, place: Place, base_revision: int, base: BaseText | None = EMPTY_TEXT
    ) -> None:
        """Open a chain for ``draft_id``; ``base`` None: the stored text has not been read yet."""
        record: dict[str, Any] = {
            "k": "begin",
            "draft": draft_id,
            "surface": str(key.surface),
            "key": key.key,
            "place": [place.workspace_id, place.scope, place.root],
            "rev": base_revision,
        }
        if base is not None:
            record |= {"units": base.units, "digest": base.digest}
        self._write(record)
        self._open.add(draft_id)

    def settle(self, draft_id: str, row_id: str, base_revision: int, base: BaseText) -> None:
        """The stored text of a draft has been read: its edits so far count from the end of ``base``."""
        self._write(
            {
                "k": "base",
                "draft": draft_id,
                "row": row_id,
                "rev": base_revision,
                "units": base.units,
                "digest": base.digest,
            }
        )
        self._open.discard(draft_id)
        self._open.add(row_id)
        self._uncovered[row_id] = self._uncovered.pop(draft_id, self._seq)

    def append(self, draft_id: str, edit: TextEdit, base_revision: int) -> int:
        """Write one edit and return its sequence number. Raises ``OSError`` (disk full, I/O)."""
        seq = self._write(
            {
                "k": "edit",
                "draft": draft_id,
                "rev": base_revision,
                "at": edit.position,
                "del": edit.removed,
                "ins": edit.inserted,
            }
        )
        self._uncovered[draft_id] = seq
        return seq

    def moved(self, old: str, new: str) -> None:
        """The draft ``old`` goes on as ``new``, with a chain of its own: its records are covered with those."""
        self.end_chain(old)
        if old != new and old in self._uncovered:
            self._uncovered[new] = max(self._uncovered.pop(old), self._uncovered.get(new, 0))

    def end_chain(self, draft_id: str) -> None:
        """The draft's text no longer follows from the chain: the next edit needs a ``begin``."""
        self._open.discard(draft_id)

    def covered(self, draft_id: str, seq: int) -> None:
        """A commit holds this draft up to ``seq``: cut the file if it holds all, else note it."""
        if self._uncovered.get(draft_id, seq + 1) <= seq:
            del self._uncovered[draft_id]
        if not self._uncovered:
            self.cut()
        elif draft_id in self._open:
            with contextlib.suppress(OSError):  # a lost note costs at most a needless earlier version
                self._write({"k": "mark", "draft": draft_id, "upto": seq})

    def cut(self) -> None:
        """Empty the file; every chain needs a new ``begin``. The caller knows that all is covered."""
        self._open.clear()
        if self._descriptor < 0 or self._size == 0:
            return
        with contextlib.suppress(OSError):  # what stays is covered by its rows and harmless
            failpoints.hit(CUT.before)
            os.ftruncate(self._descriptor, 0)
            self._size, self._torn = 0, False
            failpoints.hit(CUT.after)

    def close(self) -> None:
        """Let go of the file; remove it if everything is covered. Harmless when repeated."""
        if self._descriptor < 0:
            return
        os.close(self._descriptor)
        self._descriptor = -1
        if not self._uncovered:
            with contextlib.suppress(OSError):
                self.path.unlink()

    def _write(self, record: dict[str, Any]) -> int:
        record["seq"] = self._seq + 1
        data = encode_record(record)
        if self._descriptor < 0:
            self._create()
        if self._torn:
            data = b"\n" + data
        failpoints.hit(APPEND.before)
        written = os.write(self._descriptor, data)
        if written != len(data):
            self._take_back()
            raise OSError(errno.ENOSPC, "the journal took only part of a record")
        self._seq += 1
        self._size += written
        self._torn = False
        failpoints.hit(APPEND.after)
        return self._seq

    def _take_back(self) -> None:
        """Remove half a record, so that the next one starts on a line of its own."""
        self._torn = True
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, self._size)
            self._torn = False

    def _create(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_RDWR | getattr(os, "O_BINARY", 0)
        descriptor = os.open(self.path, flags, 0o600)
        try:
            hold(descriptor)
        except OSError:
            os.close(descriptor)
            self.path.unlink()
            raise
        self._descriptor = descriptor
