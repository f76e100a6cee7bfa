"""The promises that hold after every kill, fault or race: I1 to I7 of spec/quality.md section 2.

A test kills the program, calls :func:`reopened` and hands in what it knows from outside: the texts that were
confirmed or painted, and how often the provider was called. I8 (nothing erased is back) comes with erasing.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection
from typing import Any

import apsw

from app.compose import open_drafts, open_services
from runtime.base.clock import SystemClock
from runtime.base.folder import DataFolder
from runtime.sessions.owner import is_alive
from runtime.storage.leases import LeaseBook
from tests.crash.harness import damage, rows

Row = tuple[Any, ...]
Dump = dict[str, list[Row]]


async def reopened(folder: DataFolder) -> Dump:
    """Open as the program does and recover, three times; I7: the second and the third change nothing."""
    await recover(folder)
    after = dump(folder)
    for _again in range(2):
        await recover(folder)
        assert dump(folder) == after, "I7: recovery changed something again"
    return after


async def recover(folder: DataFolder) -> None:
    """One start up to the point where a list would be shown, and the orderly end."""
    bugs: list[BaseException] = []
    side = await open_drafts(folder, SystemClock(), bugs.append)
    try:
        services = await open_services(side)
        try:
            await services.reconcile()
        finally:
            await services.close_hosts()
            await services.close()
    finally:
        await side.close()
    assert bugs == []


def dump(folder: DataFolder) -> Dump:
    """Every row of both databases and the journals that hold something: what recovery might touch."""
    journals = sorted(path.name for path in folder.draft_journal.iterdir() if path.stat().st_size)
    found: Dump = {"journals": [(name,) for name in journals]}
    for name, path in (("drafts", folder.drafts_database), ("state", folder.state_database)):
        for (table,) in rows(path, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"):
            found[f"{name}.{table}"] = sorted(rows(path, f"SELECT * FROM {table}"), key=repr)
    return found


def check(folder: DataFolder, *, texts: Collection[str] = (), dispatches: int | None = None) -> None:
    """All invariants of a recovered folder.

    ``texts``: what was confirmed or painted and must be the text of a draft, converted or not. ``dispatches``: how
    many prompts the provider received; None where nobody counted.
    """
    _text_is_there(folder, texts)
    _receipts(folder, dispatches)
    _accepted_is_whole(folder)
    _turns_end_once(folder)
    _no_gaps(folder)
    _files_are_sound(folder)


def draft_texts(folder: DataFolder) -> Counter[str]:
    """The text of each draft that was not discarded."""
    found = rows(folder.drafts_database, "SELECT content_json FROM drafts WHERE status <> 'discarded'")
    return Counter(str(json.loads(content)["text"]) for (content,) in found)


def _text_is_there(folder: DataFolder, texts: Collection[str]) -> None:
    missing = Counter(texts) - draft_texts(folder)
    assert not missing, f"I1: lost {missing}"
    left = [path.name for path in folder.draft_journal.iterdir() if path.stat().st_size]
    assert left == [], "I1: a journal was not folded"


def _receipts(folder: DataFolder, dispatches: int | None) -> None:
    receipts = Counter(name for (name,) in rows(folder.state_database, "SELECT submission_id FROM receipts"))
    assert all(count == 1 for count in receipts.values()), "I2: two receipts of one submission"
    called = rows(folder.state_database, "SELECT count(*) FROM turns WHERE called_at IS NOT NULL")[0][0]
    assert called <= len(receipts), "I2: a dispatch without a receipt"
    if dispatches is not None:
        assert dispatches <= called, "I2: the provider was asked more often than turns say"


def _accepted_is_whole(folder: DataFolder) -> None:
    receipts = dict(rows(folder.state_database, "SELECT submission_id, turn_id FROM receipts"))
    operations = rows(
        folder.drafts_database,
        "SELECT o.submission_id, o.session_id, o.phase, o.request_json, d.status FROM operations AS o "
        "JOIN drafts AS d ON d.id = o.draft_id",
    )
    for submission, session, phase, request, status in operations:
        assert (phase == "accepted") == (submission in receipts), f"I3: {phase} and the receipt disagree"
        if phase != "accepted":
            continue
        assert status == "converted", "I3: accepted, but its draft is not converted"
        presence = rows(folder.state_database, "SELECT presence FROM sessions WHERE id = ?", session)
        assert presence == [("open",)], "I3: accepted without its session"
        [(kept,)] = rows(
            folder.state_database,
            "SELECT text FROM items WHERE kind = 'user' AND turn_id = ? AND session_id = ?",
            receipts[submission],
            session,
        )
        assert kept == json.loads(request)["content"]["text"], "I3: the user item is not the frozen text"
    converted = rows(folder.drafts_database, "SELECT id FROM drafts WHERE status = 'converted' ORDER BY id")
    accepted = rows(folder.drafts_database, "SELECT draft_id FROM operations WHERE phase = 'accepted' ORDER BY 1")
    assert converted == accepted, "I3: converted without an accepted operation"
    submissions = rows(folder.state_database, "SELECT submission_id, id FROM turns ORDER BY 1")
    assert submissions == sorted(receipts.items()), "I3: turns and receipts are not one to one"


def _turns_end_once(folder: DataFolder) -> None:
    leases = LeaseBook(folder.leases, SystemClock())
    live = rows(folder.state_database, "SELECT owner FROM turns WHERE ended_at IS NULL")
    assert [owner for (owner,) in live if not is_alive(leases, owner)] == [], "I4: a dead turn says it runs"
    unsettled = rows(
        folder.state_database,
        "SELECT i.id FROM items AS i JOIN turns AS t ON t.id = i.turn_id "
        "WHERE t.ended_at IS NOT NULL AND i.state = 'streaming'",
    )
    assert unsettled == [], "I4: an item streams after its turn's end"


def _no_gaps(folder: DataFolder) -> None:
    for session, last, count in rows(folder.state_database, "SELECT id, last_seq, item_count FROM sessions"):
        found = rows(folder.state_database, "SELECT seq FROM items WHERE session_id = ? ORDER BY seq", session)
        assert [seq for (seq,) in found] == list(range(1, last + 1)), "I5: a gap between items"
        assert count == last, "I5: the count is not the number of items"
    for (item,) in rows(folder.state_database, "SELECT DISTINCT item_id FROM item_chunks"):
        chunks = rows(folder.state_database, "SELECT start, text FROM item_chunks WHERE item_id = ? ORDER BY 1", item)
        ends = [start + len(text) for start, text in chunks]
        assert [start for start, _text in chunks[1:]] == ends[:-1], "I5: a gap inside an item"


def _files_are_sound(folder: DataFolder) -> None:
    for path in (folder.drafts_database, folder.state_database):
        assert damage(path) == [], f"I6: {path.name}"
        assert _readable_without_wal(path), f"I6: {path.name} cannot be read"


def _readable_without_wal(path: os.PathLike[str]) -> bool:
    """After an orderly end the file stands alone: nothing that counts is left in a write-ahead log."""
    connection = apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return int(connection.execute("SELECT count(*) FROM sqlite_schema").get) > 0
    finally:
        connection.close()
