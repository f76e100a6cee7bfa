"""Files named on the command line: in the message whole, or not sent at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.commands.files import MOST_BYTES, with_files
from app.commands.send import Request, composed
from runtime.base.errors import RejectedFault


def test_text_files_follow_the_message_under_their_names(tmp_path: Path) -> None:
    notes, code = tmp_path / "潮汐 notes.md", tmp_path / "fit.py"
    notes.write_text("high water\n```\nfenced\n```\n", encoding="utf-8")
    code.write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    assert with_files("Compare:", [str(notes), str(code)]) == (
        "Compare:\n\nFile 潮汐 notes.md:\n\n````\nhigh water\n```\nfenced\n```\n````\n\nFile fit.py:\n\n```\nx = 1\n```"
    )


@pytest.mark.parametrize("kind", ["missing", "folder", "link", "large", "binary", "latin", "nul"])
def test_what_is_no_readable_text_file_is_refused_without_naming_a_path(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "it"
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        (tmp_path / "real").write_text("secret")
        path.symlink_to(tmp_path / "real")
    elif kind != "missing":
        content = {"large": b"x" * (MOST_BYTES + 1), "binary": b"\x89PNG\r\n\xff", "latin": b"caf\xe9", "nul": b"a\0b"}
        path.write_bytes(content[kind])
    with pytest.raises(RejectedFault) as refused:
        with_files("text", [str(path)])
    assert refused.value.code == "attachment_unreadable"
    assert str(tmp_path) not in str(refused.value)


def test_a_file_that_cannot_be_read_keeps_the_text_for_a_draft(tmp_path: Path) -> None:
    request = Request("kept", None, "", "", wait=False, as_json=False)
    refused = composed(request, [str(tmp_path / "gone")])
    assert refused.text == "kept" and refused.refusal is not None
    assert composed(request, []) == request
