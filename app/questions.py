"""The questions that are asked before something is lost or may happen twice. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.sentences import sentence


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer. ``role``: "" plain, "primary" the suggested one, "danger" the one that loses something."""

    id: str
    label: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """``title`` asks, ``text`` says what is lost or safe. Escape and closing answer with ``dismissed``."""

    title: str
    text: str
    choices: tuple[Choice, ...]
    dismissed: str = "cancel"


_CANCEL = Choice("cancel", "Cancel")


def discard_question(first_line: str, characters: int, attachments: int = 0) -> Question:
    """Before a draft with content is discarded: names what is lost."""
    lost = [f"{characters:,} characters" if characters != 1 else "1 character"] if characters else []
    if attachments:
        lost.append("1 attachment" if attachments == 1 else f"{attachments} attachments")
    named = f"“{first_line}”" if first_line else "This draft"
    what = " and ".join(lost) or "what it holds"
    return Question(
        "Discard this draft?",
        f"{named} has not been sent. Discarding it loses {what}.",
        (Choice("discard", "Discard", "danger"), Choice("cancel", "Keep draft", "primary")),
    )


def send_as_new_question() -> Question:
    """Before an unknown send is sent as a new one: it may then run twice."""
    return Question(
        "Send it a second time?",
        "It is not known whether the first send arrived. If it did, the model or agent answers twice and may do "
        "its work twice. The first send is given up; if its answer turns up later, it is shown as a conversation.",
        (Choice("send_as_new", "Send as new", "danger"), Choice("cancel", "Do not send", "primary")),
    )


def unsaved_question(names: Sequence[str], code: str) -> Question:
    """At the end of the program, when drafts could not be saved: the close is held until this is answered."""
    listed = ", ".join(f"“{name}”" for name in names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    words = sentence(code)
    return Question(
        "Not everything is saved.",
        f"{words.what} Not saved: {listed}{more}. The text is still in this window.",
        (
            Choice("retry", "Retry", "primary"),
            Choice("keep_editing", "Keep editing"),
            Choice("save_copy", "Save a copy as file…"),
            Choice("quit_anyway", "Quit anyway", "danger"),
        ),
        dismissed="keep_editing",
    )


def other_model_question(title: str) -> Question:
    """A conversation keeps its model; another one means another conversation (spec/sessions.md section 6)."""
    return Question(
        f"Use {title} in a new conversation?",
        "This conversation keeps the model that it was started with. Nothing is sent, and unsent text "
        "stays where it is.",
        (Choice("new", "New conversation", "primary"), Choice("cancel", "Cancel")),
    )
