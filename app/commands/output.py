"""What commands print: one JSON object, or plain text that fits the terminal.

A reader that goes away (``| head``) ends the output and not the command; an output that cannot be written is a
failure of its own; a character that the terminal's encoding lacks is shown by its number and is never an error.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TextIO

from runtime.base.errors import EnvironmentFault

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def prepare_streams() -> None:
    """Make the three streams usable whatever the caller left of them. Called once, before anything is printed."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - lives as long as the process
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def read_input() -> str:
    """All of the standard input as UTF-8. Bytes that are none stay visible as such, so that nothing is guessed."""
    stream: TextIO = sys.stdin
    return stream.buffer.read().decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def write(text: str) -> None:
    """To the standard output, at once. Raises :class:`EnvironmentFault` ``output_failed``."""
    try:
        sys.stdout.write(_CONTROL.sub("\ufffd", text) if sys.stdout.isatty() else text)
        sys.stdout.flush()
    except BrokenPipeError:
        _abandon()
    except OSError as error:
        _abandon()
        raise EnvironmentFault("output_failed", errno=error.errno) from error


def print_json(value: Mapping[str, object]) -> None:
    """One JSON object on the standard output."""
    write(json.dumps(value, ensure_ascii=True, indent=2) + "\n")


def print_lines(lines: Iterable[str]) -> None:
    """One line each, whatever a title or a text holds."""
    write("".join(one_line(line) + "\n" for line in lines))


def say(text: str) -> None:
    """A sentence for the person on the standard error; silence if nobody listens there."""
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except OSError:
        return


def one_line(text: str) -> str:
    """Without line breaks and other control characters."""
    return _BREAKS.sub(" ", text)


def iso(milliseconds: int) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _abandon() -> None:
    """From here on the output goes nowhere; also what is still buffered, which would fail again at the exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):
        return
    finally:
        os.close(nowhere)
