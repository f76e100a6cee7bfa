"""The closed list of events that drafts publish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from drafts.model import DraftKey, SaveState
from drafts.phases import Operation


@dataclass(frozen=True, slots=True)
class DraftStateChanged:
    """The save state of a draft, or whether it has content, has changed."""

    draft_id: str
    key: DraftKey
    state: SaveState
    revision: int
    has_content: bool
    error_code: str = ""


@dataclass(frozen=True, slots=True)
class OperationChanged:
    """An operation entered a phase."""

    operation: Operation


@dataclass(frozen=True, slots=True)
class DraftConverted:
    """A draft became a session: the receipt is durable and the row is converted."""

    draft_id: str
    key: DraftKey
    session_id: str
    operation_id: str


@dataclass(frozen=True, slots=True)
class DraftCleared:
    """A follow-up was admitted and its unchanged text was cleared, or the draft was discarded."""

    draft_id: str
    key: DraftKey


DraftEvent: TypeAlias = DraftStateChanged | OperationChanged | DraftConverted | DraftCleared
