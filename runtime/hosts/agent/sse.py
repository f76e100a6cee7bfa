"""Server-sent events as servers really send them (cases P07, P08, P10, P12, P13).

The SDK's own reader loses an event that ends with the stream instead of a blank line, stops at invalid
UTF-8, and takes a lone ``id:`` or ``retry:`` for an event without data. This one is tolerant; what it
reads is handed on in the plainest form.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event that carries data. ``name`` is empty unless the server named it."""

    name: str
    data: str

    def encode(self) -> bytes:
        """The event with line feeds, one ``data:`` per line and a blank line."""
        lines = "".join(f"data: {line}\n" for line in self.data.split("\n"))
        return f"{lines}\n".encode()


class EventReader:
    """Turns bytes, cut anywhere, into events; each is returned as soon as its blank line has arrived."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line: list[str] = []
        self._after_return = False
        self._name = ""
        self._data: list[str] = []
        self._started = False

    def feed(self, data: bytes, final: bool = False) -> list[ServerEvent]:
        """Events completed by ``data``; ``final`` also completes an unterminated last one."""
        text = self._decoder.decode(data, final)
        if text and not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        events: list[ServerEvent] = []
        for line in self._lines(text):
            self._take(line, events)
        if final:
            self._take("".join(self._line), events)
            self._take("", events)
            self._line = []
        return events

    def _lines(self, text: str) -> list[str]:
        """Complete lines: CR, LF and CRLF end one, and a CR does so without waiting for its LF."""
        if self._after_return and text:
            text = text.removeprefix("\n")
            self._after_return = False
        if not text:
            return []
        self._after_return = text.endswith("\r")
        parts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if len(parts) == 1:
            self._line.append(parts[0])
            return []
        first = "".join(self._line) + parts[0]
        self._line = [parts[-1]] if parts[-1] else []
        return [first, *parts[1:-1]]

    def _take(self, line: str, events: list[ServerEvent]) -> None:
        if not line:
            if self._data:
                events.append(ServerEvent(self._name, "\n".join(self._data)))
            self._name, self._data = "", []
            return
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
