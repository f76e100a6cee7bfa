"""What is painted first must import nothing heavy: Qt and the standard library, without a loop or a validator."""

from __future__ import annotations

import subprocess
import sys

_MODULES = "app.theme, app.icons, app.composer.panel, app.transcript.view"
_HEAVY = ("asyncio", "pydantic", "apsw", "markdown_it", "pygments", "qasync", "concurrent.futures")


def test_the_first_painted_widgets_import_qt_and_the_standard_library_only() -> None:
    code = f"import sys, {_MODULES}\nprint(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not set(_HEAVY) & set(loaded)
    foreign = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    ours = {"app", "drafts", "runtime", "resources", "__main__", "_distutils_hack"}
    qt = {"PySide6", "shiboken6", "shibokensupport", "__feature__", "signature_bootstrap"}
    assert not {name for name in foreign - ours - qt if not name.startswith("__editable__")}
