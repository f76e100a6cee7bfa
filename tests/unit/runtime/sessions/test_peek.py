"""The first paint's reader: light, without writing, and never an exception."""

from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
from pathlib import Path

import apsw

from runtime.hosts.port import TextDelta
from runtime.sessions.model import TurnState
from runtime.sessions.peek import Glimpse, peek
from tests.fakes.clock import FakeClock
from tests.fakes.host import Hold
from tests.unit.runtime.sessions.kit import Rig, reservation


def _file(folder: Path) -> Path:
    return folder / "state-v1.sqlite"


def test_it_is_import_light() -> None:
    code = (
        "import sys, runtime.sessions.peek\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "print(sorted({'asyncio', 'pydantic', 'filelock', 'concurrent'} & loaded))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


async def test_it_shows_the_newest_sessions_and_the_tail_of_one(rig: Rig, tmp_path: Path, clock: FakeClock) -> None:
    for number, name in enumerate(("one", "two", "three"), start=1):
        await clock.advance(1)
        await rig.send(name, f"question {name}")
        await rig.heard.ended(number)
    await clock.advance(1)
    for number in range(4, 8):
        await rig.send("one", f"more {number}")
        await rig.heard.ended(number)
    await rig.store.create(reservation("reserved"))
    glimpse = peek(_file(tmp_path), tmp_path, session_id="ses-one", item_limit=3, session_limit=2)
    assert glimpse.code == ""
    assert [session.id for session in glimpse.sessions] == ["ses-one", "ses-three"]
    assert glimpse.session is not None and glimpse.session.title == "question one"
    assert [item.text for item in glimpse.items] == ["ok", "more 7", "ok"]
    assert glimpse.turns[-1].state is TurnState.COMPLETED
    whole = peek(_file(tmp_path), tmp_path, session_id="ses-one")
    assert list(whole.items) == await rig.items()
    assert list(whole.turns) == await rig.store.turns("ses-one")
    assert list(whole.sessions) == await rig.store.list()


async def test_a_dead_turn_is_shown_as_recovery_will_settle_it(tmp_path: Path, clock: FakeClock) -> None:
    rig = await Rig.make(tmp_path, clock)
    rig.host.scripts = [[TextDelta("partial"), Hold(asyncio.Event())]]
    await rig.send()
    await rig.heard.text("partial")
    alive = peek(_file(tmp_path), tmp_path, session_id="ses-one")
    assert (alive.items[-1].state, alive.turns[-1].state) == ("streaming", TurnState.RUNNING)
    await rig.die()
    before = hashlib.sha256(_file(tmp_path).read_bytes()).digest()
    dead = peek(_file(tmp_path), tmp_path, session_id="ses-one")
    assert (dead.items[-1].state, dead.items[-1].text) == ("interrupted", "partial")
    assert (dead.turns[-1].state, dead.turns[-1].error_code) == (TurnState.INTERRUPTED, "process_ended")
    assert dead.session is not None and dead.session.turn_state is TurnState.INTERRUPTED
    assert hashlib.sha256(_file(tmp_path).read_bytes()).digest() == before


async def test_a_conversation_that_is_not_open_is_not_shown(rig: Rig, tmp_path: Path) -> None:
    await rig.send()
    await rig.heard.ended()
    await rig.by_hand("UPDATE sessions SET presence = 'trashed'")
    assert peek(_file(tmp_path), tmp_path, session_id="ses-one") == Glimpse("")


def test_a_missing_store_is_an_empty_glimpse(tmp_path: Path) -> None:
    assert peek(_file(tmp_path), tmp_path) == Glimpse("missing")
    assert not _file(tmp_path).exists()


def test_a_damaged_store_gives_its_code(tmp_path: Path) -> None:
    _file(tmp_path).write_bytes(b"this is not a database" * 100)
    assert peek(_file(tmp_path), tmp_path) == Glimpse("database_damaged")


async def test_a_later_version_gives_its_code_and_is_not_touched(rig: Rig, tmp_path: Path) -> None:
    await rig.by_hand("PRAGMA user_version = 99")
    assert peek(_file(tmp_path), tmp_path) == Glimpse("future_schema")
    await rig.by_hand("PRAGMA user_version = 1")


async def test_a_locked_store_gives_its_code_soon(rig: Rig, tmp_path: Path) -> None:
    await rig.send()
    await rig.heard.ended()
    await rig.controller.close()
    await rig.database.close()
    holder = apsw.Connection(str(_file(tmp_path)))
    holder.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    holder.execute("BEGIN EXCLUSIVE").fetchall()
    assert peek(_file(tmp_path), tmp_path).code == "database_locked"
    holder.close(True)
