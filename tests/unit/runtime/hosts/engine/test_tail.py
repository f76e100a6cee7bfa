"""The log ring keeps little, and nothing secret."""

from __future__ import annotations

from runtime.hosts.engine.tail import LogTail


def test_the_key_and_the_folders_never_enter_the_ring() -> None:
    tail = LogTail({"s3cret": "[key]", "/home/ada": "~", "/home/ada/models/m.gguf": "m"})
    tail.add(b"loading '/home/ada/models/m.gguf' with s3cret from /home/ada/x\n")
    assert tail.lines() == ["loading 'm' with [key] from ~/x"]


def test_what_looks_like_a_key_of_others_is_removed_too() -> None:
    tail = LogTail({})
    tail.add(b"Authorization: Bearer abcdefghijklmnop0123456789\n")
    assert "abcdefghijklmnop" not in tail.tail()


def test_the_ring_is_bounded_in_lines_and_in_their_length() -> None:
    tail = LogTail({})
    for number in range(5000):
        tail.add(b"%d " % number + b"x" * 10_000)
    assert len(tail.lines()) == 200
    assert max(map(len, tail.lines())) <= 400
    assert tail.tail().splitlines()[-1].startswith("4999 ")


def test_bytes_that_are_no_text_are_kept_readable() -> None:
    tail = LogTail({})
    tail.add(b"\xff\xfe broken\n")
    assert tail.lines() == ["�� broken"]
