"""What the first paint shows, read in the boot reader's thread while Qt is being imported. No Qt, no writing."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any, cast

from drafts.model import DraftKey, Surface
from drafts.peek import Peeked, peek
from runtime.base.folder import DataFolder
from runtime.base.handover import Place
from runtime.base.record import record
from runtime.sessions.peek import Glimpse
from runtime.sessions.peek import peek as peek_sessions
from runtime.settings.peek import peek_theme

GLOBAL = Place("global", "global", "")
GEOMETRY = "window.json"
_TAIL_ITEMS = 40
_TREE_ROWS = 60


@record
class BootData:
    """Theme, window place, the restored draft and the conversation around it."""

    theme: str
    geometry: Mapping[str, object]
    drafts: Peeked
    sessions: Glimpse
    session_id: str


class BootReader(threading.Thread):
    """Reads once; :meth:`result` waits for it."""

    def __init__(self, folder: DataFolder, *, restore: bool) -> None:
        super().__init__(name="boot reader", daemon=True)
        self._folder = folder
        self._restore = restore
        self._data: BootData | None = None
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._data = read(self._folder, restore=self._restore)
        except BaseException as error:  # noqa: BLE001 - raised again by result(), in the thread that needs it
            self._error = error

    def result(self) -> BootData:
        """What was read. Raises what reading raised."""
        self.join()
        if self._error is not None:
            raise self._error
        if self._data is None:
            raise RuntimeError("the boot reader ended without a result")
        return self._data


def read(folder: DataFolder, *, restore: bool) -> BootData:
    """Everything for the first paint; what cannot be read is left out, with its code."""
    default = (DraftKey.workspace(GLOBAL.workspace_id), GLOBAL)
    slot = "active" if restore else "safe-mode"
    drafts = peek(folder.drafts_database, folder.draft_journal, default, slot)
    session_id = ""
    if drafts.draft is not None and drafts.draft.key.surface is Surface.SESSION:
        session_id = drafts.draft.key.key
    sessions = peek_sessions(
        folder.state_database, folder.leases, session_id=session_id, item_limit=_TAIL_ITEMS, session_limit=_TREE_ROWS
    )
    if session_id and sessions.session is None:
        drafts, session_id = peek(folder.drafts_database, folder.draft_journal, default, "safe-mode"), ""
    return BootData(peek_theme(folder.settings), _geometry(folder), drafts, sessions, session_id)


def _geometry(folder: DataFolder) -> Mapping[str, object]:
    try:
        found: Any = json.loads((folder.root / "desktop" / GEOMETRY).read_bytes())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}
