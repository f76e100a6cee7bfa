"""Keyrings for tests, chosen by ``PYTHON_KEYRING_BACKEND``: one that works (in a file) and one that is broken."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringError, PasswordDeleteError


class FileKeyring(KeyringBackend):
    """Keeps keys in ``$FAKE_KEYRING``."""

    priority = 5  # type: ignore[assignment]

    def _all(self) -> dict[str, str]:
        path = Path(os.environ["FAKE_KEYRING"])
        return json.loads(path.read_text()) if path.exists() else {}

    def _keep(self, keys: dict[str, str]) -> None:
        Path(os.environ["FAKE_KEYRING"]).write_text(json.dumps(keys))

    def get_password(self, service: str, username: str) -> str | None:
        return self._all().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._keep({**self._all(), f"{service}/{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        keys = self._all()
        if keys.pop(f"{service}/{username}", None) is None:
            raise PasswordDeleteError
        self._keep(keys)


class LockedKeyring(FileKeyring):
    """Looks usable and is not: the person closed the unlock dialog."""

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringError

    def set_password(self, service: str, username: str, password: str) -> None:
        raise KeyringError

    def delete_password(self, service: str, username: str) -> None:
        raise KeyringError
