"""The layout of ``state-v1.sqlite``, schema v1, put together from the tables of each floor."""

from __future__ import annotations

from pathlib import Path

import apsw

from runtime.sessions import tables as session_tables
from runtime.storage.database import Database
from runtime.storage.schema import Schema
from runtime.workspaces import tables as workspace_tables


def _create(connection: apsw.Connection) -> None:
    for tables in (workspace_tables.TABLES, session_tables.TABLES):
        connection.execute(tables).fetchall()


SCHEMA = Schema(name="state", version=session_tables.VERSION, application_id=0x494E4B53, create=_create)


async def open_state(path: Path, *, vfs: str | None = None) -> Database:
    """Open or create the state store. Raises as :meth:`runtime.storage.database.Database.open`."""
    return await Database.open(path, SCHEMA, vfs=vfs)
