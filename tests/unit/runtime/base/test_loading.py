"""Modules are imported by name in one place, in a thread of their own."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from runtime.base.import_thread import load
from runtime.base.loading import load_now


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


async def test_a_module_is_loaded_in_a_named_thread(folder: Path) -> None:
    (folder / "loaded_stage.py").write_text("import threading\nwhere = threading.current_thread().name\n")
    module = await load("loaded_stage")
    assert module.where == "import loaded_stage"
    assert threading.current_thread().name != module.where
    assert await load("loaded_stage") is module
    del sys.modules["loaded_stage"]


async def test_an_import_error_reaches_who_asked(folder: Path) -> None:
    (folder / "broken_stage.py").write_text("raise ValueError('broken')\n")
    with pytest.raises(ValueError, match="broken"):
        await load("broken_stage")
    with pytest.raises(ModuleNotFoundError):
        await load("no_such_stage")


def test_a_program_that_ends_during_an_import_is_left_in_peace(folder: Path) -> None:
    (folder / "slow_stage.py").write_text("import sys\nsys.import_gate.wait(10)\n")
    sys.import_gate = gate = threading.Event()  # type: ignore[attr-defined]

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await load("slow_stage")

    asyncio.run(main())
    importing = [one for one in threading.enumerate() if one.name == "import slow_stage"]
    gate.set()
    for thread in importing:
        thread.join(10)
    assert importing
    del sys.modules["slow_stage"], sys.import_gate  # type: ignore[attr-defined]


def test_boot_loads_in_its_own_thread() -> None:
    assert load_now("json") is sys.modules["json"]
