"""The system's keyring in a short-lived child process: ``python -m runtime.settings.keychain``.

An unlock dialog or a slow bus then blocks the child and not the window, and ``keyring`` is never imported
there. One JSON request on standard input, one JSON answer on standard output; nothing on the command line.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import KeyringError, PasswordDeleteError

SERVICE = "Inkfast"


def answer(request: dict[str, Any], backend: KeyringBackend) -> dict[str, Any]:
    """``{"ok": bool, "key": str | None}``; ``ok`` false where no keyring can be used."""
    if not usable(backend):
        return {"ok": False, "key": None}
    name = str(request["name"])
    try:
        if request["do"] == "set":
            backend.set_password(SERVICE, name, str(request["key"]))  # pyright: ignore[reportUnknownMemberType]
        elif request["do"] == "delete":
            _delete(backend, name)
        return {"ok": True, "key": backend.get_password(SERVICE, name) if request["do"] == "get" else None}
    except KeyringError:
        return {"ok": False, "key": None}


def usable(backend: KeyringBackend) -> bool:
    """Backends below priority 1 keep plain text or nothing at all; the own 0600 file is then the plainer choice."""
    return float(backend.priority) >= 1


def _delete(backend: KeyringBackend, name: str) -> None:
    try:
        backend.delete_password(SERVICE, name)
    except PasswordDeleteError:
        return


def main() -> None:
    request = json.loads(sys.stdin.readline())
    sys.stdout.write(json.dumps(answer(request, keyring.get_keyring())))


if __name__ == "__main__":
    main()
