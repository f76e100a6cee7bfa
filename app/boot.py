"""Start: read in a thread while Qt is imported, paint once, then load the rest in named stages (DESIGN.md, "start").

No Qt at the top: the boot reader's thread must run while PySide6 is being imported.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import cast

from app.boot_reader import BootReader
from app.guard import refuse_bad_pair
from app.trace import mark
from app.version import VERSION
from drafts.journal import EditJournal
from runtime.base.errors import EnvironmentFault
from runtime.base.folder import DataFolder
from runtime.base.loading import load_now
from runtime.storage.lockfiles import looks_held

_FAILED = 1


def start(folder: DataFolder, path: str | None, *, safe_mode: bool) -> int:
    """Show the window and run it; returns the exit status. What is in the way is said on the standard error."""
    mark("start")
    gc.disable()  # no collection before the first paint
    reader = BootReader(folder, restore=not safe_mode)
    reader.start()  # only reads, also where nothing may be opened
    refusal = _refusal()
    if refusal:
        return _say(refusal)
    try:
        folder.prepare()
    except EnvironmentFault as fault:
        words = load_now("app.sentences").sentence(fault.code, {"folder": str(folder.root)})
        return _say(f"{words.what} {words.safe} {words.action}")
    if looks_held(folder.leases, "owner", "window"):
        return _second(folder, path)
    paint = load_now("app.first_paint")
    application = paint.make_application()
    mark("qt")
    journal = EditJournal.open(folder.draft_journal)
    painted = paint.build(application, reader.result(), journal, VERSION)
    paint.show(painted)
    gc.freeze()
    gc.enable()
    return int(load_now("app.gui").run(painted, folder, path))


def _refusal() -> str:
    """Why no window can open here at all; empty if it can."""
    try:
        found = cast("str", load_now("PySide6").__version__)
    except ModuleNotFoundError:
        return "Qt is not installed. Nothing was changed. Run `make setup`."
    pair = refuse_bad_pair((sys.version_info.major, sys.version_info.minor), found)
    if pair:
        return pair
    platform = os.environ.get("QT_QPA_PLATFORM", "")
    if (
        sys.platform == "linux"
        and not platform.startswith(("offscreen", "minimal", "vnc"))
        and not os.environ.get("DISPLAY")
        and not os.environ.get("WAYLAND_DISPLAY")
    ):
        return (
            "There is no display to open a window on. Nothing was changed. "
            "Start it in a desktop session, or use `inkfast send --wait TEXT` in this terminal."
        )
    return ""


def _second(folder: DataFolder, path: str | None) -> int:
    """Another window has this data folder: raise it."""
    instance = load_now("app.instance")
    if instance.hand_over(folder, path):
        return 0
    return _say(
        "Inkfast is already running with this data folder, but its window does not answer. "
        "Nothing was changed. Wait a moment and try again."
    )


def _say(text: str) -> int:
    sys.stderr.write(f"inkfast: {text}\n")
    return _FAILED
