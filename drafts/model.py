"""What a draft is: the records of spec/drafts.md section 2, frozen.

Positions (``caret``, ``anchor``, edits) count UTF-16 code units, as Qt and the edit journal do.
Light on purpose: the first paint imports it, so nothing here may need asyncio, apsw or pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Literal

from runtime.base.handover import JsonObject, Place
from runtime.base.record import record


class Surface(StrEnum):
    """Which kind of unsent work a draft is."""

    WORKSPACE = "workspace"
    SESSION = "session"
    DOCK = "dock"
    FORM = "form"
    ATTACHED = "attached"


@record
class DraftKey:
    """At most one active draft exists per (surface, key)."""

    surface: Surface
    key: str

    @staticmethod
    def workspace(workspace_id: str, slot: str = "primary") -> DraftKey:
        return DraftKey(Surface.WORKSPACE, f"{workspace_id}/{slot}")

    @staticmethod
    def session(session_id: str) -> DraftKey:
        return DraftKey(Surface.SESSION, session_id)


ModelSource = Literal["default", "explicit"]
DraftStatus = Literal["active", "converted", "discarded"]
SaveState = Literal["saved", "dirty", "saving", "error", "conflict"]
_EMPTY: JsonObject = {}


@record
class DraftContent:
    """Composer text with caret and selection anchor; ``parts`` keeps every structured member unread.

    ``parts`` maps member names of ``content_json`` (``attachments``, ``references``, ``pasted_blocks``,
    ``invocations``, ``goal`` …) to their JSON, so a save never drops what this version does not edit.
    """

    text: str = ""
    caret: int = 0
    anchor: int = 0
    parts: JsonObject = field(default_factory=lambda: _EMPTY)

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and not any(self.parts.values())


@record
class DraftSettings:
    """Settings of a draft. ``model`` is a mirror of the live default while ``model_source`` is ``default``."""

    model: str = ""
    model_source: ModelSource = "default"
    instructions: str = ""
    sampling: Mapping[str, float] = field(default_factory=dict[str, float])
    effort: str = ""
    extra: JsonObject = field(default_factory=lambda: _EMPTY)


@record
class TextEdit:
    """Replace ``removed`` UTF-16 units at ``position`` by ``inserted``."""

    position: int
    removed: int
    inserted: str


@record
class Draft:
    """One row of the drafts table: a confirmed revision."""

    id: str
    key: DraftKey
    place: Place
    revision: int
    content: DraftContent
    settings: DraftSettings
    status: DraftStatus
    generation: int
    journal_writer: str
    journal_seq: int
    pending_submission_id: str
    created_at: int
    updated_at: int


@record
class DraftSummary:
    """One draft in a list: no text but its first line."""

    id: str
    key: DraftKey
    place: Place
    revision: int
    first_line: str
    status: DraftStatus
    has_content: bool
    save_state: SaveState
    phase: str | None
    updated_at: int


@record
class Conflict:
    """A losing edit, kept for the person."""

    id: str
    draft_id: str
    expected_revision: int
    actual_revision: int
    content: DraftContent
    settings: DraftSettings
    created_at: int
