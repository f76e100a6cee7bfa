"""Navigation intents (spec/drafts.md section 5): the newest wish wins, a superseded one does nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Intent:
    """One navigation, claimed before its first await."""

    number: int


class Navigation:
    """A monotonic counter. A navigation asks :meth:`is_newest` after each await and stops if it is not."""

    def __init__(self) -> None:
        self._newest = 0

    def claim(self) -> Intent:
        """Claim the next intent; every earlier one is superseded at once."""
        self._newest += 1
        return Intent(self._newest)

    def current(self) -> Intent:
        """The newest intent, claimed by nobody new: what a submission captures."""
        return Intent(self._newest)

    def is_newest(self, intent: Intent) -> bool:
        return intent.number == self._newest
