"""Blobs are there whole and unchanged or not at all; nothing reaches outside through a link."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.storage.blobs import BlobStore

PUT = """
import sys
from pathlib import Path
from runtime.storage.blobs import BlobStore

BlobStore(Path(sys.argv[1])).put(b"content" * 1000)
"""
CONTENT = b"content" * 1000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "blobs"
    made.mkdir(mode=0o700)
    return made


@pytest.fixture
def blobs(folder: Path) -> BlobStore:
    return BlobStore(folder)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_bytes_come_back_by_their_digest(folder: Path, blobs: BlobStore) -> None:
    blob = blobs.put(CONTENT)
    assert (blob.digest, blob.size) == (DIGEST, len(CONTENT))
    assert blobs.read(DIGEST) == CONTENT
    (file,) = _files(folder)
    assert file.relative_to(folder).as_posix() == f"{DIGEST[:2]}/{DIGEST[2:]}"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_the_same_bytes_are_stored_once(folder: Path, blobs: BlobStore) -> None:
    blobs.put(CONTENT)
    inode = _files(folder)[0].stat().st_ino
    blobs.put(CONTENT)
    assert [file.stat().st_ino for file in _files(folder)] == [inode]


def test_a_damaged_blob_is_refused_and_mended_by_storing_it_again(folder: Path, blobs: BlobStore) -> None:
    blobs.put(CONTENT)
    _files(folder)[0].write_bytes(b"C" + CONTENT[1:])
    with pytest.raises(EnvironmentFault) as caught:
        blobs.read(DIGEST)
    assert caught.value.code == "blob_damaged"
    assert not blobs.holds(DIGEST)
    blobs.put(CONTENT)
    assert blobs.read(DIGEST) == CONTENT


def test_a_missing_blob_says_so(blobs: BlobStore) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        blobs.read(DIGEST)
    assert caught.value.code == "blob_missing"


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", DIGEST.upper(), DIGEST + "0", "/" * 64])
def test_a_digest_is_never_a_path(blobs: BlobStore, digest: str) -> None:
    with pytest.raises(RejectedFault) as caught:
        blobs.read(digest)
    assert caught.value.code == "bad_digest"


def test_a_planted_link_is_not_followed(folder: Path, blobs: BlobStore, tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(CONTENT)
    (folder / DIGEST[:2]).mkdir()
    (folder / DIGEST[:2] / DIGEST[2:]).symlink_to(tmp_path / "outside")
    assert not blobs.holds(DIGEST)
    blobs.put(CONTENT)
    assert not (folder / DIGEST[:2] / DIGEST[2:]).is_symlink()


def test_a_planted_folder_link_is_not_followed(folder: Path, blobs: BlobStore, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / DIGEST[2:]).write_bytes(CONTENT)
    (folder / DIGEST[:2]).symlink_to(tmp_path / "outside", target_is_directory=True)
    assert not blobs.holds(DIGEST)
    blobs.put(CONTENT)
    assert not (folder / DIGEST[:2]).is_symlink()
    assert blobs.read(DIGEST) == CONTENT


@pytest.mark.parametrize(
    ("point", "there"), [("storage.publish_blob.before_commit", False), ("storage.publish_blob.after_commit", True)]
)
def test_a_kill_leaves_the_blob_whole_or_absent(folder: Path, blobs: BlobStore, point: str, there: bool) -> None:
    environment = {**os.environ, "INKFAST_FAILPOINT": point}
    done = subprocess.run([sys.executable, "-c", PUT, str(folder)], env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    assert blobs.holds(DIGEST) == there
    blobs.put(CONTENT)
    assert blobs.read(DIGEST) == CONTENT


async def test_a_file_is_copied_in(blobs: BlobStore, folder: Path, tmp_path: Path) -> None:
    data = os.urandom(3_000_001)
    (tmp_path / "picture.bin").write_bytes(data)
    blob = await blobs.copy_in(tmp_path / "picture.bin", tmp_path)
    assert (blob.size, blobs.read(blob.digest)) == (len(data), data)
    assert len(_files(folder)) == 1


async def test_copying_gives_way_to_the_loop_and_can_be_cancelled(
    blobs: BlobStore, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "large.bin").write_bytes(bytes(8_000_000))
    turns = 0
    async with asyncio.TaskGroup() as group:
        copying = group.create_task(blobs.copy_in(tmp_path / "large.bin", tmp_path))
        while turns < 3:
            await asyncio.sleep(0)
            turns += 1
        assert not copying.done()
        copying.cancel()
    assert _files(folder) == []


async def test_what_is_not_plainly_that_file_is_refused(blobs: BlobStore, tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    (root / "real").mkdir(parents=True)
    (root / "real" / "file").write_bytes(b"x")
    (tmp_path / "outside").write_bytes(b"secret")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "linked").symlink_to(root / "real", target_is_directory=True)
    os.mkfifo(root / "pipe")
    refused = {
        root / "link": "attachment_symlink",
        root / "linked" / "file": "attachment_symlink",
        root / ".." / "outside": "attachment_escapes",
        tmp_path / "outside": "attachment_escapes",
        root: "attachment_escapes",
        root / "real": "attachment_not_a_file",
        root / "pipe": "attachment_not_a_file",
        root / "missing": "attachment_missing",
    }
    found: dict[Path, str] = {}
    for source in refused:
        with pytest.raises(RejectedFault) as caught:
            await blobs.copy_in(source, root)
        found[source] = caught.value.code
        assert str(tmp_path) not in str(caught.value)
    assert found == refused


async def test_a_root_reached_through_a_link_is_fine(blobs: BlobStore, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_bytes(CONTENT)
    (tmp_path / "home").symlink_to(tmp_path / "real", target_is_directory=True)
    assert (await blobs.copy_in(tmp_path / "home" / "file", tmp_path / "home")).digest == DIGEST
