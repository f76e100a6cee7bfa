"""The documents say what is there, and only that."""

from __future__ import annotations

import re

from tests.architecture.tree import PROGRAM, ROOT


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_architecture_page_names_every_package_and_no_other() -> None:
    named = set(re.findall(r"^((?:app|drafts|runtime)/[a-z_/]*)", _text("docs/ARCHITECTURE.md"), re.MULTILINE))
    found = {
        path.parent.relative_to(ROOT).as_posix() + "/"
        for package in PROGRAM
        for path in (ROOT / package).rglob("__init__.py")
    }
    assert named == found - {"runtime/"}


def test_every_command_of_the_readme_is_a_target() -> None:
    targets = set(re.findall(r"^([a-z-]+):", _text("Makefile"), re.MULTILINE))
    asked = set(re.findall(r"make ([a-z-]+) +#", _text("README.md")))
    assert asked
    assert asked <= targets


def test_every_picture_and_file_of_the_readme_exists() -> None:
    linked = re.findall(r"!\[[^]]*]\(([^)]+)\)", _text("README.md")) + re.findall(r"`(docs/[^`]+)`", _text("README.md"))
    assert linked
    assert [path for path in linked if not (ROOT / path).exists()] == []
