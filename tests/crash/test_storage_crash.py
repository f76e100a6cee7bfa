"""Replaced files, blobs and migrations after a SIGKILL: the old or the new, never a mixture."""

from __future__ import annotations

import json

import pytest

from runtime.base.folder import DataFolder
from runtime.storage.blobs import BlobStore
from tests.crash.harness import kill_at, run_to_end
from tests.crash.storage_scenarios import BLOB, NOTES
from tests.unit.runtime.storage.notes import look


@pytest.mark.parametrize(
    ("failpoint", "theme"),
    [
        ("storage.replace.before_commit", None),
        ("storage.replace.after_commit", "light"),
        ("storage.replace.before_commit@2", "light"),
        ("storage.replace.after_commit@2", "dark"),
    ],
)
def test_L02_settings_are_the_old_or_the_new_ones(data_folder: DataFolder, failpoint: str, theme: str | None) -> None:
    kill_at("storage_scenarios:change_settings", data_folder, failpoint)
    found = json.loads(data_folder.settings.read_bytes())["theme"] if data_folder.settings.exists() else None
    assert found == theme
    run_to_end("storage_scenarios:change_settings", data_folder)
    assert json.loads(data_folder.settings.read_bytes())["theme"] == "dark"


@pytest.mark.parametrize("where", ["before_commit", "after_commit"])
def test_a_blob_is_there_whole_or_not_at_all(data_folder: DataFolder, where: str) -> None:
    kill_at("storage_scenarios:keep_blob", data_folder, f"storage.publish_blob.{where}")
    ended = run_to_end("storage_scenarios:keep_blob", data_folder)
    assert len(set(ended.shown)) == 1
    assert BlobStore(data_folder.blobs).read(ended.last) == BLOB


@pytest.mark.parametrize(("where", "version"), [("before_commit", 1), ("after_commit", 2)])
def test_a_store_is_wholly_old_or_wholly_new(data_folder: DataFolder, where: str, version: int) -> None:
    run_to_end("storage_scenarios:make_notes", data_folder)
    kill_at("storage_scenarios:bring_up", data_folder, f"storage.migrate.{where}")
    assert look(data_folder.root / NOTES) == ("ok", version, ["kept since version 1"])
    run_to_end("storage_scenarios:bring_up", data_folder)
    assert look(data_folder.root / NOTES) == ("ok", 2, ["kept since version 1"])
