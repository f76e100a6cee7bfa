"""Modules are imported by name in one place, in a thread of their own."""

from __future__ import annotations

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


def test_boot_loads_in_its_own_thread() -> None:
    assert load_now("json") is sys.modules["json"]
