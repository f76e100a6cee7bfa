"""What the machine must bring along: Qt's system libraries and a display. Says how to get what is missing.

Plain Python without any dependency, so that it runs before anything is installed.
Usage: ``python tools/system.py setup|test|run`` (exit status 1 if that purpose cannot be served).
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Library:
    """A shared library that Qt opens, and the package that has it on each family of systems."""

    file: str
    apt: str
    dnf: str
    pacman: str
    window_only: bool = False


LIBRARIES = (
    Library("libEGL.so.1", "libegl1", "libglvnd-egl", "libglvnd"),
    Library("libGL.so.1", "libgl1", "libglvnd-glx", "libglvnd"),
    Library("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon", "libxkbcommon"),
    Library("libdbus-1.so.3", "libdbus-1-3", "dbus-libs", "dbus"),
    Library("libfontconfig.so.1", "libfontconfig1", "fontconfig", "fontconfig"),
    Library("libfreetype.so.6", "libfreetype6", "freetype", "freetype2"),
    Library("libglib-2.0.so.0", "libglib2.0-0", "glib2", "glib2"),
    Library("libX11.so.6", "libx11-6", "libX11", "libx11"),
    Library("libxcb.so.1", "libxcb1", "libxcb", "libxcb"),
    Library("libX11-xcb.so.1", "libx11-xcb1", "libX11-xcb", "libx11", window_only=True),
    Library("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11", window_only=True),
    Library("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor", window_only=True),
    Library("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm", "xcb-util-wm", window_only=True),
    Library("libxcb-image.so.0", "libxcb-image0", "xcb-util-image", "xcb-util-image", window_only=True),
    Library("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms", window_only=True),
    Library("libxcb-randr.so.0", "libxcb-randr0", "libxcb", "libxcb", window_only=True),
    Library(
        "libxcb-render-util.so.0", "libxcb-render-util0", "xcb-util-renderutil", "xcb-util-renderutil", window_only=True
    ),
    Library("libxcb-shape.so.0", "libxcb-shape0", "libxcb", "libxcb", window_only=True),
    Library("libxcb-shm.so.0", "libxcb-shm0", "libxcb", "libxcb", window_only=True),
    Library("libxcb-sync.so.1", "libxcb-sync1", "libxcb", "libxcb", window_only=True),
    Library("libxcb-util.so.1", "libxcb-util1", "xcb-util", "xcb-util", window_only=True),
    Library("libxcb-xfixes.so.0", "libxcb-xfixes0", "libxcb", "libxcb", window_only=True),
    Library("libxcb-xkb.so.1", "libxcb-xkb1", "libxcb", "libxcb", window_only=True),
)


def missing_libraries(*, window: bool) -> list[Library]:
    """The libraries that cannot be loaded; ``window`` asks also for what only a real X11 window needs."""
    if not sys.platform.startswith("linux"):
        return []
    return [library for library in LIBRARIES if (window or not library.window_only) and not _loads(library.file)]


def _loads(file: str) -> bool:
    try:
        ctypes.CDLL(file)
    except OSError:
        return False
    return True


def fix_line(missing: list[Library]) -> str:
    """The exact command that installs what is missing on this machine."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    if shutil.which("dnf"):
        return f"{sudo}dnf install -y " + " ".join(sorted({library.dnf for library in missing}))
    if shutil.which("pacman"):
        return f"{sudo}pacman -S --needed --noconfirm " + " ".join(sorted({library.pacman for library in missing}))
    return f"{sudo}apt-get install -y " + " ".join(sorted({library.apt for library in missing}))


def has_display() -> bool:
    """Whether a window can be shown, or an explicit Qt platform was asked for."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def check(purpose: str) -> int:
    """Exit status for ``setup`` (only warns), ``test`` (no window needed) and ``run``."""
    if purpose == "run" and not has_display():
        print(
            "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can be shown.\n"
            "Without a window, send a prompt from the command line:\n"
            '    .venv/bin/inkfast send --workspace . --wait "Your prompt"',
            file=sys.stderr,
        )
        return 1
    missing = missing_libraries(window=purpose != "test")
    if not missing:
        return 0
    print(
        "Qt needs system libraries that are not installed: "
        + ", ".join(library.file for library in missing)
        + f"\nInstall them with:\n    {fix_line(missing)}",
        file=sys.stderr,
    )
    return 0 if purpose == "setup" else 1


if __name__ == "__main__":
    sys.exit(check(sys.argv[1] if len(sys.argv) > 1 else "setup"))
