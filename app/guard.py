"""Refuses to start on a pair of Python and Qt that is known to kill the process after a while.

WORKAROUND(LIBRARIES.md, "Qt"): PySide6 6.12.0 on Python 3.10 and 3.11 drops a reference to ``None`` on every
void call; after some 5,000 calls the process dies with "none_dealloc", long after a first look went well.
"""

from __future__ import annotations


def refuse_bad_pair(python: tuple[int, int], pyside: str) -> str | None:
    """A sentence for the person if ``pyside`` (such as ``"6.12.0"``) must not run on ``python``, else None."""
    if python < (3, 12) and _series(pyside) == (6, 12):
        return (
            f"PySide6 {pyside} on Python {python[0]}.{python[1]} ends the program after a while. "
            "Nothing was opened and nothing was lost. "
            "Use Python 3.12 or 3.13, or run `make setup` to get PySide6 6.11."
        )
    return None


def _series(version: str) -> tuple[int, int] | None:
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    return (int(major), int(minor)) if major.isdigit() and minor.isdigit() else None
