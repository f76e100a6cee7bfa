"""From the key to the end of the turn, through the real program: killed at every failpoint on the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.base.folder import DataFolder
from tests.crash.harness import ROOT, rows
from tests.crash.invariants import check, draft_texts, reopened
from tests.fakes.provider_process import ProviderProcess, choose_server

TEXT = "né plan 👋\nsecond line\n"
WHEN = ("before_commit", "after_commit")


def _around(*steps: str, at: str = "") -> list[str]:
    return [f"{step}.{when}{at}" for step in steps for when in WHEN]


# Every failpoint that `inkfast send` passes, by what a kill there must leave behind. The second migration is the
# state store's; the first record of a journal says which draft it is, the second one holds the text.
NOTHING = [
    *_around("storage.migrate"), *_around("storage.migrate", at="@2"), *_around("journal.append"),
    "journal.append.before_commit@2",
]  # fmt: skip
DRAFT = [
    "journal.append.after_commit@2", *_around("drafts.insert", "journal.cut"), "operations.reserve.before_commit",
]  # fmt: skip
RESUMABLE = [
    "operations.reserve.after_commit",
    *_around("operations.starting", "sessions.create", "sessions.bind", "sessions.observe"),
    "operations.dispatching.before_commit",
]
UNKNOWN = ["operations.dispatching.after_commit", "submission.before_admit", "sessions.admit.before_commit"]
ACCEPTED = [
    "sessions.admit.after_commit", "submission.after_admit", "drafts.convert",
    *_around("operations.accept_convert", "turns.starting", "turns.running", "stream.batch", "turns.end"),
]  # fmt: skip
LATER_BATCHES = ["stream.batch.before_commit@2", "stream.batch.after_commit@2", "stream.batch.after_commit@5"]
OUTCOMES = {
    **dict.fromkeys(NOTHING, "nothing"), **dict.fromkeys(DRAFT, "draft"), **dict.fromkeys(RESUMABLE, "resume_required"),
    **dict.fromkeys(UNKNOWN, "dispatch_unknown"), **dict.fromkeys(ACCEPTED + LATER_BATCHES, "accepted"),
}  # fmt: skip
# The places where a prompt may have left the program, or must not have.
COUNTED = {
    "sessions.observe.after_commit": 0, "operations.dispatching.after_commit": 0, "submission.before_admit": 0,
    "sessions.admit.after_commit": 0, "turns.starting.before_commit": 0, "turns.starting.after_commit": 0,
    "turns.running.before_commit": 1, "turns.running.after_commit": 1, "stream.batch.after_commit@2": 1,
    "turns.end.before_commit": 1, "turns.end.after_commit": 1,
}  # fmt: skip


def _send(folder: DataFolder, model: str, failpoint: str, log: Path | None = None) -> subprocess.CompletedProcess[str]:
    """``inkfast send`` as a person runs it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INKFAST_")}
    environment["INKFAST_FAILPOINT"] = failpoint
    if log is not None:
        environment["INKFAST_FAILPOINT_LOG"] = os.fspath(log)
    command = [sys.executable, "-m", "app", "send", "--data-dir", os.fspath(folder.root), "--model", model, "--", TEXT]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)


def _killed(folder: DataFolder, model: str, failpoint: str) -> None:
    ended = _send(folder, model, failpoint)
    assert ended.returncode == -signal.SIGKILL, f"not killed at {failpoint}: {ended.returncode}\n{ended.stderr}"


def _outcome(folder: DataFolder) -> str:
    """Which one it is; two drafts or two operations are none of them."""
    phases = [phase for (phase,) in rows(folder.drafts_database, "SELECT phase FROM operations")]
    drafts = sum(draft_texts(folder).values())
    assert (drafts, len(phases)) in ((0, 0), (1, 0), (1, 1))
    return str(phases[0]) if phases else ("draft" if drafts else "nothing")


def _sound(folder: DataFolder, failpoint: str, dispatches: int | None) -> None:
    outcome = OUTCOMES[failpoint]
    check(folder, texts=[] if outcome == "nothing" else [TEXT], dispatches=dispatches)
    assert _outcome(folder) == outcome
    # Recovery neither adds a message nor lists a conversation that was not accepted.
    users = rows(folder.state_database, "SELECT count(*) FROM items WHERE kind = 'user'")
    listed = rows(folder.state_database, "SELECT count(*) FROM sessions WHERE accepted_at IS NOT NULL")
    assert users == listed == [(int(outcome == "accepted"),)]


@pytest.mark.parametrize("failpoint", OUTCOMES)
async def test_a_kill_between_key_and_answer_breaks_no_promise(data_folder: DataFolder, failpoint: str) -> None:
    # A word every 20 ms makes several batches.
    _killed(data_folder, "scripted:demo" if failpoint in LATER_BATCHES else "scripted:fast", failpoint)
    await reopened(data_folder)
    _sound(data_folder, failpoint, None)


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[ProviderProcess]:
    """Twenty words, 20 ms apart."""
    with ProviderProcess(tmp_path, "--tokens", "20", "--pause", "0.02") as process:
        yield process


@pytest.mark.parametrize(("failpoint", "posts"), COUNTED.items())
async def test_S04_a_provider_is_asked_once_or_not_at_all(
    data_folder: DataFolder, provider: ProviderProcess, failpoint: str, posts: int
) -> None:
    choose_server(data_folder.settings, provider.port)
    _killed(data_folder, "fake:fake-model", failpoint)
    asked = len(provider.posts())
    assert asked == posts
    await reopened(data_folder)
    assert len(provider.posts()) == asked, "recovery asked again"
    _sound(data_folder, failpoint, asked)


async def test_the_list_of_failpoints_is_the_path(data_folder: DataFolder, tmp_path: Path) -> None:
    log = tmp_path / "passed.log"
    assert _send(data_folder, "scripted:fast", "", log).returncode == 0
    assert set(log.read_text(encoding="utf-8").split()) == {name.partition("@")[0] for name in OUTCOMES}
    await reopened(data_folder)
    check(data_folder, texts=[TEXT])
