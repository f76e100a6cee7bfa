"""The project tree shows titles, states and times, and nothing that is not there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from app.sidebar.rows import TreeRow, build_rows, clean_title
from app.sidebar.time_labels import TimeLabels
from drafts.model import DraftKey, DraftSummary, SaveState
from runtime.base.handover import Place, SessionPresence
from runtime.sessions.model import Session, TurnState

NOW = int(datetime(2026, 11, 30, 14, 2, tzinfo=UTC).timestamp() * 1000)
MINUTE = 60_000
HOUR = 60 * MINUTE
TIDE = Place("ws_tide", "project", "/home/me/tide-tables")
GLOBAL = Place("global", "global")


@dataclass(frozen=True)
class Folder:
    place: Place
    name: str
    available: bool = True


FOLDERS = [Folder(GLOBAL, "global"), Folder(TIDE, "tide-tables")]


def draft(
    place: Place = TIDE,
    *,
    line: str = "compare the two",
    content: bool = True,
    state: SaveState = "saved",
    phase: str | None = None,
    key: DraftKey | None = None,
) -> DraftSummary:
    return DraftSummary(
        "dft_1",
        key or DraftKey.workspace(place.workspace_id),
        place,
        3,
        line,
        "active",
        content,
        state,
        phase,
        NOW - MINUTE,
    )


def session(
    number: int, *, title: str = "", place: Place = TIDE, ago: int = HOUR, state: TurnState | None = TurnState.COMPLETED
) -> Session:
    return Session(
        f"ses_{number}",
        f"top_{number}",
        place,
        title,
        "first_line",
        SessionPresence.OPEN,
        {},
        {},
        "",
        1,
        1,
        NOW - ago,
        NOW - ago,
        state,
    )


def rows(drafts: list[DraftSummary], sessions: list[Session]) -> list[TreeRow]:
    return build_rows(FOLDERS, drafts, sessions, NOW, UTC)


def test_workspaces_come_with_draft_then_conversations_by_last_activity_and_the_global_one_last() -> None:
    built = rows(
        [draft()],
        [
            session(1, title="old", ago=3 * HOUR),
            session(2, title="new", ago=HOUR),
            session(3, title="elsewhere", place=GLOBAL),
        ],
    )
    assert [(row.kind, row.title) for row in built] == [
        ("workspace", "tide-tables"),
        ("draft", "compare the two"),
        ("session", "new"),
        ("session", "old"),
        ("workspace", "Global"),
        ("session", "elsewhere"),
    ]
    assert [row.note for row in built] == ["2", "14:01", "1 h", "3 h", "1", "1 h"]


def test_a_draft_without_content_is_not_listed() -> None:
    assert [row.kind for row in rows([draft(content=False)], [])] == ["workspace", "workspace"]


@pytest.mark.parametrize(
    ("state", "phase", "mark", "note"),
    [
        ("saved", None, "draft", "14:01"),
        ("dirty", None, "unsaved", "14:01"),
        ("saving", None, "unsaved", "14:01"),
        ("error", None, "error", "not saved"),
        ("conflict", None, "conflict", "conflict"),
        ("saved", "starting", "running", "14:01"),
        ("saved", "resume_required", "interrupted", "interrupted"),
        ("saved", "dispatch_unknown", "unknown", "unknown"),
        ("conflict", "starting", "conflict", "conflict"),
    ],
)
def test_a_draft_is_marked_by_its_state(state: SaveState, phase: str | None, mark: str, note: str) -> None:
    row = rows([draft(state=state, phase=phase)], [])[1]
    assert (row.mark, row.note) == (mark, note)


@pytest.mark.parametrize(
    ("state", "mark", "note"),
    [
        (TurnState.RUNNING, "running", "now"),
        (TurnState.ADMITTED, "running", "now"),
        (TurnState.INTERRUPTED, "interrupted", "interrupted"),
        (TurnState.FAILED, "failed", "failed"),
        (TurnState.UNKNOWN, "unknown", "unknown"),
        (TurnState.CANCELLED, "", "1 h"),
        (TurnState.COMPLETED, "", "1 h"),
    ],
)
def test_a_conversation_is_marked_by_its_last_turn(state: TurnState, mark: str, note: str) -> None:
    row = rows([], [session(1, state=state)])[1]
    assert (row.mark, row.note) == (mark, note)


def test_unsent_text_of_a_conversation_marks_its_row_and_makes_no_row_of_its_own() -> None:
    follow_up = draft(key=DraftKey.session("ses_1"), state="dirty")
    built = rows([follow_up], [session(1, title="a")])
    assert [(row.kind, row.mark) for row in built] == [("workspace", ""), ("session", "unsaved"), ("workspace", "")]


def test_an_untitled_conversation_is_never_shown_by_its_id() -> None:
    row = rows([], [session(7)])[1]
    assert row.title == "New conversation"
    assert "ses_" not in row.spoken and "ws_" not in row.spoken


def test_archived_trashed_and_erased_conversations_are_not_listed() -> None:
    hidden = [
        replace(session(n), presence=presence)
        for n, presence in enumerate((SessionPresence.ARCHIVED, SessionPresence.TRASHED, SessionPresence.ERASED))
    ]
    assert [row.kind for row in rows([], hidden)] == ["workspace", "workspace"]


def test_work_in_a_folder_that_is_not_registered_is_shown_under_the_folders_name() -> None:
    place = Place("ws_other", "project", "/srv/letters")
    built = rows([], [session(1, place=place)])
    assert [row.title for row in built] == ["tide-tables", "letters", "New conversation", "Global"]


def test_a_missing_folder_says_so() -> None:
    built = build_rows([Folder(TIDE, "tide-tables", False)], [], [], NOW, UTC)
    assert not built[0].available and "not available" in built[0].spoken


def test_rows_are_spoken_with_kind_title_state_and_time() -> None:
    built = rows([draft(state="dirty")], [session(1, title="harmonic fit", ago=2 * HOUR)])
    assert [row.spoken for row in built[:3]] == [
        "Workspace, tide-tables, 1 conversation",
        "Draft, compare the two, not saved yet, 14:01",
        "Conversation, harmonic fit, 2 h",
    ]


def test_titles_are_one_printable_line() -> None:
    assert clean_title("a\n\tb\u202e\x00c  d") == "a b c d"
    assert len(clean_title("x" * 100_000)) == 200


@pytest.mark.parametrize(
    ("ago", "label"),
    [
        (-HOUR, "now"),
        (30_000, "now"),
        (12 * MINUTE, "12 min"),
        (2 * HOUR, "2 h"),
        (7 * HOUR, "07:02"),
        (24 * HOUR, "Sun"),
        (6 * 24 * HOUR, "Tue"),
        (7 * 24 * HOUR, "23 Nov"),
        (320 * 24 * HOUR, "14 Jan"),
        (340 * 24 * HOUR, "Dec 2025"),
    ],
)
def test_times_are_short_and_unambiguous(ago: int, label: str) -> None:
    assert TimeLabels(NOW, UTC).past(NOW - ago) == label


def test_days_change_at_the_persons_midnight() -> None:
    east = timezone(timedelta(hours=12))  # 14:02 UTC is two minutes past two in the morning of the next day
    assert TimeLabels(NOW, east).clock(NOW - 3 * HOUR) == "Mon"
