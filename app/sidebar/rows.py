"""From drafts, sessions and workspaces to the rows of the project tree (spec/shell.md section 1). No Qt.

Titles only, never ids; a workspace's draft appears only if it has content; conversations by last activity.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import PurePath
from typing import Literal, Protocol, TypeAlias

from app.sidebar.time_labels import TimeLabels
from drafts.model import DraftSummary, Surface
from drafts.phases import Phase
from runtime.base.handover import Place, SessionPresence
from runtime.base.record import record
from runtime.sessions.model import Session, TurnState

UNTITLED = "New conversation"
GLOBAL_NAME = "Global"
_PRIMARY = "primary"
_LONGEST = 200
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")

RowKind: TypeAlias = Literal["workspace", "draft", "session"]
Mark: TypeAlias = Literal["", "draft", "unsaved", "error", "conflict", "running", "interrupted", "failed", "unknown"]

_SAID: dict[Mark, str] = {
    "draft": "saved draft",
    "unsaved": "not saved yet",
    "error": "saving failed",
    "conflict": "two versions",
    "running": "running",
    "interrupted": "interrupted",
    "failed": "failed",
    "unknown": "outcome unknown",
}
_WORDS: dict[Mark, str] = {
    "error": "not saved",
    "conflict": "conflict",
    "interrupted": "interrupted",
    "failed": "failed",
    "unknown": "unknown",
}
_SAVE_MARKS: dict[str, Mark] = {
    "saved": "draft",
    "dirty": "unsaved",
    "saving": "unsaved",
    "error": "error",
    "conflict": "conflict",
}
_PHASE_MARKS: dict[str, Mark] = {
    Phase.RESERVED: "running",
    Phase.STARTING: "running",
    Phase.DISPATCHING: "running",
    Phase.DISPATCHING_SHELL: "running",
    Phase.CANCEL_REQUESTED: "running",
    Phase.DISPATCH_UNKNOWN: "unknown",
    Phase.RESUME_REQUIRED: "interrupted",
    Phase.RUNTIME_FAILED: "failed",
    Phase.TERMINAL_FAILED: "failed",
}
_TURN_MARKS: dict[TurnState, Mark] = {
    TurnState.INTERRUPTED: "interrupted",
    TurnState.UNKNOWN: "unknown",
    TurnState.FAILED: "failed",
    TurnState.TIMED_OUT: "failed",
}


class Workspace(Protocol):
    """What the tree needs of a registered workspace."""

    @property
    def place(self) -> Place: ...

    @property
    def name(self) -> str: ...

    @property
    def available(self) -> bool: ...


@record
class TreeRow:
    """One line. ``id`` is the workspace's for a workspace and its primary draft, ``<workspace id>/<slot>`` for a
    parallel draft, the session's for a conversation.

    ``note`` is the short text at the right (a time, a count, or a state in words); ``spoken`` is the whole
    row for a screen reader.
    """

    kind: RowKind
    id: str
    workspace_id: str
    title: str
    note: str = ""
    mark: Mark = ""
    available: bool = True

    @property
    def key(self) -> tuple[RowKind, str]:
        return (self.kind, self.id)

    @property
    def spoken(self) -> str:
        kind = {"workspace": "Workspace", "draft": "Draft", "session": "Conversation"}[self.kind]
        note = "" if self.note in _WORDS.values() else self.note
        if self.kind == "workspace":
            note = f"{self.note} conversations" if self.note != "1" else "1 conversation"
            note = note if self.note else ""
        state = "" if self.available else "folder not available"
        return ", ".join(part for part in (kind, self.title, _SAID.get(self.mark, ""), state, note) if part)


@dataclass(slots=True)
class _Branch:
    """One workspace while it is gathered."""

    workspace_id: str
    name: str
    available: bool = True
    drafts: list[DraftSummary] = field(default_factory=list["DraftSummary"])
    sessions: list[Session] = field(default_factory=list[Session])


def build_rows(
    workspaces: Iterable[Workspace],
    drafts: Sequence[DraftSummary],
    sessions: Sequence[Session],
    now_ms: int,
    zone: tzinfo | None = None,
) -> list[TreeRow]:
    """The rows in the order of ``workspaces``, the global one last; ``sessions`` in any order.

    ``now_ms`` is the clock's reading in UTC milliseconds, ``zone`` the person's time zone (None: the machine's).
    """
    labels = TimeLabels(now_ms, zone)
    branches = _branches(workspaces, drafts, sessions)
    followed = {draft.key.key: draft for draft in drafts if draft.key.surface is Surface.SESSION}
    rows: list[TreeRow] = []
    for branch in branches:
        count = len(branch.sessions)
        rows.append(
            TreeRow(
                "workspace",
                branch.workspace_id,
                branch.workspace_id,
                branch.name,
                str(count) if count else "",
                "",
                branch.available,
            )
        )
        branch.drafts.sort(key=_is_parallel)
        rows.extend(_draft_row(draft, labels) for draft in branch.drafts)
        branch.sessions.sort(key=_activity, reverse=True)
        rows.extend(_session_row(session, followed.get(session.id), labels) for session in branch.sessions)
    return rows


def clean_title(text: str) -> str:
    """One printable line: no control or direction characters, spaces folded, at most 200 characters."""
    line = " ".join(_UNPRINTABLE.sub(" ", text[: 4 * _LONGEST]).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _branches(
    workspaces: Iterable[Workspace], drafts: Sequence[DraftSummary], sessions: Sequence[Session]
) -> list[_Branch]:
    branches: dict[str, _Branch] = {}
    for workspace in workspaces:
        place = workspace.place
        branches[place.workspace_id] = _Branch(place.workspace_id, _name(place, workspace.name), workspace.available)
    for draft in drafts:
        if draft.key.surface is Surface.WORKSPACE and draft.has_content:
            _branch(branches, draft.place).drafts.append(draft)
    for session in sessions:
        if session.presence in (SessionPresence.OPEN, SessionPresence.UNBOUND):
            _branch(branches, session.place).sessions.append(session)
    return sorted(branches.values(), key=_is_global)


def _branch(branches: dict[str, _Branch], place: Place) -> _Branch:
    """The branch of ``place``; work in a workspace that is not registered is shown, never dropped."""
    branch = branches.get(place.workspace_id)
    if branch is None:
        branch = branches[place.workspace_id] = _Branch(place.workspace_id, _name(place, ""))
    return branch


def _name(place: Place, name: str) -> str:
    if place.scope == "global":
        return GLOBAL_NAME
    return clean_title(name or PurePath(place.root).name) or "Folder"


def _is_global(branch: _Branch) -> bool:
    return branch.workspace_id == "global"


def _activity(session: Session) -> int:
    return session.last_activity


def _is_parallel(draft: DraftSummary) -> bool:
    """Whether it lies in another slot than the workspace's primary one."""
    return not draft.key.key.endswith(f"/{_PRIMARY}")


def _draft_row(draft: DraftSummary, labels: TimeLabels) -> TreeRow:
    mark = _draft_mark(draft)
    note = _WORDS.get(mark) or labels.clock(draft.updated_at)
    workspace_id = draft.place.workspace_id
    row_id = draft.key.key if _is_parallel(draft) else workspace_id
    return TreeRow("draft", row_id, workspace_id, clean_title(draft.first_line), note, mark)


def _draft_mark(draft: DraftSummary) -> Mark:
    """Conflict and save errors first: they are about the text; then the attempt to send; then saved or not."""
    saved = _SAVE_MARKS.get(draft.save_state, "draft")
    if saved in ("conflict", "error"):
        return saved
    return _PHASE_MARKS.get(draft.phase or "", saved)


def _session_row(session: Session, follow_up: DraftSummary | None, labels: TimeLabels) -> TreeRow:
    mark = _session_mark(session, follow_up)
    note = "now" if mark == "running" else _WORDS.get(mark) or labels.past(session.last_activity)
    title = clean_title(session.title) or UNTITLED
    return TreeRow("session", session.id, session.place.workspace_id, title, note, mark)


def _session_mark(session: Session, follow_up: DraftSummary | None) -> Mark:
    draft: Mark = ""
    if follow_up is not None and follow_up.has_content:
        draft = _SAVE_MARKS.get(follow_up.save_state, "draft")
    if draft in ("conflict", "error"):
        return draft
    state = session.turn_state
    if state is not None and not state.is_terminal:
        return "running"
    if state is not None and state in _TURN_MARKS:
        return _TURN_MARKS[state]
    return draft
