"""Typing in the real window against kills, locks and a provider that is down."""

from __future__ import annotations

import os
import random
import socket
import string
import time
from pathlib import Path

import pytest

from runtime.base.folder import DataFolder
from tests.crash.harness import damage
from tests.crash.invariants import check
from tests.e2e.conftest import Start
from tests.e2e.kit import active_texts, counts, descendants, journaled, painted_text, turn_states, write_lock
from tests.fakes.program import Program, rows, wait_for
from tests.fakes.provider_process import choose_server

REPEATS = int(os.environ.get("INKFAST_TEST_REPEATS", "10"))
"""How often S18 starts the program; 100 is the full case."""
LOCK_SECONDS = 8.0
pytestmark = pytest.mark.xvfb


def _letters(count: int, seed: int) -> str:
    """Words of seven letters: a swapped or doubled key would show."""
    choose = random.Random(seed)
    return "".join(" " if index % 8 == 7 else choose.choice(string.ascii_lowercase) for index in range(count))


def test_D04_a_long_prompt_survives_kills(start: Start, folder: DataFolder) -> None:
    long, tail, last = _letters(4000, 1), _letters(100, 2), _letters(100, 3)
    person = start()
    person.type(long, delay_ms=1)
    person.wait_saved(long)
    person.program.kill()
    assert painted_text(folder) == long

    person = start()
    assert active_texts(folder) == [long]
    with write_lock(folder.drafts_database):  # nothing of the tail can be committed before the kill
        person.type(tail, delay_ms=1)
        person.wait_written(tail)
        person.program.kill()
    assert active_texts(folder) == [long]
    assert painted_text(folder) == long + tail

    person = start()
    assert active_texts(folder) == [long + tail]
    person.type(last, delay_ms=1)
    seen = max(active_texts(folder)[0] + journaled(folder), long + tail, key=len)
    person.program.kill()
    found = painted_text(folder)
    assert (long + tail + last).startswith(found) and len(found) >= min(len(seen), len(long + tail + last))
    assert damage(folder.drafts_database) == []

    assert start().leave() == 0
    assert active_texts(folder) == [found]
    check(folder, texts=[found])


def test_L06_text_typed_under_a_foreign_lock_is_saved_after_it(start: Start, folder: DataFolder) -> None:
    before, meanwhile = _letters(40, 4), ""
    person = start()
    person.type(before)
    person.wait_saved(before)
    with write_lock(folder.drafts_database):
        locked_until = time.monotonic() + LOCK_SECONDS
        while time.monotonic() < locked_until:
            piece = _letters(20, len(meanwhile))
            person.type(piece, delay_ms=40)
            meanwhile += piece
        person.wait_written(meanwhile)
        assert active_texts(folder) == [before]
    person.wait_saved(before + meanwhile, seconds=60)
    assert 1 <= _open_descriptors(person.program, folder.drafts_database) <= 4
    assert person.leave() == 0
    check(folder, texts=[before + meanwhile])


def _open_descriptors(program: Program, path: Path) -> int:
    descriptors = Path(f"/proc/{program.process.pid}/fd").iterdir()
    return [os.readlink(one) for one in descriptors].count(os.fspath(path))


def test_S18_starts_and_new_make_no_phantoms(start: Start, folder: DataFolder) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    choose_server(folder.settings, port)  # nobody listens there any more
    for number in range(REPEATS):
        person = start()
        person.display.run("xdotool", "key", "--delay", "1", *["ctrl+n"] * REPEATS)
        if number:
            person.type("x")
        assert descendants(person.program.process.pid) == [], "a draft needs no agent and no engine"
        if number % 2:
            person.wait_saved("x" * number)
            person.program.kill()
        else:
            assert person.leave() == 0
        assert counts(folder) == {"operations": 0, "receipts": 0, "turns": 0, "sessions": 0}
        assert len(rows(folder.drafts_database, "SELECT id FROM drafts")) <= 1
    assert painted_text(folder) == "x" * (REPEATS - 1)


def test_S06_finished_turns_are_there_after_a_kill(start: Start, folder: DataFolder) -> None:
    folder.root.mkdir(mode=0o700)
    folder.settings.write_text('{"version": 1, "default_model": "scripted:fast"}', encoding="utf-8")
    person = start()
    for number in range(3):
        person.send(f"question {number}")
        person.wait_turns(*["completed"] * (number + 1))
    wait_for(lambda: not any("question" in text for text in active_texts(folder)), "the last follow-up is cleared")
    before = rows(folder.state_database, "SELECT seq, kind, state, text FROM items ORDER BY seq")
    person.program.kill()
    assert start().leave() == 0
    assert turn_states(folder) == ["completed"] * 3
    assert rows(folder.state_database, "SELECT seq, kind, state, text FROM items ORDER BY seq") == before
    assert [text for _seq, kind, _state, text in before if kind == "user"] == [f"question {n}" for n in range(3)]
    check(folder, texts=["question 0"])
