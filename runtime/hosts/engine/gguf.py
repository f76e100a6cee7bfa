"""The header of a GGUF file: enough to tell a model from a stray or truncated file, without its contents.

Only the header is read (names, sizes and offsets of the tensors), so checking a file of 100 GB costs what
its vocabulary costs: some tens of milliseconds.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_HEADER_LIMIT = 512 * 1024 * 1024
_NAME_LIMIT = 64 * 1024
_KEY_VALUE_LIMIT = 100_000
_TENSOR_LIMIT = 1_000_000
_DEPTH_LIMIT = 4
_STRING, _ARRAY = 8, 9
_SCALARS = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
# ggml type -> (values a block, bytes a block); a type that is not listed is only checked for its offset
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip


class DamagedWeights(ValueError):
    """The bytes are not a whole GGUF model; the message says what is wrong, without any content."""


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What the header says. ``data_end`` is the size in bytes that the file must have at least."""

    version: int
    tensors: int
    architecture: str
    name: str
    trained_context: int | None
    data_end: int


def looks_like_gguf(path: Path) -> bool:
    """Whether the file begins as a GGUF file of a known version does. Reads 24 bytes; raises :class:`OSError`."""
    with path.open("rb") as file:
        start = file.read(24)
    return len(start) == 24 and start[:4] == MAGIC and struct.unpack("<I", start[4:8])[0] in _VERSIONS


def read_header(path: Path) -> GgufHeader:
    """Parse the header and check that every tensor lies within the file.

    Raises :class:`DamagedWeights`, and :class:`OSError` if the file cannot be read.
    """
    with path.open("rb", buffering=1024 * 1024) as file:
        size = file.seek(0, 2)
        file.seek(0)
        header = _parse(_Reader(file, size))
    if header.data_end > size:
        raise DamagedWeights(f"the file ends early: {size} of {header.data_end} bytes")
    return header


def _parse(reader: _Reader) -> GgufHeader:
    if reader.take(4) != MAGIC:
        raise DamagedWeights("no GGUF file")
    version, tensors, pairs = struct.unpack("<IQQ", reader.take(20))
    if version not in _VERSIONS:
        raise DamagedWeights(f"GGUF version {version} is not supported")
    if not 0 < tensors <= _TENSOR_LIMIT or pairs > _KEY_VALUE_LIMIT:
        raise DamagedWeights("implausible counts in the header")
    facts: dict[str, object] = {}
    for _ in range(pairs):
        key = reader.text(_NAME_LIMIT)
        facts[key] = reader.value(reader.number("<I"), 0)
    alignment = facts.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
        raise DamagedWeights("implausible alignment")
    needed = max(_tensor_end(reader) for _ in range(tensors))
    start = -(-reader.position // alignment) * alignment
    architecture = _text(facts, "general.architecture")
    context = facts.get(f"{architecture}.context_length")
    return GgufHeader(
        version,
        tensors,
        architecture,
        _text(facts, "general.name"),
        context if isinstance(context, int) else None,
        start + needed,
    )


def _text(facts: dict[str, object], key: str) -> str:
    value = facts.get(key)
    return value if isinstance(value, str) else ""


def _tensor_end(reader: _Reader) -> int:
    """Bytes after the start of the data section that this tensor needs."""
    reader.text(_NAME_LIMIT)
    dimensions = reader.number("<I")
    if dimensions > 8:
        raise DamagedWeights("implausible number of dimensions")
    count = 1
    for _ in range(dimensions):
        count *= reader.number("<Q")
    kind, offset = struct.unpack("<IQ", reader.take(12))
    values, size = _BLOCKS.get(kind, (1, 0))
    return offset + -(-count // values) * size


class _Reader:
    """Takes values off the front of a file and refuses to go beyond its end or the limit of a header."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._limit = min(size, _HEADER_LIMIT)
        self.position = 0

    def take(self, count: int) -> bytes:
        if count > self._limit - self.position:
            raise DamagedWeights("the header ends early")
        data = self._file.read(count)
        if len(data) != count:
            raise DamagedWeights("the header ends early")
        self.position += count
        return data

    def number(self, form: str) -> int:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def text(self, limit: int) -> str:
        length = self.number("<Q")
        if length > limit:
            raise DamagedWeights("implausible name length")
        return self.take(length).decode("utf-8", "replace")

    def value(self, kind: int, depth: int) -> object:
        """A scalar or string; arrays are passed over and stand as None."""
        if kind == _STRING:
            return self.take(self.number("<Q")).decode("utf-8", "replace")
        if kind == _ARRAY:
            self._skip_array(depth)
            return None
        form = _SCALARS.get(kind)
        if form is None:
            raise DamagedWeights(f"unknown value type {kind}")
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def _skip_array(self, depth: int) -> None:
        kind, count = struct.unpack("<IQ", self.take(12))
        if depth > _DEPTH_LIMIT or count > self._limit - self.position:
            raise DamagedWeights("implausible array")
        if kind in _SCALARS:
            self.take(count * struct.calcsize(_SCALARS[kind]))
        elif kind == _STRING:
            self._skip_strings(count)
        else:
            for _ in range(count):
                self.value(kind, depth + 1)

    def _skip_strings(self, count: int) -> None:
        """The hot loop: a vocabulary has hundreds of thousands of strings."""
        read, unpack, position = self._file.read, struct.Struct("<Q").unpack, self.position
        for _ in range(count):
            head = read(8)
            if len(head) != 8:
                raise DamagedWeights("the header ends early")
            (length,) = unpack(head)
            position += 8 + length
            if position > self._limit or len(read(length)) != length:
                raise DamagedWeights("the header ends early")
        self.position = position
