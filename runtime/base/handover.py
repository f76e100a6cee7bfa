"""Values that pass from drafts to sessions at the moment a draft becomes a session.

They live on the base floor because neither side imports the other: ``drafts`` declares the session
gateway as a Protocol over these types, ``runtime/sessions`` implements it, ``app/compose.py`` joins them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, TypeAlias

from runtime.base.jsontypes import JsonValue
from runtime.base.record import record

JsonObject: TypeAlias = Mapping[str, JsonValue]
Scope = Literal["project", "global"]


@record
class Place:
    """Where a conversation belongs. ``root`` is an absolute folder, or empty for the global workspace."""

    workspace_id: str
    scope: Scope
    root: str = ""


@record
class Reservation:
    """The identities of one operation (spec/drafts.md section 6, step 5), chosen before the first try.

    ``settings`` are the frozen ones: ``model`` is the resolved strict model reference
    (``local:smollm2-135m``, ``<server id>:<model>``, ``scripted:demo``).
    """

    operation_id: str
    session_id: str
    topic_id: str
    submission_id: str
    place: Place
    settings: JsonObject
    title_hint: str = ""


@record
class Submission:
    """What is handed to admission. ``payload`` is the expanded execution payload: ``{"text": str, …}``."""

    submission_id: str
    session_id: str
    fingerprint: str
    payload: JsonObject


@record
class Receipt:
    """Durable proof that a submission was admitted (spec/sessions.md section 2)."""

    submission_id: str
    session_id: str
    turn_id: str
    fingerprint: str
    accepted_at: int


class SessionPresence(StrEnum):
    """What a session id stands for right now."""

    ABSENT = "absent"
    UNBOUND = "unbound"
    OPEN = "open"
    ARCHIVED = "archived"
    TRASHED = "trashed"
    ERASED = "erased"
