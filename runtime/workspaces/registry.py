"""The workspaces a person has opened, plus the global one that always exists."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import apsw

from runtime.base import failpoints
from runtime.base.clock import Clock
from runtime.base.errors import RejectedFault
from runtime.base.handover import Place
from runtime.storage.database import Database
from runtime.workspaces.identity import resolved, workspace_id_for

GLOBAL: Final = Place("global", "global", "")
REGISTER = failpoints.step("workspaces.register", "the workspace is registered once or not at all")


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace as the tree shows it. ``name`` is unique among those listed together where paths allow it."""

    place: Place
    name: str
    available: bool


class WorkspaceRegistry:
    """Knows folders by their resolved identity: one folder reached by two paths is one workspace."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def open_folder(self, path: Path) -> Place:
        """Register the folder (once) and return its place.

        Raises :class:`RejectedFault` ``workspace_unavailable`` if it is not a folder that can be entered.
        """
        now = self._clock.now_ms()

        def body(connection: apsw.Connection) -> Place:
            place = place_of(path)
            if not _is_usable(place.root):
                raise RejectedFault("workspace_unavailable")
            return register(connection, place, now)

        return await self._database.run(REGISTER, body)

    async def list(self) -> list[Workspace]:
        """The global workspace first, then folders by name; a folder that is gone is listed as unavailable.

        The disk is asked in the database's worker: a slow mount delays the answer, never the window.
        """
        return await self._database.read(_listed)

    async def check(self, place: Place) -> None:
        """Raises :class:`RejectedFault` ``workspace_unavailable`` if the folder of ``place`` is gone."""
        if place.scope == "project" and not await self._database.read(lambda _: _is_usable(place.root)):
            raise RejectedFault("workspace_unavailable")


def place_of(path: Path) -> Place:
    """The place that ``path`` stands for, registered or not."""
    root = resolved(path)
    return Place(workspace_id_for(root), "project", root)


def register(connection: apsw.Connection, place: Place, now: int) -> Place:
    """Make sure ``place`` has its row; returns the place as first registered. Part of a caller's transaction."""
    connection.execute(
        "INSERT INTO workspaces (id, scope, root, name, created_at) VALUES (?,?,?,?,?) ON CONFLICT (id) DO NOTHING",
        (place.workspace_id, place.scope, place.root, Path(place.root).name or place.root, now),
    ).fetchall()
    row = connection.execute("SELECT id, scope, root FROM workspaces WHERE id = ?", (place.workspace_id,)).fetchone()
    return Place(*cast("tuple[Any, ...]", row)) if row is not None else place


def _listed(connection: apsw.Connection) -> list[Workspace]:
    rows = cast(
        "list[tuple[str, str, str]]",
        connection.execute("SELECT id, root, name FROM workspaces WHERE scope = 'project'").fetchall(),
    )
    places = [Place(identity, "project", root) for identity, root, _name in rows]
    names = _distinguished([(name, root) for _identity, root, name in rows])
    folders = [Workspace(place, name, _is_usable(place.root)) for place, name in zip(places, names, strict=True)]
    return [Workspace(GLOBAL, "", True), *sorted(folders, key=lambda item: (item.name.casefold(), item.place.root))]


def _distinguished(folders: list[tuple[str, str]]) -> list[str]:
    """Names of (name, root) pairs; equal ones get as many parent folders as it takes to tell them apart."""
    labels = [name for name, _root in folders]
    for depth in range(1, 1 + max((len(Path(root).parts) for _name, root in folders), default=0)):
        seen = Counter(label.casefold() for label in labels)
        if max(seen.values(), default=0) < 2:
            break
        for index, (name, root) in enumerate(folders):
            if seen[labels[index].casefold()] > 1:
                parents = Path(root).parent.parts[-depth:]
                labels[index] = f"{name} ({os.path.join(*parents)})" if parents else name
    return labels


def _is_usable(root: str) -> bool:
    return os.path.isdir(root) and os.access(root, os.R_OK | os.X_OK)
