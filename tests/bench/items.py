"""B11: durable items a second, one transaction each, against a bare log that syncs each record.

Two ways that the program stores while a model speaks: whole items through the item log, and batches of a streaming
answer through the turn journal. Both are measured from the loop, with the publishing of their events.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import apsw

from runtime.base import failpoints
from runtime.base.clock import SystemClock
from runtime.base.folder import DataFolder
from runtime.base.handover import Reservation, Submission
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.port import TextDelta
from runtime.sessions import itemlog
from runtime.sessions.admission import Admission
from runtime.sessions.events import ItemAppended
from runtime.sessions.itemlog import NewItem
from runtime.sessions.model import Turn
from runtime.sessions.owner import OwnerLease
from runtime.sessions.schema import open_state
from runtime.sessions.store import Publish, SessionStore
from runtime.sessions.turnjournal import TurnJournal
from runtime.storage.leases import LeaseBook
from runtime.workspaces.registry import GLOBAL
from tests.bench.bare_sync import BareLog
from tests.bench.figures import Figure, median_ratio

ITEMS_A_ROUND = 200
GOAL = 0.8
TEXT = "A sentence as a model says it, with some words to spare, so that a record has a usual length. " * 3
APPEND = failpoints.step("bench.append", "nothing: the benchmark's own step")


def run(folder: Path, rounds: int) -> list[Figure]:
    """A figure for whole items and one for batches of a stream, in items a second."""
    return asyncio.run(_run(folder, rounds))


async def _run(folder: Path, rounds: int) -> list[Figure]:
    data = DataFolder(folder / "data")
    data.prepare()
    clock = SystemClock()
    tasks = TaskSupervisor("bench", _raise)
    state = await open_state(data.state_database)
    owner = OwnerLease.take(LeaseBook(data.leases, clock))
    log = BareLog(folder / "bare.log")
    try:
        store = SessionStore(state, clock, _raise)
        journal = TurnJournal(store, await _admitted(store, owner), tasks)
        await journal.start(owner.owner_id, {}, 0, "")
        ways = {
            "whole items": lambda: _append(store, journal.turn),
            "batches of a stream": lambda: journal.write([TextDelta(TEXT)]),
        }
        return [await _measure(name, way, log, rounds) for name, way in ways.items()]
    finally:
        log.close()
        await tasks.close()
        await state.close()
        owner.release()


async def _measure(name: str, way: Callable[[], Awaitable[None]], log: BareLog, rounds: int) -> Figure:
    ours: list[float] = []
    bare: list[float] = []
    for turn in range(rounds + 1):  # the first one warms up
        spent = waited = 0.0
        for _ in range(ITEMS_A_ROUND):
            begun = time.perf_counter()
            await way()
            spent += time.perf_counter() - begun
            waited += log.append(TEXT.encode())
        if turn:
            ours.append(ITEMS_A_ROUND / spent)
            bare.append(ITEMS_A_ROUND / waited)
    middle = len(ours) // 2
    return Figure(
        id="B11", what=f"durable {name} a second", ours=sorted(ours)[middle], yardstick=sorted(bare)[middle],
        yardstick_what="append and fdatasync of the same text", unit="/s", ratio=median_ratio(ours, bare), goal=GOAL,
        rounds=rounds, at_least=True,
    )  # fmt: skip


async def _admitted(store: SessionStore, owner: OwnerLease) -> Turn:
    reserved = Reservation("opr-bench", "ses-bench", "top-bench", "sub-bench", GLOBAL, {"model": "scripted:demo"})
    await store.create(reserved)
    await Admission(store, owner).admit(Submission("sub-bench", "ses-bench", "f", {"text": "Hello"}))
    return (await store.turns("ses-bench"))[-1]


async def _append(store: SessionStore, turn: Turn) -> None:
    now = store.clock.now_ms()

    def body(connection: apsw.Connection, publish: Publish) -> None:
        publish(ItemAppended(itemlog.append(connection, NewItem(turn.session_id, turn.id, "assistant", TEXT), now)))

    await store.commit(APPEND, body)


def _raise(error: BaseException) -> None:
    raise error
