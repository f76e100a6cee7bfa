"""A model of 250 KB with random weights that the real engine loads in a tenth of a second.

It speaks nonsense in small letters: its vocabulary is the 256 bytes, and the first value of the hidden state,
which every token sets, rules out everything else. ``ends`` makes answers stop by themselves after a few dozen
tokens; without it they run until the token limit or the context is full.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from pathlib import Path

CONTEXT_TOKENS = 2048
_WIDTH = 64
_CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_SPEAKABLE = "abcdefghijklmnopqrstuvwxyzĠĠ"  # Ġ stands for the space
_MERGED = "he"
_U32, _F32, _BOOL, _STRING, _ARRAY, _I32 = 4, 6, 7, 8, 9, 5
Tensor = tuple[str, tuple[int, ...], bytes]


def write_model(path: Path, *, ends: bool = True, name: str = "Nonsense") -> Path:
    """Write the model to ``path`` and return it. The same arguments give the same bytes."""
    path.write_bytes(model_bytes(ends=ends, name=name))
    return path


def model_bytes(*, ends: bool = True, name: str = "Nonsense", alignment: int = 32) -> bytes:
    """The whole file: header, key-value pairs, tensor infos, aligned tensor data."""
    pairs = [*_pairs(name), _pair("general.alignment", _U32, struct.pack("<I", alignment))]
    tensors = _tensors(ends)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs)
    infos, data = b"", b""
    for tensor, shape, values in tensors:
        infos += _string(tensor) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        infos += struct.pack("<IQ", 0, len(data))
        data += values + bytes(-len(values) % alignment)
    head += infos
    return head + bytes(-len(head) % alignment) + data


def _pairs(name: str) -> list[bytes]:
    tokens = [*_SPECIAL, *_byte_tokens(), _MERGED]
    kinds = [3] * len(_SPECIAL) + [1] * 257
    numbers = {
        "llama.block_count": 1, "llama.context_length": CONTEXT_TOKENS, "llama.embedding_length": _WIDTH,
        "llama.feed_forward_length": _WIDTH, "llama.attention.head_count": 4, "llama.attention.head_count_kv": 4,
        "llama.rope.dimension_count": 16, "llama.vocab_size": len(tokens), "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2, "tokenizer.ggml.unknown_token_id": 0, "tokenizer.ggml.padding_token_id": 2,
    }  # fmt: skip
    texts = {
        "general.architecture": "llama", "general.name": name, "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm", "tokenizer.chat_template": _CHAT,
    }  # fmt: skip
    return [
        *(_pair(key, _STRING, _string(text)) for key, text in texts.items()),
        *(_pair(key, _U32, struct.pack("<I", number)) for key, number in numbers.items()),
        _pair("llama.rope.freq_base", _F32, struct.pack("<f", 10000.0)),
        _pair("llama.attention.layer_norm_rms_epsilon", _F32, struct.pack("<f", 1e-5)),
        _pair("tokenizer.ggml.add_bos_token", _BOOL, b"\0"),
        _pair("tokenizer.ggml.tokens", _ARRAY, _array(_STRING, [_string(token) for token in tokens])),
        _pair("tokenizer.ggml.token_type", _ARRAY, _array(_I32, [struct.pack("<i", kind) for kind in kinds])),
        _pair("tokenizer.ggml.merges", _ARRAY, _array(_STRING, [_string(" ".join(_MERGED))])),
    ]


def _tensors(ends: bool) -> list[Tensor]:
    chance = random.Random(7)
    byte_tokens = _byte_tokens()
    speakable = [len(_SPECIAL) + index for index, token in enumerate(byte_tokens) if token in _SPEAKABLE]
    count = len(_SPECIAL) + len(byte_tokens) + 1
    embedding = [[4.0, 0.0, *_row(chance, _WIDTH - 2, 0.5)] for _ in range(count)]
    output = [[-20.0, 0.0, *_row(chance, _WIDTH - 2, 0.02)] for _ in range(count)]
    embedding[len(_SPECIAL) + ord("\n")][1] = 4.0
    for token in speakable:
        output[token][0] = 0.0
    if ends:
        output[2][:2] = 0.06, -4.0  # rarely, and never right after the line end that precedes an answer
    square = {
        name: [_row(chance, _WIDTH, 0.02) for _ in range(_WIDTH)]
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
    }
    ones = struct.pack(f"<{_WIDTH}f", *[1.0] * _WIDTH)
    return [
        ("token_embd.weight", (_WIDTH, count), _floats(embedding)),
        ("output_norm.weight", (_WIDTH,), ones),
        ("output.weight", (_WIDTH, count), _floats(output)),
        ("blk.0.attn_norm.weight", (_WIDTH,), ones),
        ("blk.0.ffn_norm.weight", (_WIDTH,), ones),
        *((f"blk.0.{name}.weight", (_WIDTH, _WIDTH), _floats(rows)) for name, rows in square.items()),
    ]


def _row(chance: random.Random, count: int, scale: float) -> list[float]:
    return [chance.gauss(0.0, scale) for _ in range(count)]


def _floats(rows: Sequence[Sequence[float]]) -> bytes:
    return b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)


def _byte_tokens() -> list[str]:
    """The printable stand-ins of the 256 bytes in byte-level vocabularies."""
    printable = {*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = (chr(0x100 + index) for index in range(256))
    return [chr(byte) if byte in printable else next(spare) for byte in range(256)]


def _pair(key: str, kind: int, value: bytes) -> bytes:
    return _string(key) + struct.pack("<I", kind) + value


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _array(kind: int, values: list[bytes]) -> bytes:
    return struct.pack("<IQ", kind, len(values)) + b"".join(values)
