"""``inkfast doctor``: checks, counts and versions; no content, no titles, nothing is changed by looking."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import apsw

from app.commands import examination
from app.commands.output import print_json, print_lines
from app.guard import refuse_bad_pair
from app.sentences import sentence
from app.version import VERSION
from drafts.schema import SCHEMA as DRAFTS
from runtime.base.errors import Fault
from runtime.base.folder import DataFolder
from runtime.hosts.engine.gguf import DamagedWeights, read_header
from runtime.hosts.engine.weights import LocalModels
from runtime.sessions.schema import SCHEMA as STATE
from runtime.settings.secrets import SecretStore
from runtime.settings.store import SettingsStore
from runtime.storage.faults import translate
from runtime.storage.schema import Schema

Result = Literal["ok", "warning", "problem"]
_KEYRING_SECONDS = 10.0
_PACKAGES = ("PySide6-Essentials", "qasync", "apsw", "pydantic-ai-slim", "agent-client-protocol", "xllamacpp")


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report."""

    name: str
    result: Result
    text: str


async def run(folder: DataFolder, *, as_json: bool) -> int:
    """0 if nothing is a problem, else 1."""
    checks = [
        _pair(),
        _display(),
        _folder(folder),
        _database(folder.drafts_database, DRAFTS),
        _database(folder.state_database, STATE),
        _settings(folder),
        await _keys(folder),
        _models(folder),
    ]
    counts, phases = examination.counts(folder), examination.phases(folder)
    if as_json:
        print_json(
            {
                "doctor": {
                    "id": "doctor",
                    "version": VERSION,
                    "python": platform.python_version(),
                    "sqlite": apsw.sqlite_lib_version(),
                    "packages": _versions(),
                    "data_folder": os.fspath(folder.root),
                    "checks": [{"id": c.name.replace(" ", "_"), "result": c.result, "text": c.text} for c in checks],
                    "counts": counts,
                    "phases": phases,
                }
            }
        )
    else:
        print_lines(
            [
                f"Inkfast {VERSION} · Python {platform.python_version()} · SQLite {apsw.sqlite_lib_version()}",
                " · ".join(f"{name} {number}" for name, number in _versions().items()),
                f"Data folder: {folder.root}",
            ]
        )
        print_lines(f"{c.result:8} {c.name}: {c.text}" for c in checks)
        print_lines(f"{name.replace('_', ' ')}: {number}" for name, number in counts.items())
        print_lines(f"operations {phase.replace('_', ' ')}: {number}" for phase, number in phases.items())
    return 1 if any(check.result == "problem" for check in checks) else 0


def _pair() -> Check:
    refusal = refuse_bad_pair((sys.version_info.major, sys.version_info.minor), _versions()["PySide6-Essentials"])
    return Check("python and qt", "problem" if refusal else "ok", refusal or "they fit")


def _display() -> Check:
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return Check("display", "ok", "there is one")
    return Check("display", "warning", "there is none: the window cannot open, `inkfast send` works")


def _folder(folder: DataFolder) -> Check:
    there = next(path for path in (folder.root, *folder.root.parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.R_OK | os.W_OK | os.X_OK):
        return Check("data folder", "problem", sentence("data_folder_unusable").what)
    if there != folder.root:
        return Check("data folder", "ok", "not made yet")
    loose = os.name != "nt" and folder.root.stat().st_mode & 0o077
    return Check(
        "data folder", "warning" if loose else "ok", "other users may look into it" if loose else "private and writable"
    )


def _database(path: Path, schema: Schema) -> Check:
    name = f"{schema.name} database"
    try:
        if not path.exists() or path.stat().st_size == 0:
            return Check(name, "ok", "not made yet")
        found, whole = examination.look(path, examination.examine)
    except apsw.Error as error:
        fault = translate(error)
        return Check(name, "problem", sentence(fault.code).what if isinstance(fault, Fault) else str(error))
    except OSError:
        return Check(name, "problem", sentence("cannot_open").what)
    if found > schema.version:
        return Check(name, "problem", sentence("future_schema").what)
    if not whole:
        return Check(name, "problem", sentence("database_damaged").what)
    return Check(name, "ok", f"schema {found}, whole")


def _settings(folder: DataFolder) -> Check:
    try:
        servers = len(SettingsStore.load(folder.settings, _ignored).current.servers)
    except Fault as fault:
        return Check("settings", "problem", sentence(fault.code).what)
    return Check("settings", "ok", f"readable, servers: {servers}" if folder.settings.exists() else "not made yet")


async def _keys(folder: DataFolder) -> Check:
    """Where a new key would go. The backend is asked what it is, in a process of its own; it is not unlocked."""
    secrets = SecretStore(folder.root / "secrets.json")
    try:
        secrets.keeper("")
        async with asyncio.timeout(_KEYRING_SECONDS):
            keeper = await secrets.preferred()
    except Fault as fault:
        return Check("api keys", "problem", sentence(fault.code).what)
    except TimeoutError:
        return Check("api keys", "warning", "the keyring of this system does not answer")
    if keeper == "keyring":
        return Check("api keys", "ok", "kept in the keyring of this system")
    return Check("api keys", "warning", "no keyring: kept as plain text in secrets.json, for you alone (mode 0600)")


def _models(folder: DataFolder) -> Check:
    try:
        found = LocalModels(folder.models).all()
    except Fault as fault:
        return Check("local models", "warning", sentence(fault.code, fault.detail).what)
    for model in found:
        try:
            read_header(model.path)
        except DamagedWeights:
            return Check("local models", "problem", sentence("model_damaged", {"model": f"local:{model.name}"}).what)
        except OSError:
            return Check("local models", "problem", sentence("model_missing", {"model": f"local:{model.name}"}).what)
    names = ", ".join(model.name for model in found)
    return Check("local models", "ok" if found else "warning", names or "none installed")


def _ignored(error: BaseException) -> None:
    """Nothing subscribes to these settings, so nothing can fail behind them."""


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
