"""Short times for lists: ``now``, ``12 min``, ``2 h``, ``14:01``, ``Tue``, ``12 Nov``, ``Nov 2025``. No Qt."""

from __future__ import annotations

from datetime import datetime, tzinfo

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MINUTE = 60
_HOUR = 60 * _MINUTE


class TimeLabels:
    """Labels relative to one moment, so that a long list is labelled with one reading of the clock."""

    def __init__(self, now_ms: int, zone: tzinfo | None = None) -> None:
        """``zone`` is the person's time zone; None is that of the machine."""
        self._now_ms = now_ms
        self._zone = zone
        self._now = self._moment(now_ms)

    def past(self, at_ms: int) -> str:
        """How long ago, as a conversation list says it."""
        seconds = (self._now_ms - at_ms) // 1000
        if seconds < _MINUTE:  # also a clock that was set back
            return "now"
        if seconds < _HOUR:
            return f"{seconds // _MINUTE} min"
        if seconds < 6 * _HOUR:
            return f"{seconds // _HOUR} h"
        return self.clock(at_ms)

    def clock(self, at_ms: int) -> str:
        """The time of day for today, a day for this week, a date before."""
        moment = self._moment(at_ms)
        days = (self._now.date() - moment.date()).days
        if days <= 0:
            return f"{moment.hour:02d}:{moment.minute:02d}"
        if days < 7:
            return _DAYS[moment.weekday()]
        month = _MONTHS[moment.month - 1]
        return f"{moment.day} {month}" if moment.year == self._now.year else f"{month} {moment.year}"

    def _moment(self, at_ms: int) -> datetime:
        return datetime.fromtimestamp(at_ms / 1000, self._zone)
