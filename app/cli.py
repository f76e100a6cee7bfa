"""The command line: commands and exit statuses. Qt-free; the window is one of its commands.

Light, because every start passes here: parsing and sentences are loaded when there is something to parse or say.
Exit status (spec/shell.md section 5): 0 done, 1 failed, 2 wrong use, 3 refused, 4 outcome unknown.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from runtime.base.errors import Fault, RejectedFault
from runtime.base.folder import DataFolder
from runtime.base.loading import load_now

if TYPE_CHECKING:
    from argparse import Namespace

DONE, FAILED, WRONG_USE, REFUSED, UNKNOWN = range(5)
_UNKNOWN_CODES = frozenset({"dispatch_unknown", "outcome_unknown"})


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; returns the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if not arguments:  # the usual start, by icon or name
        return _window(None, None, safe_mode=False)
    options = load_now("app.arguments").parse(arguments)
    if options.command:
        return _guarded(options)
    return _window(options.data_dir, options.path, safe_mode=options.safe_mode)


def _window(data_folder: str | None, path: str | None, *, safe_mode: bool) -> int:
    gc.disable()  # no collection before the first paint; the boot code turns it on again
    boot = load_now("app.boot")
    return int(boot.start(DataFolder.locate(data_folder), path, safe_mode=safe_mode))


def _guarded(options: Namespace) -> int:
    try:
        return int(load_now("app.commands.main").run(options))
    except Fault as fault:
        explain(fault)
        return status_of(fault)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return FAILED


def status_of(fault: Fault) -> int:
    """The exit status for an expected failure."""
    if fault.code in _UNKNOWN_CODES:
        return UNKNOWN
    return REFUSED if isinstance(fault, RejectedFault) else FAILED


def explain(fault: Fault) -> None:
    """What happened, what is safe and what to do, on the standard error."""
    words = load_now("app.sentences").sentence(fault.code, fault.detail)
    print(f"inkfast: {words.what}\n{words.safe}\n{words.action}".rstrip(), file=sys.stderr)
