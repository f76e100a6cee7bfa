"""Leases are freed by the system with the process, never by time (spec/drafts.md, "Leases")."""

from __future__ import annotations

import asyncio
import fcntl
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.base.errors import EnvironmentFault
from runtime.storage.leases import LeaseBook
from runtime.storage.lockfiles import lease_path, looks_held
from tests.fakes.clock import FakeClock

HOLD = """
import sys
from pathlib import Path
from runtime.base.clock import SystemClock
from runtime.storage.leases import LeaseBook
from runtime.storage.lockfiles import lease_path, looks_held

lease = LeaseBook(Path(sys.argv[1]), SystemClock()).try_acquire("worker", "session-1")
print("held" if lease else "refused", flush=True)
sys.stdin.read()
"""


def _child(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _answer(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


@pytest.fixture
def leases(tmp_path: Path, clock: FakeClock) -> LeaseBook:
    return LeaseBook(tmp_path, clock)


def test_a_lease_is_exclusive_within_a_process(leases: LeaseBook) -> None:
    lease = leases.try_acquire("worker", "session-1")
    assert lease is not None
    assert leases.try_acquire("worker", "session-1") is None
    assert leases.is_held("worker", "session-1")
    lease.release()
    lease.release()
    assert not leases.is_held("worker", "session-1")
    again = leases.try_acquire("worker", "session-1")
    assert again is not None
    again.release()


def test_looking_never_makes_a_free_lease_look_held(tmp_path: Path, leases: LeaseBook) -> None:
    leases.try_acquire("worker", "session-1").release()  # type: ignore[union-attr]  # the lock file exists from now on
    path = lease_path(tmp_path, "worker", ("session-1",))
    with path.open("rb") as another_looker:
        fcntl.flock(another_looker, fcntl.LOCK_SH)
        assert not leases.is_held("worker", "session-1")
        assert not looks_held(tmp_path, "worker", "session-1")
    lease = leases.try_acquire("worker", "session-1")
    assert lease is not None
    assert looks_held(tmp_path, "worker", "session-1")
    lease.release()


def test_kinds_and_identities_do_not_meet(leases: LeaseBook) -> None:
    taken = [
        leases.try_acquire("worker", "a", "b"),
        leases.try_acquire("worker", "ab"),
        leases.try_acquire("publication", "a", "b"),
        leases.try_acquire("request", "a", "b"),
    ]
    assert None not in taken
    for lease in taken:
        if lease is not None:
            lease.release()


def test_a_kill_frees_the_lease_of_another_process(tmp_path: Path, leases: LeaseBook) -> None:
    child = _child(tmp_path)
    assert _answer(child) == "held"
    assert leases.try_acquire("worker", "session-1") is None
    assert leases.is_held("worker", "session-1")
    child.send_signal(signal.SIGKILL)
    child.communicate()
    lease = leases.try_acquire("worker", "session-1")
    assert lease is not None
    second = _child(tmp_path)
    assert _answer(second) == "refused"
    second.communicate("")
    lease.release()


async def test_waiting_ends_when_the_holder_lets_go(leases: LeaseBook, clock: FakeClock) -> None:
    lease = leases.try_acquire("publication", "operation-1")
    assert lease is not None
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(leases.acquire("publication", "operation-1", seconds=5))
        await clock.advance(1)
        assert not waiting.done()
        lease.release()
        await clock.advance(1)
        taken = waiting.result()
    assert taken is not None
    taken.release()


async def test_waiting_ends_with_none_after_its_time(leases: LeaseBook, clock: FakeClock) -> None:
    lease = leases.try_acquire("publication", "operation-1")
    assert lease is not None
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(leases.acquire("publication", "operation-1", seconds=5))
        await clock.advance(4.9)
        assert not waiting.done()
        await clock.advance(0.2)
        assert waiting.result() is None
    lease.release()


def test_a_lease_that_cannot_be_used_is_a_fault(tmp_path: Path, clock: FakeClock) -> None:
    (tmp_path / "a-file").write_bytes(b"")
    with pytest.raises(EnvironmentFault) as caught:
        LeaseBook(tmp_path / "a-file", clock).try_acquire("worker", "session-1")
    assert caught.value.code == "lease_unavailable"
    assert not LeaseBook(tmp_path / "missing", clock).is_held("worker", "session-1")


def test_lock_files_are_private_and_name_nothing(tmp_path: Path, leases: LeaseBook) -> None:
    lease = leases.try_acquire("owner", "process", "secret-name")
    assert lease is not None
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "secret-name" not in file.name
    assert b"secret-name" not in file.read_bytes()
    lease.release()


def test_files_of_what_comes_once_are_swept_and_held_ones_stay(tmp_path: Path, clock: FakeClock) -> None:
    book = LeaseBook(tmp_path, clock)
    for number in range(5):
        taken = book.try_acquire("request", "draft", str(number))
        assert taken is not None
        taken.release()
    worker = book.try_acquire("worker", "session")
    held = book.try_acquire("publication", "operation")
    assert held is not None and worker is not None
    worker.release()
    assert book.sweep(at_most=3) == 3
    assert book.sweep() == 2
    assert sorted(path.name.partition("-")[0] for path in tmp_path.iterdir()) == ["publication", "worker"]
    assert book.try_acquire("publication", "operation") is None
    held.release()
    again = book.try_acquire("request", "draft", "0")
    assert again is not None and book.is_held("request", "draft", "0")
    again.release()
