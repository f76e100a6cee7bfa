"""What the banner above the composer says: one sentence and its actions for each phase and recovery row.

No Qt. The rows are those of spec/drafts.md section 6 ("Phases", "Recovery at startup"): a banner says which of
them it is, what is safe, and offers only what that phase allows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

from app.sentences import NO_DETAIL, Detail, sentence
from drafts.phases import Phase
from runtime.base.record import record

RECEIPT_FOUND = "receipt_found"
"""The code of an abandoned operation whose receipt turned up later (drafts/operations.py)."""

Tone: TypeAlias = Literal["info", "warn", "danger"]


@record
class BannerAction:
    """One button: ``id`` is what the banner's signal carries. At most one action of a banner is primary."""

    id: str
    label: str
    primary: bool = False


@record
class BannerText:
    """A banner: ``title`` is what happened, ``text`` what is safe. ``busy`` shows that work is going on."""

    title: str
    text: str
    tone: Tone
    actions: tuple[BannerAction, ...] = ()
    busy: bool = False


CONTINUE = BannerAction("continue", "Continue", primary=True)
RETRY = BannerAction("continue", "Try again", primary=True)
CHECK_AGAIN = BannerAction("check_again", "Check again", primary=True)
SEND_AS_NEW = BannerAction("send_as_new", "Send as new…")
KEEP_AS_DRAFT = BannerAction("keep_as_draft", "Keep as draft")
KEEP_INTERRUPTED = BannerAction("cancel", "Keep as draft")
CANCEL = BannerAction("cancel", "Cancel")
RETRY_TURN = BannerAction("retry", "Retry", primary=True)
RETRY_UNKNOWN = BannerAction("retry_unknown", "Send again…")
SEND = BannerAction("send", "Send", primary=True)
NEW_CONVERSATION = BannerAction("new_conversation", "Use in a new conversation", primary=True)
KEEP_MINE = BannerAction("keep_mine", "Keep mine", primary=True)
KEEP_OTHER = BannerAction("keep_other", "Keep the other")
SAVE_COPY = BannerAction("save_copy", "Save a copy as file…")

_INTERRUPTED = BannerText(
    "You were interrupted before this was sent.",
    "The text below is exactly what you had. Nothing has been dispatched.",
    "info",
    (CONTINUE, KEEP_INTERRUPTED),
)
_UNKNOWN = BannerText(
    "It is not known whether this was sent.",
    "The text is safe. It is not sent again by itself.",
    "warn",
    (CHECK_AGAIN, SEND_AS_NEW, KEEP_AS_DRAFT),
)
_NOT_YET = "The text is saved. Nothing has been sent yet."
_ONCE = "The text is saved. It is handed over once."
_SAID = {
    Phase.RESERVED: BannerText("Preparing to send…", _NOT_YET, "info", (CANCEL,), busy=True),
    Phase.STARTING: BannerText("Starting the model…", _NOT_YET, "info", (CANCEL,), busy=True),
    Phase.DISPATCHING: BannerText("Sending…", _ONCE, "info", (CANCEL,), busy=True),
    Phase.DISPATCHING_SHELL: BannerText("Starting the command…", _ONCE, "info", (CANCEL,), busy=True),
    Phase.CANCEL_REQUESTED: BannerText(
        "Cancelling…", "The text is saved. This page says what happened as soon as it is known.", "info", busy=True
    ),
    Phase.CANCELLED: BannerText("Sending was cancelled.", "Nothing was sent. The text can be changed again.", "info"),
    Phase.ABANDONED: BannerText(
        "This is a draft again.",
        "It is still not known whether the earlier send arrived. If it did, it appears as a conversation.",
        "info",
    ),
}
_GONE = {
    "session_archived": "was archived",
    "session_trashed": "was moved to the trash",
    "session_erased": "was erased",
}


