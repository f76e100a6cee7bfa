"""The shape of a row in the tables of sentences, and the phrases that many of them share."""

from __future__ import annotations

from typing import TypeAlias

Parts: TypeAlias = tuple[str, str, str]
"""What happened, what is safe, one action. ``{name}`` is filled from the fault's detail or a plain word."""

TEXT_SAFE = "Your text is kept."
NOTHING_SENT = "Your text is kept and nothing was sent."
NOTHING_CHANGED = "Nothing was changed."
UNTOUCHED = "The file is left exactly as it is."
