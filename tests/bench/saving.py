"""B10: one confirmed save of a draft, against appending and syncing the same bytes.

The draft store's own save, a keystroke at a time: what is measured is its whole transaction in the worker (fold,
compare, write, commit with FULL); the hops between loop and worker are not.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import apsw

from drafts.journal import EditJournal
from drafts.model import DraftKey, TextEdit
from drafts.schema import SCHEMA
from drafts.store import DraftStore
from runtime.base.clock import SystemClock
from runtime.base.folder import DataFolder
from runtime.base.handover import Place
from runtime.base.tasks import TaskSupervisor
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook
from tests.bench.bare_sync import BareLog
from tests.bench.figures import Figure, median_ratio, percentile

T = TypeVar("T")
SIZES_KB = (1, 10, 100)
SAVES_A_ROUND = 100
P50_GOAL, P99_GOAL = 1.2, 2.0
_GLOBAL = Place("global", "global", "")


class WatchedDatabase(Database):
    """Notes how long each piece of work takes in the worker, in seconds."""

    took: list[float]

    async def _work(self, body: Callable[[], T], committed: Callable[[T], None] | None = None) -> T:
        def timed() -> T:
            begun = time.perf_counter()
            try:
                return body()
            finally:
                self.took.append(time.perf_counter() - begun)

        return await super()._work(timed, committed)


def run(folder: Path, rounds: int) -> list[Figure]:
    """Two figures a size: p50 and p99."""
    return asyncio.run(_run(folder, rounds))


async def _run(folder: Path, rounds: int) -> list[Figure]:
    figures: list[Figure] = []
    for size in SIZES_KB:
        ours, bare = await _measure(folder / f"{size}", size * 1024, rounds)
        figures += [_figure(size, "p50", ours, bare), _figure(size, "p99", ours, bare)]
    return figures


async def _measure(root: Path, size: int, rounds: int) -> tuple[list[list[float]], list[list[float]]]:
    """Seconds of each save and each bare append, by round."""
    data = DataFolder(root)
    data.prepare()
    plain = await Database.open(data.drafts_database, SCHEMA)
    database = WatchedDatabase(plain._connection, plain.path)  # the same worker, watched
    database.took = []
    clock = SystemClock()
    tasks = TaskSupervisor("bench", _raise)
    store = DraftStore(database, EditJournal.open(data.draft_journal), LeaseBook(data.leases, clock), clock, tasks)
    log = BareLog(root / "bare.log")
    try:
        draft = await store.open(DraftKey.workspace("global"), _GLOBAL)
        store.edit(draft.id, TextEdit(0, 0, "x" * size), size, size)
        await store.save(draft.id)
        stored = await database.read(_content)
        ours: list[list[float]] = []
        bare: list[list[float]] = []
        for turn in range(rounds + 1):  # the first one warms up
            saves, appends = [], []
            for number in range(SAVES_A_ROUND):
                store.edit(draft.id, TextEdit(number % size, 1, "abcdefgh"[number % 8]), 0, 0)
                database.took.clear()
                await store.save(draft.id)
                saves.append(max(database.took))
                appends.append(log.append(stored))
            if turn:
                ours.append(saves)
                bare.append(appends)
        return ours, bare
    finally:
        log.close()
        await tasks.close()
        await store.close()
        await database.close()


def _content(connection: apsw.Connection) -> bytes:
    return str(connection.execute("SELECT content_json FROM drafts").get).encode()


def _figure(size: int, name: str, ours: list[list[float]], bare: list[list[float]]) -> Figure:
    percent = float(name[1:])
    mine = [percentile(values, percent) * 1e3 for values in ours]
    yard = [percentile(values, percent) * 1e3 for values in bare]
    middle = len(mine) // 2
    return Figure(
        id="B10", what=f"confirmed save of {size} KB, {name}", ours=sorted(mine)[middle],
        yardstick=sorted(yard)[middle], yardstick_what="append and fdatasync of the same bytes", unit="ms",
        ratio=median_ratio(mine, yard),
        goal=P50_GOAL if name == "p50" else P99_GOAL, rounds=len(ours),
    )  # fmt: skip


def _raise(error: BaseException) -> None:
    raise error
