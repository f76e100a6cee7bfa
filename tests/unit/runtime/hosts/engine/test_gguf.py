"""Headers: whole files pass, everything else is told apart without reading the contents."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.hosts.engine.gguf import DamagedWeights, looks_like_gguf, read_header
from tests.fakes.gguf import CONTEXT_TOKENS, model_bytes

WHOLE = model_bytes()


def _file(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    return path


def test_a_whole_file_names_its_architecture_and_context(tmp_path: Path) -> None:
    header = read_header(_file(tmp_path, WHOLE))
    assert (header.architecture, header.name, header.trained_context) == ("llama", "Nonsense", CONTEXT_TOKENS)
    assert header.data_end <= len(WHOLE)


@pytest.mark.parametrize("missing", [1, 64, len(WHOLE) // 2, len(WHOLE) - 30, len(WHOLE) - 4])
def test_a_truncated_file_is_damaged(tmp_path: Path, missing: int) -> None:
    path = _file(tmp_path, WHOLE[: len(WHOLE) - missing - 32])
    with pytest.raises(DamagedWeights):
        read_header(path)


def test_other_files_are_damaged(tmp_path: Path) -> None:
    for data in (b"", b"GGUF", b"\x7fELF" + bytes(4000), bytes(range(256)) * 64):
        path = _file(tmp_path, data)
        assert not looks_like_gguf(path)
        with pytest.raises(DamagedWeights):
            read_header(path)


def test_an_unknown_version_is_refused(tmp_path: Path) -> None:
    path = _file(tmp_path, WHOLE[:4] + struct.pack("<I", 99) + WHOLE[8:])
    assert not looks_like_gguf(path)
    with pytest.raises(DamagedWeights, match="version 99"):
        read_header(path)


def test_absurd_lengths_are_refused_without_reading_them(tmp_path: Path) -> None:
    huge = struct.pack("<Q", 2**62)
    for data in (
        b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + huge + bytes(100),
        b"GGUF" + struct.pack("<I", 3) + huge + huge + bytes(100),
        b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + struct.pack("<Q", 1) + b"k" + struct.pack("<IIQ", 9, 8, 2**62),
    ):
        with pytest.raises(DamagedWeights):
            read_header(_file(tmp_path, data))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(0, 6000), value=st.binary(min_size=1, max_size=9))
def test_any_flipped_header_bytes_end_in_a_header_or_in_damaged(tmp_path: Path, position: int, value: bytes) -> None:
    path = _file(tmp_path, WHOLE[:position] + value + WHOLE[position + len(value) :])
    with contextlib.suppress(DamagedWeights):
        read_header(path)
