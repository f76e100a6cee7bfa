"""The one place that imports by name: boot stages and hosts.

Heavy libraries stand at the top of their modules; those modules are loaded by name after the first paint, so that
neither start-up nor the GUI thread pays for them (DESIGN.md, "heavy libraries"). While a loop runs, ask
:mod:`runtime.base.import_thread`.
"""

from __future__ import annotations

import importlib
from types import ModuleType


def load_now(name: str) -> ModuleType:
    """Import module ``name`` in the calling thread (boot, before any loop runs; the command line)."""
    return importlib.import_module(name)  # noqa: TID251 - the one place
