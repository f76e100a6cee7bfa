"""A disk that is really full, where this machine lets us mount a small one (spec/quality.md, "storage faults")."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import asyncio, json, sys
from pathlib import Path
from runtime.base.errors import EnvironmentFault
from runtime.storage.atomic import write_atomic
from runtime.storage.blobs import BlobStore
from runtime.storage.database import Database
from tests.unit.runtime.storage.notes import V1, add, look, texts

folder = Path(sys.argv[1])
seen = {"confirmed": 0, "codes": []}

async def main():
    write_atomic(folder / "settings.json", b"old")
    database = await Database.open(folder / "notes.sqlite", V1)
    try:
        for number in range(10_000):
            await add(database, f"{number} " + "x" * 3000)
            seen["confirmed"] += 1
    except EnvironmentFault as fault:
        seen["codes"].append(fault.code)
    for write in (
        lambda: write_atomic(folder / "settings.json", b"new" * 100_000),
        lambda: BlobStore(folder).put(b"blob" * 100_000),
    ):
        try:
            write()
        except EnvironmentFault as fault:
            seen["codes"].append(fault.code)
    seen["settings"] = (folder / "settings.json").read_text()
    seen["stored"] = len(await database.read(texts))
    (folder / "ballast").unlink()
    await add(database, "after room was made")
    await database.close()
    seen["integrity"] = look(folder / "notes.sqlite")[0]
    seen["after"] = look(folder / "notes.sqlite")[2][-1]
    seen["files"] = sorted(path.name for path in folder.iterdir())
    print(json.dumps(seen))

(folder / "ballast").write_bytes(bytes(200_000))
asyncio.run(main())
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="mounting a small disk needs unshare (Linux)")
def test_a_full_disk_loses_nothing_that_was_confirmed(tmp_path: Path) -> None:
    script = 'mount -t tmpfs -o size=600k tmpfs "$1" || exit 77; shift; exec "$@"'
    command = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        script,
        "sh",
        str(tmp_path),
        sys.executable,
        "-c",
        PROGRAM,
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode in {1, 77} and not done.stdout and "Traceback" not in done.stderr:
        pytest.skip("this machine does not allow mounting a small disk")
    seen = json.loads(done.stdout) if done.stdout else pytest.fail(done.stderr)
    assert seen["confirmed"] > 10
    assert seen["stored"] == seen["confirmed"]
    assert seen["codes"] == ["disk_full"] * 3
    assert (seen["settings"], seen["integrity"], seen["after"]) == ("old", "ok", "after room was made")
    assert seen["files"] == ["notes.sqlite", "settings.json"]
