"""What the first paint imports stays light (DESIGN.md, "start")."""

from __future__ import annotations

import subprocess
import sys

import pytest

PAGES = ("app.window", "app.conversation.draft_page", "app.conversation.session_page", "app.sidebar.tree")
HEAVY = ("asyncio", "pydantic", "apsw", "qasync", "rfc8785", "httpx2", "keyring", "concurrent.futures")


@pytest.mark.parametrize("module", PAGES)
def test_pages_are_imported_without_anything_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*(name for name in {HEAVY!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []
