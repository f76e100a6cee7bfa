"""What the drafts store holds, read and listed; nothing here needs a draft to be open."""

from __future__ import annotations

from typing import Any, cast

import apsw

from drafts import history, repository, restore
from drafts.history import EarlierVersion
from drafts.model import Conflict, Draft, DraftKey, DraftSummary, SaveState, Surface
from runtime.base import failpoints
from runtime.base.clock import Clock
from runtime.base.handover import JsonObject, Place
from runtime.storage.database import Database

RESTORE = failpoints.step("drafts.restore", "the slot names the old or the new surface")
DROP = failpoints.step("drafts.drop_conflict", "a copy goes only at its person's word")
_LINE_CHARACTERS = 200
# Half a surrogate pair is stored as an escape, of which SQLite would make bytes that are no UTF-8: read in Python.
_SUMMARIES = r"""
SELECT d.id, d.surface, d.key, d.workspace_id, d.scope, d.workspace_root, d.revision,
  CASE WHEN instr(d.content_json, '\ud') = 0
    THEN substr(ltrim(json_extract(d.content_json, '$.text'), char(32, 9, 10, 13)), 1, 200) END,
  CASE WHEN instr(d.content_json, '\ud') > 0 OR length(d.content_json) <= 100000 THEN d.content_json END,
  d.status,
  (SELECT phase FROM operations o WHERE o.draft_id = d.id ORDER BY o.created_at DESC, o.id DESC LIMIT 1),
  EXISTS (SELECT 1 FROM conflicts c WHERE c.draft_id = d.id), d.updated_at
FROM drafts d WHERE d.status = 'active' ORDER BY d.updated_at DESC, d.id DESC
"""


class DraftQueries:
    """The reading half of the store, and the restore slots."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def summaries(self) -> list[DraftSummary]:
        """The active drafts, newest first. ``save_state`` is that of the open draft, if it is open here."""
        found = await self._database.read(_read_summaries)
        return [self._seen(summary) for summary in found]

    async def show(self, draft_id: str) -> Draft | None:
        """The stored row, whatever its status."""
        return await self._database.read(lambda connection: repository.read_draft(connection, draft_id))

    async def conflicts(self, draft_id: str) -> list[Conflict]:
        """Losing copies, newest first."""
        return await self._database.read(lambda connection: history.read_conflicts(connection, draft_id))

    async def drop_conflict(self, conflict_id: str) -> None:
        """Remove a copy that its person has restored or given up."""
        await self._database.run(DROP, lambda connection: history.drop_conflict(connection, conflict_id))

    async def earlier(self, draft_id: str) -> list[EarlierVersion]:
        """Earlier versions, newest first."""
        return await self._database.read(lambda connection: history.read_earlier(connection, draft_id))

    async def set_restore(self, slot: str, surface: JsonObject) -> None:
        """Show ``surface`` (see ``drafts/restore.py``) in ``slot`` at the next start."""
        now = self._clock.now_ms()
        await self._database.run(RESTORE, lambda connection: restore.write_slot(connection, slot, surface, now))

    async def restore(self, slot: str) -> JsonObject | None:
        """The surface of ``slot``."""
        return await self._database.read(lambda connection: restore.read_slot(connection, slot))

    async def clear_restore(self, slot: str) -> None:
        """Show the default surface at the next start."""
        await self._database.run(RESTORE, lambda connection: restore.clear_slot(connection, slot))

    def _seen(self, summary: DraftSummary) -> DraftSummary:
        """The store puts in what its memory knows better."""
        return summary


def _read_summaries(connection: apsw.Connection) -> list[DraftSummary]:
    return [_summary(row) for row in connection.execute(_SUMMARIES)]


def _summary(row: Any) -> DraftSummary:
    (
        draft_id,
        surface,
        key,
        workspace_id,
        scope,
        root,
        revision,
        head,
        content,
        status,
        phase,
        conflicted,
        updated_at,
    ) = row
    if head is None and content is not None:
        head = repository.contents(content).text.lstrip()
    lines = (head or "").splitlines()
    content_known = bool(lines) or content is None or not repository.contents(content).is_empty
    state: SaveState = "conflict" if conflicted else "saved"
    return DraftSummary(
        id=draft_id,
        key=DraftKey(Surface(surface), key),
        place=Place(workspace_id, scope, root),
        revision=revision,
        first_line=lines[0][:_LINE_CHARACTERS] if lines else "",
        status=status,
        has_content=content_known,
        save_state=state,
        phase=cast("str | None", phase),
        updated_at=updated_at,
    )
