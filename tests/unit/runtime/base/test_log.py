"""Logs hold ids, codes and durations, never what a person wrote (spec/drafts.md section 11)."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.base import log
from runtime.base.errors import EnvironmentFault, RejectedFault

pytestmark = pytest.mark.logs_warnings
SECRET_TEXT = "my diary entry"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    stop = log.configure(tmp_path)
    yield tmp_path
    stop()


def _lines(folder: Path, name: str = "inkfast") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"{name}.log").read_text(encoding="utf-8").splitlines()]


def test_known_fields_are_written_as_json(folder: Path) -> None:
    logging.getLogger("drafts.store").info("saved", extra={"draft": "drf-1", "ms": 1.5, "count": 3})
    (line,) = _lines(folder)
    assert (line["message"], line["draft"], line["ms"], line["count"]) == ("saved", "drf-1", 1.5, 3)
    assert line["level"] == "INFO"
    assert line["time"].endswith("+00:00")


def test_counts_may_be_given_as_words_with_numbers(folder: Path) -> None:
    counts = {"resumed": 2, SECRET_TEXT: 1, "title": SECRET_TEXT}
    logging.getLogger("drafts.recovery").info("reconciled", extra={"counts": counts})
    (line,) = _lines(folder)
    assert line["counts"] == {"resumed": 2, "[dropped]": 1}


def test_arguments_and_unknown_fields_never_reach_the_file(folder: Path) -> None:
    logger = logging.getLogger("drafts.store")
    logger.info("saved %s", SECRET_TEXT, extra={"text": SECRET_TEXT, "title": SECRET_TEXT})
    logger.info("saved", extra={"draft": SECRET_TEXT, "code": "sk-" + "Ab3dEf6hIj9kLm2nOp5q"})
    assert SECRET_TEXT not in (folder / "inkfast.log").read_text(encoding="utf-8")
    assert [line.get("draft") for line in _lines(folder)] == [None, "[dropped]"]
    assert _lines(folder)[1]["code"] == "[dropped]"


def test_messages_of_other_packages_are_replaced_by_their_place(folder: Path) -> None:
    logging.getLogger("somelibrary.http").warning(f"request failed: {SECRET_TEXT}")  # noqa: G004 - as libraries do
    (line,) = _lines(folder)
    assert "message" not in line
    assert line["at"].startswith("test_log:")


def test_an_exception_is_written_without_its_text(folder: Path) -> None:
    try:
        try:
            raise OSError(28, SECRET_TEXT)
        except OSError as error:
            raise EnvironmentFault("disk_full", SECRET_TEXT) from error
    except EnvironmentFault:
        logging.getLogger("drafts.store").exception("save failed")
    (line,) = _lines(folder)
    assert SECRET_TEXT not in json.dumps(line)
    assert line["error"]["code"] == "disk_full"
    assert line["error"]["cause"]["errno"] == 28
    assert line["error"]["places"][0].startswith("test_log.py:")


@pytest.mark.skipif(os.name == "nt", reason="modes are a POSIX matter")
def test_the_file_is_private_also_after_rotation(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger("runtime.base")
    for number in range(12_000):
        logger.info("a line of some length to fill the file soon enough", extra={"count": number})
    files = sorted(path for path in folder.iterdir() if path.name.startswith("inkfast.log"))
    assert len(files) >= 2
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_a_log_that_cannot_be_opened_never_stops_the_program(tmp_path: Path) -> None:
    stop = log.configure(tmp_path / "missing")
    logging.getLogger("runtime.base").info("goes nowhere")
    stop()
    assert not (tmp_path / "missing").exists()


def test_a_log_that_cannot_be_written_never_stops_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    (tmp_path / "inkfast.log").symlink_to(full)
    stop = log.configure(tmp_path)
    logging.getLogger("runtime.base").warning("goes nowhere")
    stop()
    assert capsys.readouterr().err == ""


def test_stopping_gives_the_root_logger_back(tmp_path: Path) -> None:
    before = (logging.getLogger().level, list(logging.getLogger().handlers))
    log.configure(tmp_path)()
    assert (logging.getLogger().level, list(logging.getLogger().handlers)) == before


def test_a_rejected_fault_shows_its_code_only(folder: Path) -> None:
    logging.getLogger("drafts.store").info("refused", exc_info=RejectedFault("empty_draft", SECRET_TEXT))
    (line,) = _lines(folder)
    assert line["error"] == {"type": "RejectedFault", "code": "empty_draft", "places": []}
