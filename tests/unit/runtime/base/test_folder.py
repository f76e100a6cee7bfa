"""The data folder: where it is, that it is private, and what happens if it cannot be used (spec/shell.md section 6)."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from runtime.base.errors import EnvironmentFault
from runtime.base.folder import DataFolder, usual_root

AS_NOBODY = """
import os, sys
from pathlib import Path
from runtime.base.errors import EnvironmentFault
from runtime.base.folder import DataFolder

if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    DataFolder(Path(sys.argv[1])).prepare()
    print("prepared")
except EnvironmentFault as fault:
    print(fault.code)
"""


def test_the_option_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("INKFAST_HOME", str(tmp_path / "environment"))
    assert DataFolder.locate(str(tmp_path / "option")).root == tmp_path / "option"
    assert DataFolder.locate(None).root == tmp_path / "environment"
    monkeypatch.setenv("INKFAST_HOME", "")
    assert DataFolder.locate(None).root.name == "Inkfast"


def test_a_relative_folder_becomes_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert DataFolder.locate("here").root == tmp_path / "here"


def test_every_folder_is_private_and_preparing_twice_is_harmless(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "a new" / "data folder")
    folder.prepare()
    folder.settings.write_bytes(b"kept")
    folder.prepare()
    assert folder.settings.read_bytes() == b"kept"
    made = [folder.root, *(path for path in folder.root.rglob("*") if path.is_dir())]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}
    assert {path.relative_to(folder.root).as_posix() for path in made[1:]} == {
        "desktop",
        "desktop/draft-journal",
        "desktop/draft-workers",
        "blobs",
        "models",
        "logs",
        "crash",
    }


def test_a_file_in_the_place_of_the_folder_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"")
    with pytest.raises(EnvironmentFault) as caught:
        DataFolder(tmp_path / "data").prepare()
    assert caught.value.code == "data_folder_unusable"
    assert (tmp_path / "data").read_bytes() == b""


@pytest.mark.skipif(os.name == "nt", reason="modes are a POSIX matter")
@pytest.mark.parametrize("mode", [0o000, 0o500, 0o555])
def test_L11_an_unreadable_or_read_only_folder_is_a_fault(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, mode: int
) -> None:
    root = tmp_path_factory.getbasetemp()
    for parent in (root.parent, root, tmp_path):
        parent.chmod(0o755)
    folder = tmp_path / "data"
    DataFolder(folder).prepare()
    folder.chmod(mode)
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(folder)], capture_output=True, text=True, check=False, timeout=60
    )
    folder.chmod(0o700)
    assert done.stdout.strip() == "data_folder_unusable", done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the library itself is asked")
@pytest.mark.parametrize("home", ["", " ", "/somewhere/else", "relative"])
def test_the_usual_folder_is_the_one_that_the_library_names(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", home)
    assert usual_root() == platformdirs.user_data_path("Inkfast", appauthor=False)
