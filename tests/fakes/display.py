"""A real X display for tests and pictures: Xvfb, a window manager, keys, mouse and pictures."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType

NEEDED = ("Xvfb", "openbox", "xdotool", "xclip", "import")


def missing_tools() -> list[str]:
    """Programs that are not installed; tests that need them say so instead of passing."""
    return [name for name in NEEDED if shutil.which(name) is None]


class Display:
    """One Xvfb of its own; use as a context manager."""

    def __init__(self, width: int = 1440, height: int = 900) -> None:
        self._size = f"{width}x{height}x24"
        self._processes: list[subprocess.Popen[bytes]] = []
        self.name = ""

    def __enter__(self) -> Display:
        read, write = os.pipe()
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", self._size, "-nolisten", "tcp", "-dpi", "96"],
            pass_fds=(write,),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._processes.append(server)
        os.close(write)
        with os.fdopen(read) as pipe:
            self.name = ":" + pipe.readline().strip()
        manager = subprocess.Popen(
            ["openbox", "--sm-disable"], env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._processes.append(manager)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in reversed(self._processes):
            process.wait(timeout=10)

    def environment(self, **extra: str) -> dict[str, str]:
        """The environment for a program on this display."""
        base = {name: value for name, value in os.environ.items() if name not in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY")}
        return {**base, "DISPLAY": self.name, "QT_QPA_PLATFORM": "xcb", **extra}

    def run(self, *command: str, timeout: float = 60) -> str:
        """Run a tool on this display and return what it printed."""
        done = subprocess.run(command, env=self.environment(), capture_output=True, timeout=timeout, check=True)
        return done.stdout.decode()

    def window(self, title: str = "Inkfast", timeout: float = 60) -> str:
        """The id of the visible window with ``title``, focused; waits until it exists."""
        found = self.run("timeout", str(timeout), "xdotool", "search", "--sync", "--onlyvisible", "--name", title)
        identifier = found.split()[-1]
        self.run("xdotool", "windowfocus", "--sync", identifier)
        return identifier

    def type(self, text: str) -> None:
        self.run("xdotool", "type", "--delay", "20", "--", text, timeout=300)

    def paste(self, text: str) -> None:
        """Ctrl+V of ``text``: keys that no layout has, like CJK, get lost when a tool maps them one by one."""
        subprocess.run(  # a child of it stays, to own the clipboard: it must not hold a pipe of ours
            ["xclip", "-selection", "clipboard", "-in"],
            input=text.encode(),
            env=self.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=30,
            check=True,
        )
        self.key("ctrl+v")

    def key(self, *names: str) -> None:
        self.run("xdotool", "key", "--delay", "20", *names)

    def click(self, x: int, y: int) -> None:
        self.run("xdotool", "mousemove", str(x), str(y), "click", "1")

    def picture(self, path: Path) -> Path:
        """A PNG of the whole screen."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.run("import", "-window", "root", os.fspath(path))
        return path
