"""Adding a model: whole or not at all."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from runtime.base.errors import EnvironmentFault, Fault, RejectedFault
from runtime.hosts.engine import adding
from runtime.hosts.engine.adding import AddProgress, add_model
from runtime.hosts.engine.weights import LocalModels
from tests.fakes.gguf import model_bytes


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A model file of 3 MiB: zeros behind the tensors do no harm."""
    folder = tmp_path / "downloads"
    folder.mkdir()
    path = folder / "new one.gguf"
    path.write_bytes(model_bytes() + bytes(3 * 1024 * 1024))
    return path


def _ignore(_progress: AddProgress) -> None:
    pass


def _names(models: LocalModels) -> list[str]:
    return sorted(os.listdir(models.folder))


async def test_an_added_file_is_a_model_with_the_same_bytes(models: LocalModels, source: Path) -> None:
    steps: list[AddProgress] = []
    model = await add_model(source, models, steps.append)
    assert model == models.find("new one")
    assert model.path.read_bytes() == source.read_bytes()
    assert model.path.stat().st_mode & 0o777 == 0o600
    assert steps[-1] == AddProgress(model.size_bytes, model.size_bytes)
    assert len(steps) > 3
    assert _names(models) == ["endless.gguf", "new one.gguf", "short.gguf"]


async def test_a_link_costs_no_second_copy(models: LocalModels, source: Path) -> None:
    model = await add_model(source, models, _ignore, link=True)
    assert os.path.samefile(model.path, source)


async def test_a_symbolic_link_brings_its_target(models: LocalModels, source: Path, tmp_path: Path) -> None:
    alias = tmp_path / "alias.gguf"
    alias.symlink_to(source)
    for link in (False, True):
        model = await add_model(alias, models, _ignore, link=link)
        assert not model.path.is_symlink()
        model.path.unlink()


async def test_a_missing_models_folder_is_made(tmp_path: Path, source: Path) -> None:
    models = LocalModels(tmp_path / "fresh" / "models")
    assert (await add_model(source, models, _ignore)).name == "new one"
    assert models.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("short.gguf", model_bytes(), "model_exists"),
        ("SmolLM2.txt", b"just text", "model_damaged"),
        ("cut.gguf", model_bytes()[:-50_000], "model_damaged"),
        ("smollm2-135m.gguf", model_bytes(), "model_exists"),
        ("two\nlines.gguf", model_bytes(), "model_name_unusable"),
        ("n" * 210 + ".gguf", model_bytes(), "model_name_unusable"),
    ],
)
async def test_what_cannot_be_used_is_refused_and_nothing_changes(
    models: LocalModels, tmp_path: Path, name: str, data: bytes, code: str
) -> None:
    before = _names(models)
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(RejectedFault) as caught:
        await add_model(path, models, _ignore)
    assert caught.value.code == code
    assert _names(models) == before


async def test_files_that_cannot_be_read_are_named_so(models: LocalModels, tmp_path: Path) -> None:
    fifo = tmp_path / "pipe.gguf"
    os.mkfifo(fifo)
    for path in (tmp_path / "gone.gguf", tmp_path, fifo):
        with pytest.raises(RejectedFault) as caught:
            await add_model(path, models, _ignore)
        assert caught.value.code == "file_unreadable"


async def test_cancelling_leaves_nothing_behind(models: LocalModels, source: Path) -> None:
    begun = asyncio.Event()
    task = asyncio.ensure_future(add_model(source, models, lambda _progress: begun.set()))
    await begun.wait()
    assert any(name.startswith(".new one") for name in _names(models))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert _names(models) == ["endless.gguf", "short.gguf"]


async def test_a_source_that_shrinks_meanwhile_is_not_added(models: LocalModels, source: Path) -> None:
    source.write_bytes(model_bytes(alignment=2 * 1024 * 1024))  # its tensors begin 2 MiB into the file

    def shrink(progress: AddProgress) -> None:
        os.truncate(source, progress.done)

    with pytest.raises(RejectedFault) as caught:
        await add_model(source, models, shrink)
    assert caught.value.code == "model_damaged"
    assert _names(models) == ["endless.gguf", "short.gguf"]


async def test_a_full_disk_is_told_before_copying(
    models: LocalModels, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = adding.shutil.disk_usage("/")._replace(free=10)
    monkeypatch.setattr(adding.shutil, "disk_usage", lambda _path: full)
    with pytest.raises(EnvironmentFault) as caught:
        await add_model(source, models, _ignore)
    assert caught.value.code == "disk_full"
    assert _names(models) == ["endless.gguf", "short.gguf"]


async def test_a_disk_that_fills_up_meanwhile_leaves_nothing_behind(
    models: LocalModels, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(adding.os, "fsync", fail)
    with pytest.raises(Fault) as caught:
        await add_model(source, models, _ignore)
    assert caught.value.code == "disk_full"
    assert _names(models) == ["endless.gguf", "short.gguf"]
