"""Named places where a test may kill the process or make it fail.

``hit("drafts.save.after_commit")`` costs one set look-up unless armed. Arming is by environment, so
that it reaches a real child process::

    INKFAST_FAILPOINT=name            SIGKILL at the first hit
    INKFAST_FAILPOINT=name@3          at the third hit
    INKFAST_FAILPOINT=name:raise      OSError(EIO) instead of a kill
    INKFAST_FAILPOINT_LOG=FILE        append every name that is hit (for the "each one is hit" test)

Names are declared once with :func:`declare` next to the code that hits them.
"""

from __future__ import annotations

import errno
import os
import signal
from dataclasses import dataclass, field

from runtime.base.record import record

_declared: dict[str, str] = {}


@dataclass(slots=True)
class _Armed:
    name: str = ""
    at: int = 1
    action: str = "kill"
    count: int = 0
    log: str = ""
    seen: set[str] = field(default_factory=set[str])


def _from_environment() -> _Armed:
    spec = os.environ.get("INKFAST_FAILPOINT", "")
    name, _, action = spec.partition(":")
    name, _, at = name.partition("@")
    return _Armed(name, int(at or "1"), action or "kill", log=os.environ.get("INKFAST_FAILPOINT_LOG", ""))


_armed = _from_environment()


def declare(name: str, promise: str) -> str:
    """Register a failpoint and what must hold after a kill there; returns the name."""
    if name in _declared:
        raise ValueError(f"failpoint {name!r} is declared twice")
    _declared[name] = promise
    return name


def declared() -> dict[str, str]:
    """All failpoints of the modules that have been imported, with their promises."""
    return dict(_declared)


def hit(name: str) -> None:
    """Pass a failpoint: nothing happens unless the environment armed it."""
    if not _armed.name and not _armed.log:
        return
    if _armed.log and name not in _armed.seen:
        _armed.seen.add(name)
        with open(_armed.log, "a", encoding="utf-8") as file:
            file.write(name + "\n")
    if name != _armed.name:
        return
    _armed.count += 1
    if _armed.count != _armed.at:
        return
    if _armed.action == "raise":
        raise OSError(errno.EIO, f"failpoint {name}")
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


@record
class Step:
    """A durable step: one failpoint just before its commit and one just after."""

    name: str

    @property
    def before(self) -> str:
        return f"{self.name}.before_commit"

    @property
    def after(self) -> str:
        return f"{self.name}.after_commit"


def step(name: str, promise: str) -> Step:
    """Declare both failpoints of a durable step."""
    made = Step(name)
    declare(made.before, promise)
    declare(made.after, promise)
    return made
