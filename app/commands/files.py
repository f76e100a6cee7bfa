"""``--file``: text files become part of the message, named and fenced, where the person can read them again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from runtime.base.errors import RejectedFault

MOST_BYTES = 256 * 1024
"""A text file up to this size is inlined (spec/sessions.md section 5, "Expansion of references")."""
_FENCES = re.compile(r"`{3,}")


def with_files(text: str, paths: Sequence[str]) -> str:
    """``text`` followed by each file in a fence of its own under its name.

    Raises :class:`RejectedFault` ``attachment_unreadable`` (missing, no plain file, a symbolic link, larger than
    :data:`MOST_BYTES`, not UTF-8 text); the reason names no path.
    """
    return "\n\n".join([text, *(_inlined(Path(path).expanduser()) for path in paths)])


def _inlined(path: Path) -> str:
    content = _read(path)
    longest = max((len(fence) for fence in _FENCES.findall(content)), default=2)
    fence = "`" * (longest + 1)
    return f"File {path.name}:\n\n{fence}\n{content.rstrip()}\n{fence}"


def _read(path: Path) -> str:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
            raise RejectedFault("attachment_unreadable")
        content = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RejectedFault("attachment_unreadable") from error
    if "\0" in content:
        raise RejectedFault("attachment_unreadable")
    return content
