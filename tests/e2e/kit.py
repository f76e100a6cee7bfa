"""What the end-to-end tests ask of a running program: its text, its journal, its turns, its child processes."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import apsw

from app.boot_reader import read
from drafts.replay import read_log
from runtime.base.folder import DataFolder
from tests.fakes.display import Display
from tests.fakes.program import Program, rows, wait_for

LIVE = ("admitted", "starting", "running", "awaiting_approval", "interrupting")

_ENDED = ("completed", "cancelled")


class Person:
    """Someone in front of the window, and what lies in the data folder meanwhile."""

    def __init__(self, display: Display, folder: DataFolder, program: Program) -> None:
        self.display = display
        self.folder = folder
        self.program = program

    def type(self, text: str, delay_ms: int = 5) -> None:
        self.display.run("xdotool", "type", "--delay", str(delay_ms), "--", text, timeout=120)

    def send(self, text: str) -> None:
        """Type, wait until it is saved, press Return."""
        self.type(text)
        self.wait_saved(text)
        self.display.key("Return")

    def wait_saved(self, text: str, seconds: float = 30) -> None:
        try:
            wait_for(lambda: text in active_texts(self.folder), f"a saved draft of {len(text)} characters", seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}; there is {active_texts(self.folder)}") from error

    def wait_turns(self, *states: str, seconds: float = 60) -> None:
        """Until the turns, oldest first, are in these states."""
        try:
            wait_for(lambda: turn_states(self.folder) == list(states), f"turns {states}", seconds)
        except AssertionError as error:
            answered = [f"{len(text)} characters, at the end {text[-60:]!r}" for text in answers(self.folder)]
            raise AssertionError(f"{error}; there is {turn_states(self.folder)}, {answered}") from error

    def read_answer(self, number: int) -> None:
        """Wait for the text of answer ``number``, and for its end; the tiny model may ramble, then Escape stops it."""
        wait_for(
            lambda: len(answers(self.folder)) == number and bool(answers(self.folder)[-1].strip()), "an answer", 90
        )
        try:
            wait_for(lambda: turn_states(self.folder)[-1] in _ENDED, "the end of the answer", 20)
        except AssertionError:
            self.display.key("Escape")
            wait_for(lambda: turn_states(self.folder)[-1] in _ENDED, "the end of a stopped answer", 30)

    def wait_written(self, text: str) -> None:
        """Until the journal holds ``text`` (painted or not): nothing is painted before it is written."""
        wait_for(lambda: journaled(self.folder).endswith(text), f"{len(text)} characters in the journal", 30)

    def leave(self) -> int:
        """Ctrl+Q; its key is read after all that were typed before. The exit status."""
        self.display.key("ctrl+q")
        return self.program.process.wait(timeout=60)

    def children(self) -> list[int]:
        return descendants(self.program.process.pid)


def active_texts(folder: DataFolder) -> list[str]:
    found = rows(folder.drafts_database, "SELECT content_json FROM drafts WHERE status = 'active' ORDER BY created_at")
    return [str(json.loads(str(content))["text"]) for (content,) in found]


def painted_text(folder: DataFolder) -> str:
    """What the composer shows in the first paint of the next start; reads, writes nothing."""
    draft = read(folder, restore=True).drafts.draft
    return draft.text if draft is not None else ""


def journaled(folder: DataFolder) -> str:
    """What was typed and is in no row yet, in the order of the keys."""
    typed: list[tuple[int, str]] = []
    for path in folder.draft_journal.glob("*.log"):
        typed += [(seq, edit.inserted) for chain in read_log(path).chains for seq, edit in chain.edits]
    return "".join(text for _seq, text in sorted(typed))


def turn_states(folder: DataFolder) -> list[str]:
    return [str(state) for (state,) in rows(folder.state_database, "SELECT state FROM turns ORDER BY rowid")]


def answers(folder: DataFolder) -> list[str]:
    """The text of each answer with what is still in chunks."""
    found = rows(
        folder.state_database,
        "SELECT i.text || coalesce((SELECT group_concat(text, '') FROM (SELECT text FROM item_chunks "
        "WHERE item_id = i.id ORDER BY start)), '') FROM items AS i WHERE i.kind = 'assistant' ORDER BY i.rowid",
    )
    return [str(text) for (text,) in found]


def counts(folder: DataFolder) -> dict[str, int]:
    """How many operations, receipts, turns and conversations there are."""
    tables = {"operations": folder.drafts_database, "receipts": folder.state_database,
              "turns": folder.state_database, "sessions": folder.state_database}  # fmt: skip
    return {table: int(str(rows(path, f"SELECT count(*) FROM {table}")[0][0])) for table, path in tables.items()}


@contextlib.contextmanager
def write_lock(database: Path) -> Iterator[None]:
    """Hold the write lock of a database as another process would."""
    connection = apsw.Connection(os.fspath(database))
    connection.set_busy_timeout(10_000)
    connection.execute("BEGIN IMMEDIATE").fetchall()
    try:
        yield
    finally:
        connection.execute("ROLLBACK").fetchall()
        connection.close()


def descendants(pid: int) -> list[int]:
    """Children of a process and theirs, as the kernel lists them."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for known in found:
        found += [child for child, parent in parents.items() if parent == known]
    return found[1:]


def alive(pids: list[int]) -> list[int]:
    """Those that still run; a zombie does not."""
    found: list[int] = []
    for pid in pids:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.append(pid)
    return found


def wait_gone(pids: list[int]) -> None:
    wait_for(lambda: alive(pids) == [], "the end of the child processes", 20)
