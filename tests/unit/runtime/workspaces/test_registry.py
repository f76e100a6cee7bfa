"""One folder is one workspace, by whatever path it is reached."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runtime.base.errors import RejectedFault
from runtime.sessions.schema import open_state
from runtime.storage.database import Database
from runtime.workspaces import identity
from runtime.workspaces.registry import GLOBAL, WorkspaceRegistry
from tests.fakes.clock import FakeClock


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = await open_state(tmp_path / "state-v1.sqlite")
    yield opened
    await opened.close()


@pytest.fixture
def registry(database: Database, clock: FakeClock) -> WorkspaceRegistry:
    return WorkspaceRegistry(database, clock)


def _folder(*parts: str | Path) -> Path:
    folder = Path(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


async def test_the_global_workspace_always_exists(registry: WorkspaceRegistry) -> None:
    [only] = await registry.list()
    assert (only.place, only.available) == (GLOBAL, True)
    await registry.check(GLOBAL)


async def test_links_relative_parts_and_repeats_lead_to_one_workspace(
    registry: WorkspaceRegistry, tmp_path: Path
) -> None:
    folder = _folder(tmp_path, "work", "api")
    (tmp_path / "link").symlink_to(folder)
    places = [
        await registry.open_folder(path)
        for path in (folder, tmp_path / "link", folder / ".." / "api", Path(os.path.relpath(folder)))
    ]
    assert len(set(places)) == 1
    assert places[0].root == os.path.realpath(folder)
    assert [workspace.name for workspace in await registry.list()] == ["", "api"]


async def test_what_is_not_a_folder_is_refused_and_not_registered(registry: WorkspaceRegistry, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for path in (file, tmp_path / "nowhere"):
        with pytest.raises(RejectedFault) as caught:
            await registry.open_folder(path)
        assert caught.value.code == "workspace_unavailable"
    assert len(await registry.list()) == 1


async def test_a_vanished_folder_stays_listed_as_unavailable(registry: WorkspaceRegistry, tmp_path: Path) -> None:
    folder = _folder(tmp_path, "gone")
    place = await registry.open_folder(folder)
    folder.rmdir()
    with pytest.raises(RejectedFault) as caught:
        await registry.check(place)
    assert caught.value.code == "workspace_unavailable"
    assert [workspace.available for workspace in await registry.list()] == [True, False]
    folder.mkdir()
    await registry.check(place)
    assert await registry.open_folder(folder) == place


async def test_equal_names_are_told_apart_by_their_parents(registry: WorkspaceRegistry, tmp_path: Path) -> None:
    for parts in (("a", "api"), ("b", "api"), ("x", "b", "api"), ("b", "web")):
        await registry.open_folder(_folder(tmp_path, *parts))
    names = [workspace.name for workspace in await registry.list()]
    assert names[1:] == [
        "api (a)",
        os.path.join("api (" + tmp_path.name, "b)"),
        os.path.join("api (x", "b)"),
        "web",
    ]


async def test_another_store_gives_the_same_folder_the_same_id(
    registry: WorkspaceRegistry, tmp_path: Path, clock: FakeClock
) -> None:
    folder = _folder(tmp_path, "project")
    place = await registry.open_folder(folder)
    other = await open_state(tmp_path / "other.sqlite")
    assert await WorkspaceRegistry(other, clock).open_folder(folder) == place
    await other.close()


def test_a_volume_that_ignores_case_makes_one_workspace_of_two_spellings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_ignores_case", lambda path: True)
    assert identity.workspace_id_for("/Projects/API") == identity.workspace_id_for("/projects/api")
    assert identity.workspace_id_for("/Projects/Cafe\u0301") == identity.workspace_id_for("/projects/caf\u00e9")
    monkeypatch.setattr(identity, "_ignores_case", lambda path: False)
    assert identity.workspace_id_for("/Projects/API") != identity.workspace_id_for("/projects/api")


def test_the_volume_itself_is_asked_about_case(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "Mixed")
    same = os.path.exists(tmp_path / "mIXED")
    assert identity._ignores_case(folder) is same
    assert identity._ignores_case(tmp_path / "missing") is False
