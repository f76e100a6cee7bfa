"""When are two paths the same workspace? Resolved links, and the case rules of the volume they lie on."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from pathlib import Path


def resolved(path: Path) -> str:
    """The absolute folder behind ``path`` with every link followed; it need not exist."""
    return os.path.realpath(path.expanduser())


def identity_of(root: str) -> str:
    """One string for one folder: parts below a volume that ignores case are folded.

    ``root`` is a resolved path. A part is probed by asking for it with its case swapped, so the answer is the
    volume's own and not a guess from the system's name.
    """
    parts: list[str] = []
    current = Path(root)
    while current.parent != current:
        name = unicodedata.normalize("NFC", current.name)
        parts.append(name.casefold() if _ignores_case(current) else current.name)
        current = current.parent
    return "/".join([os.path.normcase(str(current)), *reversed(parts)])


def workspace_id_for(root: str) -> str:
    """The id of the workspace at the resolved ``root``.

    Derived from the path, not random: two processes that open one folder, or a state store that was rebuilt
    under existing drafts, agree on it without asking each other.
    """
    return "wsp-" + hashlib.sha256(os.fsencode(identity_of(root))).hexdigest()[:32]


def _ignores_case(path: Path) -> bool:
    swapped = path.name.swapcase()
    if swapped == path.name:
        return False
    try:
        return os.path.samefile(path, path.with_name(swapped))
    except OSError:
        return False
