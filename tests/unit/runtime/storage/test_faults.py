"""A disk that fails at any one operation: nothing confirmed is lost, nothing is half there (spec/quality.md)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runtime.base.errors import EnvironmentFault
from runtime.storage import opening
from runtime.storage.database import Database
from tests.fakes.clock import settle
from tests.fakes.faulty_vfs import FaultyVFS
from tests.unit.runtime.storage.notes import V1, V2, add, look, texts

CODES = {"io_error", "disk_full", "cannot_open", "read_only", "database_damaged"}
Arm = Callable[[FaultyVFS, int], None]
KINDS: dict[str, Arm] = {
    "one EIO": lambda vfs, n: vfs.arm(n),
    "EIO from then on": lambda vfs, n: vfs.arm(n, lasting=True),
    "one torn write": lambda vfs, n: vfs.arm(n, torn=100),
    "disk full from then on": lambda vfs, n: vfs.arm(n, full=True, lasting=True),
}
ROUNDS = 400
HOLD = """
import apsw, sys
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE").fetchall()
print("held", flush=True)
sys.stdin.read()
"""
AS_NOBODY = """
import asyncio, os, sys
from pathlib import Path
from runtime.base.errors import EnvironmentFault
from runtime.storage.atomic import write_atomic
from runtime.storage.blobs import BlobStore
from runtime.storage.database import Database
from tests.unit.runtime.storage.notes import V1

folder = Path(sys.argv[1])
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)

async def main():
    for attempt in (
        lambda: Database.open(folder / "new.sqlite", V1),
        lambda: Database.open(folder / "notes.sqlite", V1),
    ):
        try:
            database = await attempt()
            await database.close()
            print("opened")
        except EnvironmentFault as fault:
            print(fault.code)
    for write in (lambda: write_atomic(folder / "settings.json", b"new"), lambda: BlobStore(folder).put(b"new")):
        try:
            write()
            print("wrote")
        except EnvironmentFault as fault:
            print(fault.code)

asyncio.run(main())
"""


@pytest.fixture
def vfs() -> Iterator[FaultyVFS]:
    made = FaultyVFS("faulty")
    yield made
    made.unregister()


async def _round(path: Path, log: tuple[list[str], list[str]]) -> None:
    confirmed, tried = log
    database = await Database.open(path, V2, vfs="faulty")
    try:
        for text in ("one", "two" * 3000, "three"):
            tried.append(text)
            try:
                await add(database, text)
            except EnvironmentFault as fault:
                assert fault.code in CODES
            else:
                confirmed.append(text)
    finally:
        await database.close()


def _is_subsequence(short: list[str], long: list[str]) -> bool:
    rest = iter(long)
    return all(text in rest for text in short)


@pytest.mark.parametrize("old", [False, True], ids=["new file", "old file"])
@pytest.mark.parametrize("kind", KINDS)
async def test_whichever_operation_fails_nothing_confirmed_is_lost(
    tmp_path: Path, vfs: FaultyVFS, kind: str, old: bool
) -> None:
    failures = 0
    for number in range(1, ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "notes.sqlite"
        before: list[str] = []
        if old:
            database = await Database.open(path, V1)
            await add(database, "zero")
            await database.close()
            before = ["zero"]
        KINDS[kind](vfs, number)
        log: tuple[list[str], list[str]] = ([], [])
        try:
            await _round(path, log)
        except EnvironmentFault as fault:
            assert fault.code in CODES
        failed = bool(vfs.failed)
        vfs.disarm()
        integrity, version, stored = look(path)
        assert integrity == "ok", f"operation {number}"
        assert version in {int(old), 2}
        confirmed, tried = log
        assert _is_subsequence(before + confirmed, stored), f"operation {number}: confirmed is gone"
        assert _is_subsequence(stored, before + tried), f"operation {number}: something else appeared"
        if not failed:
            break
        failures += 1
        reopened = await Database.open(path, V2)
        await add(reopened, "after the fault")
        await reopened.close()
        assert look(path)[2][-1] == "after the fault"
    else:
        pytest.fail("the scenario has more operations than rounds")
    assert failures > 10


async def test_the_layer_really_fails(tmp_path: Path, vfs: FaultyVFS) -> None:
    database = await Database.open(tmp_path / "notes.sqlite", V1, vfs="faulty")
    vfs.arm(1)
    with pytest.raises(EnvironmentFault) as caught:
        await add(database, "lost")
    assert caught.value.code == "io_error"
    vfs.arm(1, full=True)
    with pytest.raises(EnvironmentFault) as caught:
        await add(database, "lost")
    assert caught.value.code == "disk_full"
    vfs.disarm()
    await add(database, "kept")
    assert await database.read(texts) == ["kept"]
    await database.close()


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[Callable[[Path], subprocess.Popen[str]]]:
    children: list[subprocess.Popen[str]] = []

    def start(path: Path) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        children.append(child)
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        return child

    yield start
    for child in children:
        child.kill()
        child.communicate()


async def test_L06_a_lock_held_by_another_process_is_a_fault_that_passes(
    tmp_path: Path, holder: Callable[[Path], subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.storage.database.BUSY_TIMEOUT_MS", 100)
    database = await Database.open(tmp_path / "notes.sqlite", V1)
    child = holder(database.path)
    with pytest.raises(EnvironmentFault) as caught:
        await add(database, "while locked")
    assert caught.value.code == "database_locked"
    assert await database.read(texts) == []
    child.communicate("")
    await add(database, "afterwards")
    assert await database.read(texts) == ["afterwards"]
    await database.close()


async def _let_go(child: subprocess.Popen[str]) -> None:
    """After the writer has run into the lock: everything that is ready on the loop runs first."""
    await settle()
    child.communicate("")


async def test_L06_a_lock_held_shortly_is_waited_for(
    tmp_path: Path, holder: Callable[[Path], subprocess.Popen[str]]
) -> None:
    assert opening.BUSY_TIMEOUT_MS == 5_000
    database = await Database.open(tmp_path / "notes.sqlite", V1)
    child = holder(database.path)
    await asyncio.gather(add(database, "waited"), _let_go(child))
    assert await database.read(texts) == ["waited"]
    await database.close()


@pytest.mark.skipif(os.name == "nt", reason="modes are a POSIX matter")
async def test_a_read_only_folder_is_said_to_be_one(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    root = tmp_path_factory.getbasetemp()
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "settings.json").write_bytes(b"old")
    database = await Database.open(folder / "notes.sqlite", V1)
    await database.close()
    for parent in (root.parent, root, tmp_path):
        parent.chmod(0o755)
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(folder)], capture_output=True, text=True, check=False, timeout=60
    )
    folder.chmod(0o755)
    codes = done.stdout.split()
    assert codes[0] == "read_only", done.stderr
    assert codes[1] in {"read_only", "cannot_open", "opened"}
    assert codes[2:] == ["read_only", "read_only"]
    assert (folder / "settings.json").read_bytes() == b"old"
