"""After the first paint: the loop, the services in named stages, and the orderly end (DESIGN.md, "start")."""

from __future__ import annotations

import contextlib
import sys

from app.first_paint import Painted
from app.loop import run as run_loop
from app.trace import mark
from runtime.base.clock import SystemClock
from runtime.base.crash import CrashGuard
from runtime.base.folder import DataFolder
from runtime.base.import_thread import load
from runtime.base.log import configure
from runtime.storage.leases import Lease, LeaseBook

_FAILED = 1


def run(painted: Painted, folder: DataFolder, path: str | None) -> int:
    """Run the window until it is closed; returns the exit status."""
    clock = SystemClock()
    lease = LeaseBook(folder.leases, clock).try_acquire("owner", "window")
    if lease is None:
        sys.stderr.write("inkfast: another window has just opened this data folder. Nothing was changed.\n")
        return _FAILED
    guard = CrashGuard.arm(folder.crash, clock)
    sys.excepthook = guard.excepthook(sys.excepthook)
    stop_log = configure(folder.logs)
    try:
        status = run_loop(painted.application, lambda: _program(painted, folder, path, guard))
    finally:
        stop_log()
        _release(lease)
    guard.disarm()
    return status


async def _program(painted: Painted, folder: DataFolder, path: str | None, guard: CrashGuard) -> int:
    """Load the program's own stage in the import thread, then live in it."""
    mark("loop")
    module = await load("app.program")
    program = module.Program(painted, folder, guard)
    return int(await program.live(path))


def _release(lease: Lease) -> None:
    with contextlib.suppress(OSError):
        lease.release()
