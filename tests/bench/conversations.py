"""A data folder as after years of use, filled by plain SQL in one transaction: seconds instead of an hour."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

from drafts import restore
from drafts.model import DraftKey
from drafts.schema import SCHEMA as DRAFTS_SCHEMA
from runtime.base.folder import DataFolder
from runtime.base.handover import Place
from runtime.sessions.schema import open_state
from runtime.storage.database import Database

_WORKSPACES = 8
_START_MS = 1_700_000_000_000
_SPACING_MS = 60_000
_QUESTION = "Question {n} about part {part}: why does the second run differ from the first, and what would you change?"
_ANSWER = (
    "The two runs read the same file, but not at the same moment.\n\n"
    "- the first run finds the cache empty and fills it\n"
    "- the second run finds entry **{n}** and skips the check\n\n"
    "```python\nresult = load(part={part}, fresh=True)\nassert result.count == {n}\n```\n\n"
    "Clear the cache before the second run, or compare the two versions by their digest. Naïve timing, 漢字 and "
    "punctuation are as in any other text. " + "The rest of the answer explains the same in other words. " * 4
)


@dataclass(frozen=True, slots=True)
class Filled:
    """What was written, and the conversation that the restore slot names (none in an empty folder)."""

    folder: DataFolder
    conversations: int
    items: int
    restored: str


def empty(root: Path) -> Filled:
    """A folder with both databases and nothing in them: as a first start that was closed again left it."""
    folder = DataFolder(root)
    folder.prepare()
    asyncio.run(_create(folder))
    return Filled(folder, 0, 0, "")


def full(root: Path, conversations: int = 5_000, items: int = 200_000) -> Filled:
    """``items`` spread evenly over ``conversations``; the last used one is restored at the next start."""
    filled = empty(root)
    each = items // conversations
    connection = apsw.Connection(str(filled.folder.state_database))
    try:
        connection.execute("PRAGMA foreign_keys=OFF").fetchall()
        with connection:
            _workspaces(connection)
            connection.executemany(f"INSERT INTO topics VALUES ({_marks(5)})", _topics(conversations))
            connection.executemany(f"INSERT INTO sessions VALUES ({_marks(13)})", _sessions(conversations, each))
            connection.executemany(f"INSERT INTO turns VALUES ({_marks(14)})", _turns(conversations, each))
            connection.executemany(f"INSERT INTO items VALUES ({_marks(11)})", _items(conversations, each))
            connection.executemany(f"INSERT INTO receipts VALUES ({_marks(6)})", _receipts(conversations, each))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close()
    last = _session(conversations - 1)
    restore_to(filled.folder, last, _place(conversations - 1))
    return Filled(filled.folder, conversations, each * conversations, last)


def restore_to(folder: DataFolder, session_id: str, place: Place) -> None:
    """Let the next start show this conversation."""
    connection = apsw.Connection(str(folder.drafts_database))
    try:
        with connection:
            surface = restore.surface_object(DraftKey.session(session_id), place)
            restore.write_slot(connection, restore.ACTIVE, surface, _START_MS)
    finally:
        connection.close()


async def _create(folder: DataFolder) -> None:
    drafts = await Database.open(folder.drafts_database, DRAFTS_SCHEMA)
    await drafts.close()
    state = await open_state(folder.state_database)
    await state.close()


def _marks(count: int) -> str:
    return ",".join("?" * count)


def _session(number: int) -> str:
    return f"ses_bench_{number:06}"


def _turn(number: int, turn: int) -> str:
    return f"trn_bench_{number:06}_{turn:04}"


def _place(number: int) -> Place:
    home = number % _WORKSPACES
    if home == 0:
        return Place("global", "global", "")
    return Place(f"wsp_bench_{home}", "project", f"/projects/part-{home}")


def _at(number: int, seq: int = 0) -> int:
    return _START_MS + number * _SPACING_MS + seq


def _workspaces(connection: apsw.Connection) -> None:
    for number in range(1, _WORKSPACES):
        place = _place(number)
        connection.execute(
            f"INSERT INTO workspaces VALUES ({_marks(5)})",
            (place.workspace_id, place.scope, place.root, f"part-{number}", _START_MS),
        ).fetchall()


def _topics(count: int) -> Iterator[tuple[str | int, ...]]:
    for n in range(count):
        title = f"Why run {n} differs from the one before it"
        yield f"top_bench_{n:06}", _place(n).workspace_id, title, "first_line", _at(n)


def _sessions(count: int, items: int) -> Iterator[tuple[str | int, ...]]:
    for n in range(count):
        yield (
            _session(n), f"top_bench_{n:06}", _place(n).workspace_id, "open", '{"model":"local:smollm2-135m"}',
            '{"model":"smollm2-135m","host":"agent"}', "", items, items, (items + 1) // 2, _at(n),
            _at(n, items), _at(n),
        )  # fmt: skip


def _turns(count: int, items: int) -> Iterator[tuple[str | int, ...]]:
    for n in range(count):
        for turn in range((items + 1) // 2):
            at = _at(n, turn * 2)
            yield (
                _turn(n, turn), _session(n), turn + 1, f"sub_bench_{n:06}_{turn:04}", "completed", "prc_bench", "", "",
                "end_turn", "{}", at, at, at + 1, at + 1,
            )  # fmt: skip


def _items(count: int, items: int) -> Iterator[tuple[str | int, ...]]:
    for n in range(count):
        for seq in range(1, items + 1):
            asked = seq % 2
            text = (_QUESTION if asked else _ANSWER).format(n=n, part=seq)
            kind = "user" if asked else "assistant"
            yield (
                f"itm_bench_{n:06}_{seq:04}", _session(n), seq, _turn(n, (seq - 1) // 2), kind, "final", "", 1,
                _at(n, seq), "{}", text,
            )  # fmt: skip


def _receipts(count: int, items: int) -> Iterator[tuple[str | int, ...]]:
    for n in range(count):
        for turn in range((items + 1) // 2):
            yield f"sub_bench_{n:06}_{turn:04}", 1, _session(n), _turn(n, turn), "0" * 64, _at(n, turn * 2)
