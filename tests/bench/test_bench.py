"""The benchmark runs and says what it measured. No time is asserted: figures are no tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import __main__ as bench
from tests.bench import saving
from tests.bench.conversations import full
from tests.fakes.program import rows


def test_one_round_of_b10_writes_table_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "SAVES_A_ROUND", 3)
    target = tmp_path / "bench" / "latest.json"
    assert bench.main(["--only", "B10", "--rounds", "1", "--output", str(target)]) == 0
    found = json.loads(target.read_text())
    assert {"cores", "python", "qt", "sqlite"} <= set(found["machine"])
    assert [(one["id"], one["rounds"]) for one in found["figures"]] == [("B10", 1)] * 6
    for one in found["figures"]:
        assert one["ours"] > 0 and one["yardstick"] > 0
        assert one["ratio"] == pytest.approx(one["ours"] / one["yardstick"])
        assert one["met"] is (one["ratio"] <= one["goal"])
    assert "confirmed save of 100 KB, p99" in capsys.readouterr().out


def test_the_generated_folder_holds_what_it_says(tmp_path: Path) -> None:
    made = full(tmp_path / "data", conversations=20, items=200)
    counts = rows(made.folder.state_database, "SELECT count(*), sum(item_count), sum(last_seq) FROM sessions")
    assert counts == [(20, 200, 200)]
    assert rows(made.folder.state_database, "SELECT count(*) FROM items") == [(made.items,)]
    assert rows(made.folder.state_database, "PRAGMA foreign_key_check") == []
    assert made.restored in str(rows(made.folder.drafts_database, "SELECT surface_json FROM restore_state"))
