"""Error codes as sentences for a person: what happened, what is safe, one action (spec/shell.md section 6).

No Qt: the command line prints the same words. A sentence claims nothing that the code does not prove, and
never shows an internal id or a path outside the data folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from app.sentence_table import SENTENCES
from runtime.base.record import record

Detail: TypeAlias = Mapping[str, str | float | bool | None]
NO_DETAIL: Detail = MappingProxyType({})

_FALLBACKS: Mapping[str, str] = MappingProxyType(
    {
        "model": "the model",
        "server": "the server",
        "folder": "the data folder",
        "option": "an option",
        "wait": "a moment",
        "file": "an attachment",
        "status": "an error",
        "limit": "the size limit",
    }
)
_LONGEST = 80
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]+")
_INTERNAL_ID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}|[0-9a-f]{24,}", re.IGNORECASE)
_PATH = re.compile(r"^(?:[~/\\]|[A-Za-z]:[\\/]|file:)|[\\/][^\\/\s]+[\\/]")
_URL = re.compile(r"^https?://", re.IGNORECASE)


@record
class Sentence:
    """Three short sentences: ``what`` happened, what is ``safe``, and the one ``action`` that helps."""

    what: str
    safe: str
    action: str

    @property
    def text(self) -> str:
        """All three as one paragraph, as the command line prints them."""
        return " ".join(part for part in (self.what, self.safe, self.action) if part)


def sentence(code: str, detail: Detail = NO_DETAIL) -> Sentence:
    """The sentence of ``code``; an unknown code gets a general one that claims nothing.

    ``detail`` fills in content-free facts: ``model``, ``server``, ``folder`` (the data folder), ``option``,
    ``file`` (a name), ``status``, ``limit`` and ``retry_after`` in seconds. What looks like a path or an
    internal id is left out.
    """
    what, safe, action = SENTENCES.get(code, SENTENCES[""])
    words = {name: shown(detail.get(name), name) or fallback for name, fallback in _FALLBACKS.items()}
    seconds = detail.get("retry_after")
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0:
        words["wait"] = duration(seconds)
    return Sentence(_filled(what, words), _filled(safe, words), _filled(action, words))


def knows(code: str) -> bool:
    """Whether ``code`` has a sentence of its own."""
    return bool(code) and code in SENTENCES


def shown(value: object, name: str = "") -> str:
    """A detail as it may be shown: one short line, or empty if it looks like a path or an internal id."""
    if value is None or isinstance(value, bool):
        return ""
    text = _CONTROL.sub(" ", str(value)).strip()
    if name != "folder":
        if _INTERNAL_ID.search(text) or (_PATH.search(text) and not _URL.match(text) and name != "model"):
            return ""
        if name == "model" and re.match(r"^[~/\\]|^[A-Za-z]:[\\/]", text):
            return ""
        if len(text) > _LONGEST:
            text = text[: _LONGEST - 1].rstrip() + "…"
    return text


def duration(seconds: float) -> str:
    """``45 seconds``, ``2 minutes``: whole units, rounded up, so that waiting that long is enough."""
    whole = max(1, int(-(-seconds // 1)))
    if whole < 120:
        return "1 second" if whole == 1 else f"{whole} seconds"
    minutes = -(-whole // 60)
    return f"{minutes} minutes"


def _filled(template: str, words: Mapping[str, str]) -> str:
    """The template with its words; only our own fallback is given a capital, a person's name for a thing never."""
    text = template.format_map(words)
    first = template[1 : template.find("}")] if template.startswith("{") else ""
    if first and words[first] == _FALLBACKS[first]:
        return text[:1].upper() + text[1:]
    return text
