"""Keys: in the keyring where one works, else in a 0600 file, and the store says which."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from runtime.base.errors import EnvironmentFault
from runtime.settings.secrets import KEYCHAIN, SecretStore

ROOT = Path(__file__).parents[4]


def store(folder: Path, backend: str) -> SecretStore:
    environment = {
        **os.environ,
        "FAKE_KEYRING": str(folder / "keyring.json"),
        "PYTHON_KEYRING_BACKEND": backend,
        "PYTHONPATH": str(ROOT),
    }
    return SecretStore(folder / "secrets.json", KEYCHAIN, environment)


WORKING, LOCKED, NONE = (
    "tests.fakes.keyrings.FileKeyring",
    "tests.fakes.keyrings.LockedKeyring",
    "keyring.backends.fail.Keyring",
)


async def test_a_working_keyring_keeps_the_key_and_the_file_only_its_name(tmp_path: Path) -> None:
    secrets = store(tmp_path, WORKING)
    assert await secrets.set("box", "sk-1") == "keyring"
    assert "sk-1" not in (tmp_path / "secrets.json").read_text() and secrets.keeper("box") == "keyring"
    assert await store(tmp_path, WORKING).get("box") == "sk-1"
    await secrets.delete("box")
    assert await store(tmp_path, WORKING).get("box") == "" and secrets.keeper("box") is None
    assert json.loads((tmp_path / "keyring.json").read_text()) == {}


@pytest.mark.parametrize("backend", [NONE, LOCKED])
async def test_without_a_usable_keyring_the_key_is_in_a_file_that_only_the_person_can_read(
    tmp_path: Path, backend: str
) -> None:
    secrets = store(tmp_path, backend)
    assert await secrets.set("box", "sk-1") == "file"
    path = tmp_path / "secrets.json"
    assert path.stat().st_mode & 0o777 == 0o600 and secrets.keeper("box") == "file"
    assert await store(tmp_path, backend).get("box") == "sk-1"
    await secrets.delete("box")
    assert not path.exists() and await secrets.get("box") == ""


async def test_a_key_moves_into_a_keyring_that_works_again(tmp_path: Path) -> None:
    await store(tmp_path, NONE).set("box", "sk-1")
    assert await store(tmp_path, WORKING).set("box", "sk-2") == "keyring"
    assert "sk-1" not in (tmp_path / "secrets.json").read_text()


async def test_a_key_in_a_locked_keyring_is_a_fault_and_not_an_empty_key(tmp_path: Path) -> None:
    await store(tmp_path, WORKING).set("box", "sk-1")
    with pytest.raises(EnvironmentFault, match="keyring_unavailable"):
        await store(tmp_path, LOCKED).get("box")


async def test_asking_for_a_key_that_was_never_given_starts_nothing(tmp_path: Path) -> None:
    assert await SecretStore(tmp_path / "secrets.json", ("/absent",)).get("box") == ""


async def test_a_file_that_is_not_understood_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "secrets.json"
    path.write_text('{"version": 2}')
    with pytest.raises(EnvironmentFault, match="unknown version"):
        await store(tmp_path, NONE).set("box", "sk-1")
    assert path.read_text() == '{"version": 2}'


async def test_the_window_never_imports_the_keyring() -> None:
    assert KEYCHAIN[0] == sys.executable and "keyring" not in vars(sys.modules["runtime.settings.secrets"])
