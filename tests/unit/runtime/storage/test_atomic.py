"""A reader sees the old bytes or the new ones, also after a kill in the middle."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.base.errors import EnvironmentFault
from runtime.storage.atomic import write_atomic, write_fault

WRITE = """
import sys
from pathlib import Path
from runtime.base.errors import EnvironmentFault
from runtime.storage.atomic import write_atomic

try:
    write_atomic(Path(sys.argv[1]), b"new" * 100_000)
except EnvironmentFault as fault:
    print(fault.code)
"""
OLD, NEW = b"old" * 100_000, b"new" * 100_000


def _write(path: Path, failpoint: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "INKFAST_FAILPOINT": failpoint}
    return subprocess.run(
        [sys.executable, "-c", WRITE, str(path)], env=environment, capture_output=True, text=True, check=False
    )


def test_a_new_file_is_private_and_whole(tmp_path: Path) -> None:
    write_atomic(tmp_path / "settings.json", b"content")
    assert (tmp_path / "settings.json").read_bytes() == b"content"
    assert stat.S_IMODE((tmp_path / "settings.json").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]


@pytest.mark.parametrize(
    ("point", "expected"), [("storage.replace.before_commit", OLD), ("storage.replace.after_commit", NEW)]
)
def test_a_kill_leaves_the_old_or_the_new_bytes(tmp_path: Path, point: str, expected: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    assert _write(path, point).returncode == -signal.SIGKILL
    assert path.read_bytes() == expected


def test_a_failing_disk_leaves_the_old_bytes_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(OLD)
    done = _write(path, "storage.replace.before_commit:raise")
    assert done.stdout.split() == ["write_failed"]
    assert path.read_bytes() == OLD
    assert [file.name for file in tmp_path.iterdir()] == ["settings.json"]


def test_a_missing_folder_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        write_atomic(tmp_path / "missing" / "settings.json", b"x")
    assert caught.value.code == "write_failed"
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("number", "code"),
    [(errno.ENOSPC, "disk_full"), (errno.EROFS, "read_only"), (errno.EACCES, "read_only"), (errno.EIO, "write_failed")],
)
def test_the_fault_says_what_is_in_the_way(number: int, code: str) -> None:
    fault = write_fault(OSError(number, os.strerror(number), "/somebody/private.txt"))
    assert (fault.code, fault.detail["errno"]) == (code, number)
    assert "private" not in str(fault)


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"untouched")
    (tmp_path / "settings.json").symlink_to(tmp_path / "elsewhere")
    write_atomic(tmp_path / "settings.json", b"ours")
    assert (tmp_path / "elsewhere").read_bytes() == b"untouched"
    assert not (tmp_path / "settings.json").is_symlink()
