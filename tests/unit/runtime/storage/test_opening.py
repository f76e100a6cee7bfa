"""Look before writing: what is refused stays byte-identical, what is migrated is copied first."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from runtime.base.errors import EnvironmentFault
from runtime.storage.database import Database
from runtime.storage.schema import Migration, Schema
from tests.unit.runtime.storage.notes import V1, V2, add, frozen, look

HOT_WAL = """
import apsw, os, signal, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("PRAGMA journal_mode=WAL").fetchall()
connection.execute("PRAGMA wal_autocheckpoint=0").fetchall()
connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)").fetchall()
connection.execute("PRAGMA user_version=" + sys.argv[2]).fetchall()
connection.execute("INSERT INTO notes (text) VALUES ('from the future')").fetchall()
os.kill(os.getpid(), signal.SIGKILL)
"""
OPEN = """
import asyncio, sys
from pathlib import Path
from runtime.storage.database import Database
from tests.unit.runtime.storage.notes import V2, add

async def main():
    database = await Database.open(Path(sys.argv[1]), V2)
    await add(database, sys.argv[2])
    await database.close()

asyncio.run(main())
"""


def _plain(path: Path, version: int, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in (*statements, f"PRAGMA user_version={version}"):
        connection.execute(statement).fetchall()
    connection.close()


def _hot(path: Path, version: int) -> None:
    done = subprocess.run([sys.executable, "-c", HOT_WAL, str(path), str(version)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.with_name(path.name + "-wal").stat().st_size > 0


async def _refused(path: Path, schema: Schema, code: str) -> EnvironmentFault:
    before = frozen(path.parent)
    with pytest.raises(EnvironmentFault) as caught:
        await Database.open(path, schema)
    assert caught.value.code == code
    assert frozen(path.parent) == before
    return caught.value


async def test_L04_a_newer_file_is_refused_and_stays_byte_identical(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    _plain(path, 9, "CREATE TABLE notes (text)")
    fault = await _refused(path, V2, "future_schema")
    assert (fault.detail["found"], fault.detail["known"]) == (9, 2)


async def test_a_newer_file_with_a_hot_wal_stays_byte_identical_and_readable(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    _hot(path, 9)
    await _refused(path, V2, "future_schema")
    assert look(path) == ("ok", 9, ["from the future"])


async def test_a_file_without_a_version_but_with_tables_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    _plain(path, 0, "CREATE TABLE somebody_elses (text)")
    await _refused(path, V2, "unsupported_schema")


async def test_an_old_version_without_a_path_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    _plain(path, 1, "CREATE TABLE notes (text)")
    lonely = Schema("notes", 3, 1, V2.create, (Migration(3, "only the last step", V2.create),))
    await _refused(path, lonely, "unsupported_schema")


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be looked at" * 40, b"\0" * 8192])
async def test_a_damaged_file_is_refused_and_untouched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.sqlite"
    path.write_bytes(content)
    await _refused(path, V2, "database_damaged")


async def test_a_torn_header_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    _plain(path, 2, "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT, size INTEGER)")
    path.write_bytes(path.read_bytes()[:50])
    await _refused(path, V2, "database_damaged")


async def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.sqlite").mkdir()
    with pytest.raises(EnvironmentFault) as caught:
        await Database.open(tmp_path / "notes.sqlite", V2)
    assert caught.value.code == "io_error"


async def _old_file(path: Path) -> None:
    database = await Database.open(path, V1)
    await add(database, "written by version one")
    await database.close()


async def test_an_older_file_is_copied_then_migrated(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    await _old_file(path)
    database = await Database.open(path, V2)
    sizes = await database.read(lambda connection: connection.execute("SELECT size FROM notes").fetchall())
    await database.close()
    assert sizes == [(len("written by version one"),)]
    backup = tmp_path / "notes.sqlite.v1.backup"
    assert look(backup) == ("ok", 1, ["written by version one"])
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert sorted(file.name for file in tmp_path.iterdir()) == ["notes.sqlite", "notes.sqlite.v1.backup"]


async def test_an_older_file_with_a_hot_wal_is_copied_with_what_the_wal_holds(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    _hot(path, 1)
    await (await Database.open(path, V2)).close()
    assert look(tmp_path / "notes.sqlite.v1.backup") == ("ok", 1, ["from the future"])
    assert look(path) == ("ok", 2, ["from the future"])


async def test_an_existing_backup_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    await _old_file(path)
    backup = tmp_path / "notes.sqlite.v1.backup"
    backup.write_bytes(b"precious")
    await (await Database.open(path, V2)).close()
    assert backup.read_bytes() == b"precious"
    assert look(path)[1] == 2


async def test_a_migration_that_fails_leaves_the_old_version(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    await _old_file(path)

    def half(connection: apsw.Connection) -> None:
        connection.execute("ALTER TABLE notes ADD COLUMN extra TEXT").fetchall()
        raise ValueError("a bug in a migration")

    with pytest.raises(ValueError, match="a bug in a migration"):
        await Database.open(path, Schema("notes", 2, 1, V2.create, (Migration(2, "half", half),)))
    assert look(path) == ("ok", 1, ["written by version one"])
    await (await Database.open(path, V2)).close()
    assert look(path)[1] == 2


@pytest.mark.parametrize("point", ["storage.migrate.before_commit", "storage.migrate.after_commit"])
@pytest.mark.parametrize("old", [True, False])
async def test_a_kill_during_a_migration_leaves_one_version_whole(tmp_path: Path, point: str, old: bool) -> None:
    path = tmp_path / "notes.sqlite"
    if old:
        await _old_file(path)
    environment = {**os.environ, "INKFAST_FAILPOINT": point}
    killed = subprocess.run([sys.executable, "-c", OPEN, str(path), "never"], env=environment, check=False)
    assert killed.returncode == -signal.SIGKILL
    integrity, version, stored = look(path)
    assert integrity == "ok"
    assert version == (2 if point.endswith("after_commit") else int(old))
    assert stored == (["written by version one"] if old else [])
    await (await Database.open(path, V2)).close()
    assert look(path)[1] == 2


@pytest.mark.parametrize("old", [True, False])
async def test_many_processes_may_open_the_same_file_at_once(tmp_path: Path, old: bool) -> None:
    path = tmp_path / "notes.sqlite"
    if old:
        await _old_file(path)
    children = [
        subprocess.Popen([sys.executable, "-c", OPEN, str(path), str(number)], stderr=subprocess.PIPE, text=True)
        for number in range(6)
    ]
    errors = [child.communicate(timeout=60)[1] for child in children]
    assert [child.returncode for child in children] == [0] * 6, errors
    integrity, version, stored = look(path)
    assert (integrity, version) == ("ok", 2)
    assert sorted(stored[int(old) :]) == [str(number) for number in range(6)]


class _OvertakenSchema(Schema):
    """Another process moves the file to version 9 just after it was looked at."""

    def path_from(self, found: int) -> tuple[Migration, ...] | None:
        (path,) = Path(self.name).glob("*.sqlite")
        _plain(path, 9)
        return super().path_from(found)


async def test_a_file_that_became_newer_after_the_look_is_not_pulled_back(tmp_path: Path) -> None:
    path = tmp_path / "notes.sqlite"
    await _old_file(path)
    overtaken = _OvertakenSchema(str(tmp_path), 2, 1, V2.create, V2.migrations)
    with pytest.raises(EnvironmentFault) as caught:
        await Database.open(path, overtaken)
    assert caught.value.code == "future_schema"
    assert look(path) == ("ok", 9, ["written by version one"])
