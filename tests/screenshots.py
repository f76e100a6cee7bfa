"""Pictures of each main state of the real window, in both themes: ``make screenshots`` (spec/shell.md section 3).

``python -m tests.screenshots [FOLDER]``; needs Xvfb, openbox, xdotool and ImageMagick.
"""

from __future__ import annotations

import json
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.fakes.display import Display, missing_tools
from tests.fakes.program import Program, rows, wait_for

_LONG = """Compare the two tide models before the harbour meeting. I need:

1. where they disagree by more than ten minutes,
2. which one the instrument agrees with,
3. a paragraph that I can read out loud.

Keep the port names as they are, and say plainly where the data is missing. Do not guess: an empty
cell is better than a wrong one. The last line is here so that the composer has something to scroll.
"""


class Studio:
    """One program on one display with one data folder."""

    def __init__(self, display: Display, folder: Path, theme: str, model: str) -> None:
        self.display = display
        self.data = folder / "data"
        self.data.mkdir(mode=0o700, parents=True)
        settings: dict[str, object] = {"version": 1, "theme": theme, "default_model": model}
        if model.startswith("harbour:"):
            settings["servers"] = [{"id": "harbour", "name": "Harbour", "base_url": _dead(), "models": ["tide"]}]
        (self.data / "settings.json").write_text(json.dumps(settings))
        self.program: Program | None = None

    def start(self, **extra: str) -> None:
        self.program = Program(self.data, self.display.environment(**extra))
        self.program.wait_stage("ready")
        self.display.window()
        self.settle()

    def settle(self, seconds: float = 0.8) -> None:
        """Let the window paint what it has to say; a picture waits for no condition."""
        self.display.run("sleep", str(seconds))

    def end(self) -> None:
        if self.program is not None and self.program.process.poll() is None:
            self.program.quit()

    def turn_states(self) -> list[object]:
        return [row[0] for row in rows(self.data / "state-v1.sqlite", "SELECT state FROM turns")]


def empty(studio: Studio) -> None:
    studio.start()


def long_draft(studio: Studio) -> None:
    studio.start()
    for line in _LONG.splitlines():
        studio.display.type(line)
        studio.display.key("shift+Return")
    studio.settle()


def streaming(studio: Studio) -> None:
    studio.start()
    studio.display.type("Why is the harmonic fit off by an hour?")
    studio.display.key("Return")
    wait_for(lambda: "running" in studio.turn_states(), "a running turn")
    studio.settle(1.2)


def finished(studio: Studio) -> None:
    studio.start()
    studio.display.type("Say hello to the harbour in one sentence.")
    studio.display.key("Return")
    wait_for(lambda: "completed" in studio.turn_states(), "a completed turn")
    studio.settle()


def recovery(studio: Studio) -> None:
    armed = studio.display.environment(INKFAST_FAILPOINT="operations.starting.after_commit")
    studio.program = Program(studio.data, armed)
    studio.program.wait_stage("ready")
    studio.display.window()
    studio.display.type("Compare the two tide models before the harbour meeting.")
    studio.settle()
    studio.display.key("Return")
    studio.program.process.wait(timeout=30)
    studio.start()


def error(studio: Studio) -> None:
    studio.start()
    studio.display.type("Is the harbour office open on Friday?")
    studio.display.key("Return")
    wait_for(
        lambda: (
            "failed" in studio.turn_states()
            or bool(
                rows(
                    studio.data / "desktop" / "drafts-v1.sqlite",
                    "SELECT 1 FROM operations WHERE phase = 'runtime_failed'",
                )
            )
        ),
        "a failure",
    )
    studio.settle()


STATES: tuple[tuple[str, str, Callable[[Studio], None]], ...] = (
    ("empty", "local:smollm2-135m", empty),
    ("long-draft", "local:smollm2-135m", long_draft),
    ("streaming", "scripted:slow", streaming),
    ("finished", "local:smollm2-135m", finished),
    ("recovery", "local:smollm2-135m", recovery),
    ("error", "harbour:tide", error),
)


def main() -> int:
    """Take all pictures; returns the exit status."""
    lacking = missing_tools()
    if lacking:
        sys.stderr.write(f"Not installed: {', '.join(lacking)}. No picture was taken.\n")
        return 1
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "shots")
    wanted = sys.argv[2:]
    for theme in ("light", "dark"):
        for name, model, pose in STATES:
            if wanted and name not in wanted:
                continue
            scratch = Path(tempfile.mkdtemp())
            with Display(1180, 760) as display:
                studio = Studio(display, scratch, theme, model)
                try:
                    pose(studio)
                    display.picture(target / f"{name}-{theme}.png")
                finally:
                    studio.end()
            shutil.rmtree(scratch)
            sys.stdout.write(f"{target / f'{name}-{theme}.png'}\n")
    return 0


def _dead() -> str:
    """An address on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


if __name__ == "__main__":
    sys.exit(main())
