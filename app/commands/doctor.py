"""``inkfast doctor``: checks, counts and versions; no content, no titles, nothing is changed by looking."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, TypeVar

import apsw

from app.commands.output import print_json, print_lines
from app.guard import refuse_bad_pair
from app.sentences import sentence
from app.version import VERSION
from drafts.schema import SCHEMA as DRAFTS
from runtime.base.errors import Fault
from runtime.base.folder import DataFolder
from runtime.hosts.engine.weights import LocalModels, check
from runtime.sessions.schema import SCHEMA as STATE
from runtime.storage.faults import translate
from runtime.storage.schema import Schema

T = TypeVar("T")
Result = Literal["ok", "warning", "problem"]
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
        _pair(), _display(), _folder(folder), _database(folder.drafts_database, DRAFTS),
        _database(folder.state_database, STATE), _models(folder),
    ]
    counts = {**_counts(folder.drafts_database, _DRAFT_COUNTS), **_counts(folder.state_database, _STATE_COUNTS)}
    journals = len(list(folder.draft_journal.glob("*.log"))) if folder.draft_journal.is_dir() else 0
    counts["journals"] = journals
    if as_json:
        print_json({"doctor": {
            "version": VERSION, "python": platform.python_version(), "sqlite": apsw.sqlite_lib_version(),
            "packages": _versions(), "data_folder": os.fspath(folder.root),
            "checks": [{"id": c.name, "result": c.result, "text": c.text} for c in checks], "counts": counts,
        }})
    else:
        print_lines([f"Inkfast {VERSION} · Python {platform.python_version()} · SQLite {apsw.sqlite_lib_version()}",
                     f"Data folder: {folder.root}"])
        print_lines(f"{c.result:8} {c.name}: {c.text}" for c in checks)
        print_lines(f"{name}: {number}" for name, number in counts.items())
    return 1 if any(check.result == "problem" for check in checks) else 0


def _pair() -> Check:
    refusal = refuse_bad_pair((sys.version_info.major, sys.version_info.minor), _versions()["PySide6-Essentials"])
    return Check("python and qt", "problem" if refusal else "ok", refusal or "they fit")


def _display() -> Check:
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return Check("display", "ok", "there is one")
    return Check("display", "warning", "there is none: the window cannot open, `inkfast send` works")


def _folder(folder: DataFolder) -> Check:
    if not folder.root.exists():
        return Check("data folder", "ok", "not made yet")
    if not os.access(folder.root, os.R_OK | os.W_OK | os.X_OK):
        return Check("data folder", "problem", sentence("data_folder_unusable").what)
    loose = os.name != "nt" and folder.root.stat().st_mode & 0o077
    return Check("data folder", "warning" if loose else "ok",
                 "other users may look into it" if loose else "private and writable")


def _database(path: Path, schema: Schema) -> Check:
    name = f"{schema.name} database"
    if not path.exists():
        return Check(name, "ok", "not made yet")
    try:
        found, verdict, strays = _look(path, _examine)
    except apsw.Error as error:
        fault = translate(error)
        return Check(name, "problem", sentence(fault.code).what if isinstance(fault, Fault) else str(error))
    if found > schema.version:
        return Check(name, "problem", sentence("future_schema").what)
    if verdict != "ok" or strays:
        return Check(name, "problem", sentence("database_damaged").what)
    return Check(name, "ok", f"schema {found}, whole")


def _examine(connection: apsw.Connection) -> tuple[int, str, int]:
    found = int(connection.execute("PRAGMA user_version").get)
    verdict = str(connection.execute("PRAGMA integrity_check(1)").get)
    return found, verdict, len(connection.execute("PRAGMA foreign_key_check").fetchall())


def _models(folder: DataFolder) -> Check:
    try:
        found = LocalModels(folder.models).all()
        for model in found:
            check(model)
    except Fault as fault:
        return Check("local models", "warning", sentence(fault.code, fault.detail).what)
    names = ", ".join(model.name for model in found)
    return Check("local models", "ok" if found else "warning", names or "none installed")


_DRAFT_COUNTS = {
    "drafts": "SELECT count(*) FROM drafts WHERE status = 'active'",
    "conflict copies": "SELECT count(*) FROM conflicts",
    "operations": "SELECT count(*) FROM operations",
    "unsettled operations": "SELECT count(*) FROM operations WHERE phase NOT IN "
                            "('accepted', 'terminal_failed', 'cancelled', 'abandoned')",
}
_STATE_COUNTS = {
    "sessions": "SELECT count(*) FROM sessions",
    "items": "SELECT count(*) FROM items",
    "turns that have not ended": "SELECT count(*) FROM turns WHERE ended_at IS NULL",
}


def _counts(path: Path, questions: dict[str, str]) -> dict[str, int]:
    if not path.exists():
        return {}
    try:
        return _look(path, lambda c: {name: int(c.execute(sql).get) for name, sql in questions.items()})
    except apsw.Error:
        return {}  # the check of this database says why


def _look(path: Path, body: Callable[[apsw.Connection], T]) -> T:
    connection = apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        connection.set_busy_timeout(2_000)
        return body(connection)
    finally:
        connection.close()


def _versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
