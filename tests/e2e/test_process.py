"""The program as a process: a second launch, the end, and a machine without a display."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.base.folder import DataFolder
from tests.e2e.conftest import Start
from tests.e2e.kit import active_texts
from tests.fakes.display import Display
from tests.fakes.gguf import write_model
from tests.fakes.program import ROOT, Program, rows, wait_for

DEAD_PROXY = "http://127.0.0.1:9"


@pytest.mark.xvfb
def test_a_second_launch_raises_the_first_window(
    start: Start, display: Display, folder: DataFolder, tmp_path: Path
) -> None:
    person = start()
    window = display.window()
    display.run("xdotool", "windowminimize", "--sync", window)
    project = tmp_path / "project"
    project.mkdir()
    second = Program(folder.root, display.environment(), os.fspath(project))
    assert second.process.wait(timeout=60) == 0, second.errors()
    assert display.window() == window
    wait_for(lambda: ("project",) in rows(folder.state_database, "SELECT name FROM workspaces"), "the workspace")
    assert person.program.process.poll() is None
    assert person.leave() == 0


@pytest.mark.xvfb
def test_SIGTERM_ends_in_order_and_keeps_what_was_typed_last(start: Start, folder: DataFolder) -> None:
    person = start()
    person.type("the last words")
    person.wait_written("the last words")
    assert person.program.quit() == 0
    assert not Path(f"{folder.drafts_database}-wal").exists()  # before a reader of ours makes a new one
    assert person.program.stages()["closed"] > person.program.stages()["ready"]
    assert active_texts(folder) == ["the last words"]
    assert [path.name for path in folder.draft_journal.iterdir() if path.stat().st_size] == []


def test_without_a_display_it_says_so_and_names_the_command(folder: DataFolder) -> None:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    program = Program(folder.root, environment)
    assert program.process.wait(timeout=60) == 1
    assert "no display" in program.errors() and "inkfast send" in program.errors()
    assert "Traceback" not in program.errors()
    assert not folder.root.exists()


@pytest.mark.engine
@pytest.mark.timeout(180)
def test_N01_the_embedded_engine_answers_behind_dead_proxies(folder: DataFolder) -> None:
    hidden = ("NO_PROXY", "no_proxy", "DISPLAY", "WAYLAND_DISPLAY")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        environment |= {name: DEAD_PROXY, name.lower(): DEAD_PROXY}
    folder.prepare()
    write_model(folder.models / "short.gguf")
    asked = ["--model", "local:short", "--data-dir", os.fspath(folder.root), "Say hello."]
    command = [sys.executable, "-m", "app", "send", "--wait", *asked]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=150, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()
