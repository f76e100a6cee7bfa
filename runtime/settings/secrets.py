"""API keys: in the system's keyring, else in a file that only the person can read. Which one is always said."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from runtime.base.errors import EnvironmentFault
from runtime.storage.atomic import write_atomic

Keeper = Literal["keyring", "file"]
KEYCHAIN = (sys.executable, "-P", "-m", "runtime.settings.keychain")
_KEYCHAIN_SECONDS = 120.0
_VERSION = 1


@dataclass(frozen=True, slots=True)
class _Ledger:
    """The file: keys that it holds itself, and the names of those that are in the keyring."""

    keys: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    in_keyring: frozenset[str] = frozenset()

    def without(self, name: str) -> _Ledger:
        return _Ledger({other: key for other, key in self.keys.items() if other != name}, self.in_keyring - {name})


class SecretStore:
    """Keys by server id. A key that was read is remembered until the process ends."""

    def __init__(
        self, path: Path, command: Sequence[str] = KEYCHAIN, environment: Mapping[str, str] | None = None
    ) -> None:
        self._path = path
        self._command = command
        self._environment = environment
        self._known: dict[str, str] = {}

    def keeper(self, name: str) -> Keeper | None:
        """Where the key is, None if there is none. Raises :class:`EnvironmentFault` ``secrets_unreadable``."""
        ledger = self._read()
        return "file" if name in ledger.keys else "keyring" if name in ledger.in_keyring else None

    async def preferred(self) -> Keeper:
        """Where a new key would be kept. The keyring is only asked whether it can be used: nothing is unlocked."""
        return "file" if await self._keychain("look", "") is None else "keyring"

    async def get(self, name: str) -> str:
        """The key, empty if none was given.

        Raises :class:`EnvironmentFault` ``secrets_unreadable`` or, where the key is in a keyring that cannot be
        used now, ``keyring_unavailable``.
        """
        if name in self._known:
            return self._known[name]
        ledger = self._read()
        if name not in ledger.in_keyring:
            return ledger.keys.get(name, "")
        reply = await self._keychain("get", name)
        if reply is None:
            raise EnvironmentFault("keyring_unavailable")
        self._known[name] = str(reply.get("key") or "")
        return self._known[name]

    async def set(self, name: str, key: str) -> Keeper:
        """Keep ``key``; returns where it is now. Raises :class:`EnvironmentFault` if it could not be kept."""
        rest = self._read().without(name)
        if await self._keychain("set", name, key) is not None:
            self._write(_Ledger(rest.keys, rest.in_keyring | {name}))
            kept: Keeper = "keyring"
        else:
            self._write(_Ledger({**rest.keys, name: key}, rest.in_keyring))
            kept = "file"
        self._known[name] = key
        return kept

    async def delete(self, name: str) -> None:
        """Forget a key. Raises :class:`EnvironmentFault` ``keyring_unavailable`` if it stays in the keyring."""
        ledger = self._read()
        if name in ledger.in_keyring and await self._keychain("delete", name) is None:
            raise EnvironmentFault("keyring_unavailable")
        self._write(ledger.without(name))
        self._known.pop(name, None)

    async def _keychain(self, do: str, name: str, key: str = "") -> dict[str, Any] | None:
        """The child's answer, None where no keyring can be used."""
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=self._environment,
        )
        request = json.dumps({"do": do, "name": name, "key": key}) + "\n"
        try:
            async with asyncio.timeout(_KEYCHAIN_SECONDS):
                output, _ = await process.communicate(request.encode())
        except TimeoutError:
            return None
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        try:
            reply: object = json.loads(output)
        except ValueError:
            return None
        members = cast("dict[str, Any]", reply) if isinstance(reply, dict) else {}
        return members if members.get("ok") else None

    def _read(self) -> _Ledger:
        try:
            found: object = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            return _Ledger()
        except (OSError, ValueError) as error:
            raise EnvironmentFault("secrets_unreadable", type(error).__name__) from error
        members = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
        keys, names = members.get("keys"), members.get("in_keyring")
        if members.get("version") != _VERSION or not isinstance(keys, dict) or not isinstance(names, list):
            raise EnvironmentFault("secrets_unreadable", "unknown version")
        return _Ledger(cast("dict[str, str]", keys), frozenset(cast("list[str]", names)))

    def _write(self, ledger: _Ledger) -> None:
        if not ledger.keys and not ledger.in_keyring:
            self._path.unlink(missing_ok=True)
            return
        members = {"version": _VERSION, "keys": dict(ledger.keys), "in_keyring": sorted(ledger.in_keyring)}
        write_atomic(self._path, json.dumps(members).encode(), mode=0o600)