def recovery_banner(phase: Phase | str | None, error_code: str = "", detail: Detail = NO_DETAIL) -> BannerText | None:
    """The banner for a draft whose latest operation is in ``phase``; None if there is nothing to say.

    ``error_code`` and ``detail`` are those of the operation; ``session_archived``, ``session_trashed`` and
    ``session_erased`` are the lifecycle conflicts that recovery reports.
    """
    if phase is None:
        return None
    known = Phase(phase)
    gone = _GONE.get(error_code, "")
    if known is Phase.DISPATCH_UNKNOWN:
        why = f"The conversation that it was going to {gone}." if gone else ""
        return replace(_UNKNOWN, text=_joined(why, _UNKNOWN.text))
    if known is Phase.RESUME_REQUIRED:
        words = sentence(error_code, detail)
        return (
            replace(_INTERRUPTED, text=_joined(_INTERRUPTED.text, words.what, words.action))
            if error_code
            else _INTERRUPTED
        )
    if known is Phase.TERMINAL_FAILED and gone:
        return BannerText(
            f"The conversation that this was going to {gone}.",
            "The text is kept and nothing was sent.",
            "warn",
            (NEW_CONVERSATION,),
        )
    if known is Phase.ABANDONED and error_code == RECEIPT_FOUND:
        return BannerText(
            "The earlier send did arrive.",
            "It is shown as a conversation in the list. This text is still here as a draft.",
            "warn",
        )
    if known is Phase.RUNTIME_FAILED:
        return _failed(error_code, detail, "Nothing was sent.", (RETRY, KEEP_INTERRUPTED))
    if known is Phase.TERMINAL_FAILED:
        return _failed(error_code, detail, "It was not sent, and the text can be changed.", (SEND,))
    return _SAID.get(known)


_ENDED_BADLY = {
    "interrupted": BannerText(
        "This answer was interrupted.",
        "What had arrived is kept. Nothing is asked again by itself.",
        "info",
        (RETRY_TURN,),
    ),
    "failed": BannerText(
        "This was not answered.",
        "Your message is kept in the conversation. Retry asks once more.",
        "info",
        (RETRY_TURN,),
    ),
    "timed_out": BannerText(
        "The answer stopped coming.", "What had arrived is kept. Retry asks once more.", "info", (RETRY_TURN,)
    ),
    "unknown": BannerText(
        "It is not known whether this was answered.",
        "It may have been answered or acted on elsewhere. It is not sent again by itself.",
        "warn",
        (RETRY_UNKNOWN,),
    ),
}


def turn_banner(state: str) -> BannerText | None:
    """What can be done about the last turn of a conversation, where it did not end well."""
    return _ENDED_BADLY.get(state)


def banner_for_error(code: str, detail: Detail = NO_DETAIL, tone: Tone = "danger") -> BannerText:
    """A refusal or a failure that is no phase of an operation: its sentence, without buttons."""
    words = sentence(code, detail)
    return BannerText(words.what, _joined(words.safe, words.action), tone)


def save_error_banner(code: str, detail: Detail = NO_DETAIL) -> BannerText:
    """A save that failed and is tried again. The text is in memory."""
    words = sentence(code, detail)
    return BannerText(
        words.what,
        "This text is not saved yet. It stays in this window, and saving is tried again.",
        "danger",
        (SAVE_COPY,),
    )


def conflict_banner() -> BannerText:
    """A draft with a stored conflict copy."""
    return BannerText(
        "This draft was also changed in another window.",
        "Both texts are safe. Choose what stays here; the other one is kept as a copy.",
        "warn",
        (KEEP_MINE, KEEP_OTHER),
    )


def follow_up_unknown_banner() -> BannerText:
    """A follow-up that was handed over without an answer: its text is held until the receipt decides."""
    return replace(_UNKNOWN, actions=(CHECK_AGAIN,))


def discarded_elsewhere_banner() -> BannerText:
    """The draft was discarded elsewhere while this window still shows its text."""
    words = sentence("discarded")
    return BannerText(words.what, words.safe, "warn", (NEW_CONVERSATION, SAVE_COPY))


def _failed(code: str, detail: Detail, safe: str, actions: tuple[BannerAction, ...]) -> BannerText:
    words = sentence(code, detail)
    return BannerText(words.what, _joined("Your text is kept.", safe, words.action), "danger", actions)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
