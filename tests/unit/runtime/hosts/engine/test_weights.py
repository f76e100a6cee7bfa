"""The list of local models."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runtime.hosts.engine.weights import SMALL_MODEL, LocalModel, LocalModels, check
from runtime.hosts.faults import HostFault


def test_the_installed_small_model_comes_first_and_says_that_it_is_tiny(models: LocalModels) -> None:
    first = models.all()[0]
    assert (first.name, first.title) == (SMALL_MODEL, "SmolLM2 135M")
    assert "tiny" in first.note
    assert first.size_bytes > 50_000_000
    check(first)


def test_every_gguf_file_of_the_folder_is_a_model_named_after_its_stem(models: LocalModels) -> None:
    folder = models.folder
    for name in ("notes.txt", ".hidden.gguf", "big-00002-of-00003.gguf", "mmproj-big.gguf"):
        (folder / name).write_bytes(b"x")
    (folder / "big-00001-of-00003.GGUF").write_bytes(b"x")
    (folder / "folder.gguf").mkdir()
    names = [model.name for model in models.all()]
    assert names == [SMALL_MODEL, "big-00001-of-00003", "endless", "short"]


def test_a_missing_folder_holds_no_models(tmp_path: Path) -> None:
    assert [model.name for model in LocalModels(tmp_path / "nowhere").all()] == [SMALL_MODEL]


def test_an_unknown_name_is_model_missing(models: LocalModels) -> None:
    with pytest.raises(HostFault) as caught:
        models.find("nobody")
    assert (caught.value.code, caught.value.called) == ("model_missing", False)


def _model(path: Path) -> LocalModel:
    return LocalModel("m", path, "m", "", 0)


def test_check_tells_missing_from_damaged(tmp_path: Path) -> None:
    random_bytes = tmp_path / "random.gguf"
    random_bytes.write_bytes(os.urandom(4096))
    for path, code in (
        (tmp_path / "gone.gguf", "model_missing"),
        (tmp_path, "model_missing"),
        (random_bytes, "model_damaged"),
    ):
        with pytest.raises(HostFault) as caught:
            check(_model(path))
        assert (caught.value.code, caught.value.called) == (code, False)
