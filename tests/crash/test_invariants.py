"""The checks of ``invariants.py`` can fail: each one notices a violation that is planted in a sound folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from runtime.base.folder import DataFolder
from tests.crash.harness import ROOT
from tests.crash.invariants import check, dump

TEXT = "kept"
PLANTED = [
    ("drafts", 'UPDATE drafts SET content_json = \'{"text": "kep"}\'', "I1"),
    ("state", "DELETE FROM receipts", "I2"),
    ("drafts", "UPDATE operations SET phase = 'dispatch_unknown'", "I3"),
    ("drafts", "UPDATE drafts SET status = 'active'", "I3"),
    ("state", "UPDATE sessions SET presence = 'unbound'", "I3"),
    ("state", "UPDATE items SET text = 'other' WHERE kind = 'user'", "I3"),
    ("state", "UPDATE turns SET state = 'running', ended_at = NULL", "I4"),
    ("state", "UPDATE items SET state = 'streaming' WHERE kind = 'assistant'", "I4"),
    ("state", "UPDATE items SET seq = seq + 1 WHERE kind = 'assistant'", "I5"),
    ("state", "UPDATE sessions SET item_count = item_count + 1", "I5"),
    ("state", "UPDATE items SET turn_id = 'nobody' WHERE kind = 'assistant'", "I6"),
]


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> DataFolder:
    """A folder after one ordinary send."""
    folder = DataFolder(tmp_path_factory.mktemp("sent") / "data")
    command = [sys.executable, "-m", "app", "send", "--data-dir", os.fspath(folder.root), "--model", "scripted:fast"]
    subprocess.run([*command, TEXT], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, timeout=60)
    return folder


def test_a_sound_folder_passes(sent: DataFolder) -> None:
    check(sent, texts=[TEXT], dispatches=1)


def test_a_second_prompt_at_the_provider_is_noticed(sent: DataFolder) -> None:
    with pytest.raises(AssertionError, match="I2"):
        check(sent, texts=[TEXT], dispatches=2)


@pytest.mark.parametrize(("store", "violation", "invariant"), PLANTED)
def test_a_planted_violation_is_noticed(
    sent: DataFolder, tmp_path: Path, store: str, violation: str, invariant: str
) -> None:
    folder = DataFolder(tmp_path / "data")
    shutil.copytree(sent.root, folder.root)
    before = dump(folder)
    _plant(folder.drafts_database if store == "drafts" else folder.state_database, violation)
    assert dump(folder) != before
    with pytest.raises(AssertionError, match=invariant):
        check(folder, texts=[TEXT])


def _plant(database: Path, violation: str) -> None:
    """Around what the schema itself refuses: its triggers go first, foreign keys are off."""
    connection = apsw.Connection(os.fspath(database))
    try:
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            connection.execute(f"DROP TRIGGER {name}").fetchall()
        connection.execute(violation).fetchall()
    finally:
        connection.close()
