"""The small line under an answer: how a turn ended, where that is not simply "complete". No Qt."""

from __future__ import annotations

from typing import Literal, TypeAlias

from app.sentences import NO_DETAIL, Detail, sentence
from runtime.base.record import record

NoteTone: TypeAlias = Literal["muted", "warn", "danger"]
_LONGEST_QUOTE = 300


@record
class TurnNote:
    """``label`` is one or two words for a chip; ``text`` is the full sentence."""

    label: str
    text: str
    tone: NoteTone


_BY_REASON = {
    "no_finish_mark": TurnNote(
        "ended without finish mark",
        "The server ended the answer without saying that it is complete. The text is kept as it came.",
        "warn",
    ),
    "length": TurnNote(
        "cut at the length limit",
        "The answer reached the length limit of the model and may stop in the middle.",
        "warn",
    ),
    "refused": TurnNote("declined", "The model declined to answer this.", "muted"),
    "cancelled": TurnNote("stopped", "You stopped this answer. What had arrived is kept.", "muted"),
}


def turn_note(
    state: str, finish_reason: str = "", error_code: str = "", said: str = "", detail: Detail = NO_DETAIL
) -> TurnNote | None:
    """The note for a turn in ``state`` (:class:`runtime.sessions.model.TurnState`); None if it needs none.

    ``said`` is the server's own message: it is quoted, cut, and never taken for ours.
    """
    if state == "completed":
        return _BY_REASON.get(finish_reason)
    if state == "cancelled":
        return _BY_REASON["cancelled"]
    if state == "interrupted":
        return _interrupted(error_code)
    if state == "unknown":
        return TurnNote("outcome unknown", sentence("outcome_unknown").text, "warn")
    if state == "timed_out":
        return _failed("timed out", error_code or "timed_out", said, detail)
    if state == "failed":
        return _failed("failed", error_code, said, detail)
    return None


def older_not_sent(count: int) -> str:
    """``12 older messages not sent``: what did not fit into the model's context."""
    return "1 older message not sent" if count == 1 else f"{count} older messages not sent"


def progress_text(code: str, seconds: float) -> str:
    """What a person reads while waiting for the first word, with the time that has passed."""
    words = _PROGRESS.get(code, "Waiting for the answer")
    whole = int(seconds)
    return f"{words} · {whole // 60}:{whole % 60:02d}"


_SAID_BY_SERVER = frozenset({"auth_failed", "not_found", "rate_limited", "server_error", "stream_error"})
"""Where the message is the server's own; elsewhere it is ours or a library's and must not be put in its mouth."""
_PROGRESS = {
    "engine_starting": "Starting the local engine",
    "engine_busy": "Waiting for the local engine",
    "thinking": "Thinking",
    "model_loading": "Loading the model",
    "answering": "Answering",
    "stopping": "Stopping",
}


def _interrupted(error_code: str) -> TurnNote:
    if error_code == "not_started":
        return TurnNote("not started", sentence("not_started").text, "warn")
    return TurnNote(
        "interrupted",
        "The program ended before this answer was complete. What had arrived is kept; nothing was sent again.",
        "warn",
    )


def _failed(label: str, code: str, said: str, detail: Detail) -> TurnNote:
    text = sentence(code, detail).text
    quote = " ".join(said.split())
    if quote and quote != code and code in _SAID_BY_SERVER:
        if len(quote) > _LONGEST_QUOTE:
            quote = quote[: _LONGEST_QUOTE - 1].rstrip() + "…"
        text = f"{text} The server said: “{quote}”"
    return TurnNote(label, text, "danger")
