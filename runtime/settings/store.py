"""The settings file: read once, replaced whole, never touched by a program that does not understand it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.base.subscribers import Subscribers
from runtime.settings.model import VERSION, Settings
from runtime.storage.atomic import write_atomic


class SettingsStore:
    """Holds the current settings; subscribers get each new value."""

    def __init__(self, path: Path, current: Settings, on_error: Callable[[BaseException], None]) -> None:
        self._path = path
        self._current = current
        self._refusal: EnvironmentFault | None = None
        self._subscribers: Subscribers[Settings] = Subscribers(on_error)

    @staticmethod
    def load(path: Path, on_error: Callable[[BaseException], None]) -> SettingsStore:
        """The stored settings, or the defaults where no file is (none is made).

        Raises :class:`EnvironmentFault` ``settings_from_newer``, ``settings_damaged`` or ``settings_unreadable``;
        the file is left as it is.
        """
        return SettingsStore(path, _read(path), on_error)

    @staticmethod
    def defaults(path: Path, refusal: EnvironmentFault, on_error: Callable[[BaseException], None]) -> SettingsStore:
        """Defaults for a file that :meth:`load` refused: readable, but every update raises ``refusal``."""
        store = SettingsStore(path, Settings(), on_error)
        store._refusal = refusal
        return store

    @property
    def current(self) -> Settings:
        return self._current

    @property
    def refusal(self) -> EnvironmentFault | None:
        """Why nothing can be changed, None if it can."""
        return self._refusal

    def subscribe(self, callback: Callable[[Settings], None]) -> Callable[[], None]:
        return self._subscribers.subscribe(callback)

    def update(self, **changes: Any) -> Settings:
        """Replace fields and write the file before anyone is told; what another process wrote meanwhile is kept.

        Raises :class:`RejectedFault` ``setting_invalid`` (``field`` names it) or :class:`EnvironmentFault` of
        :meth:`load` and ``write_atomic``; nothing has changed then.
        """
        if self._refusal is not None:
            raise self._refusal
        base = _read(self._path)
        try:
            changed = Settings.model_validate({**_members(base), **changes})
        except ValidationError as error:
            place = error.errors(include_input=False, include_url=False)[0]["loc"]
            raise RejectedFault("setting_invalid", field=".".join(map(str, place))) from error
        if changed != base or not self._path.exists():
            write_atomic(self._path, changed.model_dump_json(indent=2).encode() + b"\n")
        if changed != self._current:
            self._current = changed
            self._subscribers.publish(changed)
        return changed


def _members(settings: Settings) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in Settings.model_fields}


def _read(path: Path) -> Settings:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise EnvironmentFault("settings_unreadable", str(error), errno=error.errno) from error
    try:
        found: object = json.loads(data)
    except ValueError as error:
        raise EnvironmentFault("settings_damaged", "not JSON") from error
    version = cast("dict[str, Any]", found).get("version") if isinstance(found, dict) else None
    if isinstance(version, int) and version > VERSION:
        raise EnvironmentFault("settings_from_newer", version=version)
    try:
        return Settings.model_validate_json(data)
    except ValidationError as error:
        place = error.errors(include_input=False, include_url=False)[0]["loc"]
        raise EnvironmentFault("settings_damaged", field=".".join(map(str, place))) from error
