"""The settings file: strict, replaced whole, refused untouched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.settings.model import Server, Settings
from runtime.settings.peek import peek_theme
from runtime.settings.store import SettingsStore

BOX = Server(id="box", name="Box", base_url="http://127.0.0.1:11434/v1", models=("m",))


def load(path: Path) -> SettingsStore:
    def fail(error: BaseException) -> None:
        raise error

    return SettingsStore.load(path, fail)


def test_without_a_file_there_are_defaults_and_no_file_is_made(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    assert load(path).current == Settings() and not path.exists()


def test_an_update_is_on_the_disk_before_anyone_is_told(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    store = load(path)
    told: list[Settings] = []
    store.subscribe(lambda settings: told.append(load(path).current))
    changed = store.update(servers=(BOX,), theme="dark")
    assert told == [changed] == [store.current] and changed.server("box") == BOX and changed.server("x") is None
    assert path.stat().st_mode & 0o777 == 0o600
    assert peek_theme(path) == "dark"


def test_an_unchanged_update_tells_nobody(tmp_path: Path) -> None:
    store = load(tmp_path / "settings.json")
    told: list[Settings] = []
    store.subscribe(told.append)
    store.update(theme="system")
    assert told == []


def test_what_another_process_wrote_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    window, command_line = load(path), load(path)
    command_line.update(servers=(BOX,))
    assert window.update(theme="light") == Settings(servers=(BOX,), theme="light") == load(path).current


def test_settings_of_a_newer_version_are_refused_and_left_untouched(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"version": 2, "aura": "violet"}))
    before = path.read_bytes()
    with pytest.raises(EnvironmentFault) as caught:
        load(path)
    assert caught.value.code == "settings_from_newer"
    store = SettingsStore.defaults(path, caught.value, lambda error: None)
    assert store.current == Settings() and store.refusal is caught.value
    with pytest.raises(EnvironmentFault, match="settings_from_newer"):
        store.update(theme="dark")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"version": 1, "theme": "pink"}',
        '{"version": 1, "aura": 1}',
        '{"version": 1, "engine_idle_seconds": "5"}',
    ],
)
def test_a_damaged_file_is_refused_and_left_untouched(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(EnvironmentFault) as caught:
        load(path)
    assert caught.value.code == "settings_damaged" and path.read_text() == text
    assert peek_theme(path) == "system"


@pytest.mark.parametrize("changes", [
    {"theme": "pink"}, {"engine_idle_seconds": -1}, {"aura": 1}, {"servers": (BOX, BOX)},
    {"servers": ({"id": "local", "name": "x", "base_url": "http://x"},)},
    {"servers": ({"id": "Box:1", "name": "x", "base_url": "http://x"},)},
    {"servers": ({"id": "x", "name": "x", "base_url": "file:///etc/passwd"},)},
    {"servers": ({"id": "x", "name": "x", "base_url": "http://me:secret@x/v1"},)},
])  # fmt: skip
def test_an_invalid_change_is_rejected_and_changes_nothing(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = tmp_path / "settings.json"
    store = load(path)
    with pytest.raises(RejectedFault) as caught:
        store.update(**changes)
    assert caught.value.code == "setting_invalid" and store.current == Settings() and not path.exists()
    assert "secret" not in str(caught.value)


def test_the_address_loses_its_last_slash() -> None:
    assert Server(id="x", name="x", base_url="http://x/v1/").base_url == "http://x/v1"
