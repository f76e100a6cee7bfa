"""A tiny store for the storage tests: rows of text, in two layouts, and how to look at a file from outside."""

from __future__ import annotations

from pathlib import Path

import apsw

from runtime.base import failpoints
from runtime.storage.database import Database
from runtime.storage.schema import Migration, Schema

ADD = failpoints.step("tests.notes.add", "the note is there or not")


def _create_v1(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)").fetchall()


def _create_v2(connection: apsw.Connection) -> None:
    connection.execute(
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, size INTEGER NOT NULL DEFAULT 0)"
    ).fetchall()


def _add_size(connection: apsw.Connection) -> None:
    connection.execute("ALTER TABLE notes ADD COLUMN size INTEGER NOT NULL DEFAULT 0").fetchall()
    connection.execute("UPDATE notes SET size = length(text)").fetchall()


V1 = Schema("notes", 1, 0x1F0001, _create_v1)
V2 = Schema("notes", 2, 0x1F0001, _create_v2, (Migration(2, "add the size of a note", _add_size),))


async def add(database: Database, text: str) -> None:
    def body(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO notes (text) VALUES (?)", (text,)).fetchall()

    await database.run(ADD, body)


def texts(connection: apsw.Connection) -> list[str]:
    return [str(row[0]) for row in connection.execute("SELECT text FROM notes ORDER BY id")]


def look(path: Path) -> tuple[str, int, list[str]]:
    """(integrity, schema version, texts) through a connection of our own with the real file layer."""
    connection = apsw.Connection(str(path))
    try:
        integrity = str(connection.execute("PRAGMA integrity_check").get)
        version = int(connection.execute("PRAGMA user_version").get)
        tables = int(connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'notes'").get)
        return integrity, version, texts(connection) if tables else []
    finally:
        connection.close()


def frozen(folder: Path) -> dict[str, bytes]:
    """Every file but the shared-memory index, which a reader may touch."""
    return {
        path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and not path.name.endswith("-shm")
    }
