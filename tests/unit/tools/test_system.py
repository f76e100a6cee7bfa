"""What is missing on a machine is named together with the command that brings it."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from tests.architecture.tree import ROOT
from tools import system
from tools.system import LIBRARIES, Library, check, fix_line

ABSENT = Library("libdoes-not-exist.so.9", "apt-name", "dnf-name", "pacman-name")


@pytest.fixture(autouse=True)
def _linux_without_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_display_running_points_to_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("run") == 1
    said = capsys.readouterr().err
    assert "There is no display" in said
    assert "inkfast send" in said


@pytest.mark.parametrize(("purpose", "status"), [("setup", 0), ("test", 1), ("run", 1)])
def test_a_missing_library_is_named_with_its_fix(
    purpose: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DISPLAY", ":9")
    monkeypatch.setattr(system, "LIBRARIES", (ABSENT,))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert check(purpose) == status
    said = capsys.readouterr().err
    assert "libdoes-not-exist.so.9" in said
    assert "apt-get install -y apt-name" in said


@pytest.mark.parametrize(
    ("manager", "line"),
    [("dnf", "dnf install -y dnf-name"), ("pacman", "pacman -S --needed --noconfirm pacman-name")],
)
def test_the_fix_fits_the_system(manager: str, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name if name == manager else None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert fix_line([ABSENT, ABSENT]) == f"sudo {line}"


def test_a_machine_that_has_everything_is_told_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "LIBRARIES", ())
    assert check("test") == 0
    assert capsys.readouterr().err == ""


def test_the_ci_entry_installs_every_library() -> None:
    entry = (ROOT / ".ci" / "run").read_text(encoding="utf-8").split()
    assert [library.apt for library in LIBRARIES if library.apt not in entry] == []
