"""A transaction is one function: whole or not at all, whatever happens to its caller (spec/drafts.md section 3)."""

from __future__ import annotations

import asyncio
import stat
import threading
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path

import apsw
import pytest

from runtime.base.errors import EnvironmentFault
from runtime.storage.database import Database
from runtime.storage.sqlite_version import refuse_old_sqlite
from tests.unit.runtime.storage.notes import ADD, V1, add, look, texts


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(tmp_path / "notes.sqlite", V1)
    yield opened
    await opened.close()


async def test_what_run_returned_is_committed(database: Database) -> None:
    await add(database, "one")
    assert await database.read(texts) == ["one"]
    assert look(database.path) == ("ok", 1, ["one"])


async def test_a_body_that_raises_leaves_nothing(database: Database) -> None:
    def body(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO notes (text) VALUES ('half')").fetchall()
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        await database.run(ADD, body)
    await add(database, "after")
    assert await database.read(texts) == ["after"]


@pytest.mark.parametrize("fails", [False, True])
async def test_a_cancelled_caller_leaves_a_whole_transaction(database: Database, fails: bool) -> None:
    entered, leave = threading.Event(), threading.Event()
    announced: list[str] = []

    def body(connection: apsw.Connection) -> str:
        connection.execute("INSERT INTO notes (text) VALUES ('first')").fetchall()
        entered.set()
        assert leave.wait(10)
        if fails:
            raise ValueError("after the caller has gone")
        connection.execute("INSERT INTO notes (text) VALUES ('second')").fetchall()
        return "done"

    async with asyncio.TaskGroup() as group:
        task = group.create_task(database.run(ADD, body, announced.append))
        while not entered.is_set():
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        leave.set()
    assert await database.read(texts) == ([] if fails else ["first", "second"])
    assert announced == ([] if fails else ["done"])


async def test_transactions_of_many_tasks_never_mix(database: Database) -> None:
    def write(name: str, fails: bool) -> Coroutine[object, object, None]:
        def body(connection: apsw.Connection) -> None:
            connection.execute("INSERT INTO notes (text) VALUES (?)", (name + "-a",)).fetchall()
            if fails:
                raise ValueError(name)
            connection.execute("INSERT INTO notes (text) VALUES (?)", (name + "-b",)).fetchall()

        return database.run(ADD, body)

    outcomes = await asyncio.gather(*(write(str(n), n % 3 == 0) for n in range(30)), return_exceptions=True)
    assert sum(isinstance(outcome, ValueError) for outcome in outcomes) == 10
    stored = await database.read(texts)
    assert stored == [f"{n}-{part}" for n in range(30) if n % 3 for part in "ab"]


async def test_a_read_sees_one_moment_and_must_not_write(database: Database) -> None:
    def body(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO notes (text) VALUES ('by a reader')").fetchall()

    with pytest.raises(RuntimeError, match="a read wrote"):
        await database.read(body)
    assert await database.read(texts) == []


async def test_foreign_keys_full_sync_and_secure_delete_are_on(database: Database) -> None:
    def pragmas(connection: apsw.Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        return [connection.execute(f"PRAGMA {name}").get for name in names]

    assert await database.read(pragmas) == ["wal", 2, 1, 1]


async def test_closing_waits_for_what_is_under_way_and_leaves_no_wal(tmp_path: Path) -> None:
    database = await Database.open(tmp_path / "notes.sqlite", V1)
    async with asyncio.TaskGroup() as group:
        writes = [group.create_task(add(database, str(number))) for number in range(20)]
        await asyncio.sleep(0)
        await database.close()
    assert all(write.done() for write in writes)
    await database.close()
    assert not (tmp_path / "notes.sqlite-wal").exists()
    assert look(database.path)[2] == [str(number) for number in range(20)]


async def test_files_are_private(database: Database) -> None:
    await add(database, "one")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in database.path.parent.iterdir()}
    assert modes == {"notes.sqlite": 0o600, "notes.sqlite-wal": 0o600, "notes.sqlite-shm": 0o600}


@pytest.mark.parametrize(
    "name", ["with space", "a#b", "a%20b", "question?", "文稿 草稿", "quote'\"", "émigré", "file:x"]
)
async def test_any_folder_name_works(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    database = await Database.open(folder / "drafts #1%.sqlite", V1)
    await add(database, name)
    await database.close()
    assert [path.name for path in folder.iterdir()] == ["drafts #1%.sqlite"]
    assert look(folder / "drafts #1%.sqlite") == ("ok", 1, [name])


async def test_a_symlinked_data_folder_works(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    database = await Database.open(tmp_path / "link" / "notes.sqlite", V1)
    await add(database, "through the link")
    await database.close()
    assert look(tmp_path / "real" / "notes.sqlite")[2] == ["through the link"]


async def test_L07_the_library_has_the_mended_wal_reset() -> None:
    refuse_old_sqlite()
    refuse_old_sqlite("3.51.3")
    refuse_old_sqlite("4.0.0")
    for old in ("3.40.1", "3.51.2", "3.7.17"):
        with pytest.raises(EnvironmentFault) as caught:
            refuse_old_sqlite(old)
        assert caught.value.code == "sqlite_too_old"
        assert caught.value.detail["found"] == old
