"""What a failed command says. The sentences are those of the window, less what is true only of a window."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from app.commands.output import say
from app.sentences import Sentence, sentence
from runtime.base.errors import Fault, RejectedFault

FAILED, REFUSED, UNKNOWN = 1, 3, 4
_UNKNOWN_CODES = frozenset({"dispatch_unknown", "outcome_unknown"})
_SAVED = "What was saved is safe."
_WITHOUT_WINDOW: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "database_locked": (_SAVED, "Close other copies or backup programs that use the data folder, then try again."),
        "disk_full": (_SAVED, "Free some space, then try again."),
        "read_only": (_SAVED, "Make the data folder writable, then try again."),
        "io_error": (_SAVED, "Check the disk, then try again."),
    }
)
_OF_A_SEND = re.compile(r"\b(text|sent|send|window|message)\b", re.IGNORECASE)
_NOT_STORED = "The text is not confirmed as stored: keep your own copy."


class SendFailed(Fault):
    """A send that failed with ``cause``. ``draft_id``: where the text was read back; empty if it was not."""

    def __init__(self, cause: Fault, draft_id: str) -> None:
        super().__init__(cause.code, str(cause), **cause.detail)
        self.cause = cause
        self.draft_id = draft_id


def status_of(fault: Fault) -> int:
    """The exit status for an expected failure."""
    if fault.code in _UNKNOWN_CODES:
        return UNKNOWN
    cause = fault.cause if isinstance(fault, SendFailed) else fault
    return REFUSED if isinstance(cause, RejectedFault) else FAILED


def explain(fault: Fault) -> None:
    """What happened, what is safe and what to do, on the standard error."""
    words = spoken(fault)
    say("\n".join(part for part in (f"inkfast: {words.what}", words.safe, words.action) if part))
    if isinstance(fault, SendFailed) and fault.draft_id:
        say(kept_as(fault.draft_id))


def spoken(fault: Fault) -> Sentence:
    """The sentence of ``fault`` with only such claims as this command has proved."""
    words = without_window(fault.code, sentence(fault.code, fault.detail))
    if isinstance(fault, SendFailed):
        return words if fault.draft_id else replace(words, safe=_unstored(fault, words))
    changed = "Nothing was changed." if isinstance(fault, RejectedFault) else _SAVED
    return replace(words, safe=changed if _OF_A_SEND.search(words.safe) else words.safe)


def without_window(code: str, words: Sentence) -> Sentence:
    """No promise of a window that keeps text and saves by itself."""
    safe, action = _WITHOUT_WINDOW.get(code, (words.safe, words.action))
    return replace(words, safe=safe, action=action)


def kept_as(draft_id: str) -> str:
    """Where the text of a send is that did not become a conversation."""
    return f"The text is kept as draft {draft_id}; “inkfast drafts show {draft_id}” prints it."


def _unstored(fault: SendFailed, words: Sentence) -> str:
    safe = "" if _OF_A_SEND.search(words.safe) else words.safe
    sent = "" if fault.code in _UNKNOWN_CODES else "Nothing was sent."
    return " ".join(part for part in (safe, sent, _NOT_STORED) if part)
