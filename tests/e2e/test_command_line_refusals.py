"""What is in the way ends in a sentence, the right status and a text that is really kept (spec/shell.md section 6)."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.fakes.command import Result, Shell
from tests.fakes.program import ROOT, wait_for

TEXT = "words that exist nowhere else"
SEND = ("send", "--model", "scripted:echo", TEXT)
READING = (("drafts", "list"), ("drafts", "show", "x"), ("sessions", "list"), ("sessions", "show", "x"))


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "data")


@pytest.fixture
def used(shell: Shell) -> Shell:
    """A folder with one conversation in it."""
    assert shell.run("send", "--model", "scripted:fast", "before").status == 0
    return shell


def explained(result: Result, status: int, what: str) -> Result:
    """The status, and a sentence with what happened, what is safe and what to do."""
    assert result.status == status, result
    assert what in result.err and result.out == "", result
    assert len([line for line in result.err.splitlines() if line]) >= 3, result.err
    return result


def is_kept(shell: Shell, result: Result, text: str = TEXT) -> str:
    """What the sentence claims is so: the draft that it names holds the text. Returns its id."""
    assert "The text is kept as draft" in result.err
    draft_id = result.err.partition("The text is kept as draft ")[2].split(";")[0]
    assert shell.run("drafts", "show", draft_id, "--json").json["draft"]["text"] == text
    return draft_id


def claims_nothing_of_the_text(result: Result) -> None:
    assert "text is kept" not in result.err and "window" not in result.err
    assert "keep your own copy" in result.err


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def stamp(path: Path, version: int) -> None:
    connection = apsw.Connection(os.fspath(path))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.execute("PRAGMA journal_mode=DELETE").fetchall()
    connection.execute(f"PRAGMA user_version={version}").fetchall()
    connection.close()


@pytest.mark.parametrize("place", ["a file", "below a file"])
def test_a_data_folder_that_cannot_be_used(tmp_path: Path, place: str) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    shell = Shell(file if place == "a file" else file / "data")
    claims_nothing_of_the_text(explained(shell.run(*SEND), 1, "cannot be created or written"))
    for command in (*READING, ("models", "add", os.fspath(file))):
        assert "text" not in explained(shell.run(*command), 1, "cannot be created or written").err
    assert shell.run("doctor").status == 1
    assert file.read_text() == "mine" and list(tmp_path.iterdir()) == [file]


def test_a_future_state_database_keeps_drafts_usable(used: Shell) -> None:
    state = used.data / "state-v1.sqlite"
    stamp(state, 99)
    before = digest(state)
    is_kept(used, explained(used.run(*SEND), 1, "newer version of Inkfast"))
    listed = used.run("drafts", "list", "--json")
    assert listed.status == 0 and [row["first_line"] for row in listed.json["drafts"]] == [TEXT]
    assert "newer version of Inkfast" in listed.err
    explained(used.run("sessions", "list"), 1, "newer version of Inkfast")
    looked = used.run("doctor", "--json")
    assert looked.status == 1
    assert [row["id"] for row in looked.json["doctor"]["checks"] if row["result"] == "problem"] == ["state_database"]
    assert digest(state) == before


def test_a_future_drafts_database_keeps_conversations_readable(used: Shell) -> None:
    drafts = used.data / "desktop" / "drafts-v1.sqlite"
    stamp(drafts, 99)
    before = digest(drafts)
    claims_nothing_of_the_text(explained(used.run(*SEND), 1, "newer version of Inkfast"))
    explained(used.run("drafts", "list"), 1, "newer version of Inkfast")
    assert [row["title"] for row in used.run("sessions", "list", "--json").json["sessions"]] == ["before"]
    assert used.run("doctor").status == 1
    assert digest(drafts) == before


@pytest.mark.parametrize("which", ["state-v1.sqlite", "desktop/drafts-v1.sqlite"])
def test_a_damaged_database_is_left_as_it_is(used: Shell, which: str) -> None:
    path = used.data / which
    stamp(path, 1)
    path.write_bytes(b"no database at all " * 4000)
    before = digest(path)
    sent = explained(used.run(*SEND), 1, "The database is damaged.")
    if which.startswith("state"):
        is_kept(used, sent)
        assert "damaged" in used.run("drafts", "list").err
    else:
        claims_nothing_of_the_text(sent)
        explained(used.run("drafts", "list"), 1, "The database is damaged.")
    assert "problem" in used.run("doctor").out and used.run("doctor").status == 1
    assert digest(path) == before


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Two megabytes that can be filled; skips where this machine lets nobody mount."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    done = subprocess.run(
        [mount or "false", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], check=False, capture_output=True
    )
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize("left", [0, 40_960, 196_608])
def test_a_full_disk_loses_no_text_that_is_called_kept(small_disk: Path, left: int) -> None:
    shell = Shell(small_disk / "data")
    assert shell.run("send", "--model", "scripted:fast", "before").status == 0
    fill(small_disk, left)
    results = [
        shell.run("send", "--model", "scripted:echo", "-", given=text.encode()) for text in ("short", "long " * 20_000)
    ]
    listed = shell.run("sessions", "list", "--json")
    (small_disk / "fill").unlink()
    for result, text in zip(results, ("short", "long " * 20_000), strict=True):
        if "The text is kept as draft" in result.err:
            is_kept(shell, result, text)
        elif result.status:
            claims_nothing_of_the_text(result)
            assert "The disk is full." in result.err or "not known" in result.err
    assert listed.status == 0 or "The disk is full." in listed.err
    assert "before" in [row["title"] for row in shell.run("sessions", "list", "--json").json["sessions"]]
    assert shell.run("doctor").status == 0


def test_an_answer_on_a_full_disk_waits_for_room_and_says_so(small_disk: Path) -> None:
    shell = Shell(small_disk / "data")
    assert shell.run("send", "--model", "scripted:fast", "before").status == 0
    running = shell.start("send", "--model", "scripted:slow", "--wait", TEXT)
    assert running.first_output() == "*"
    fill(small_disk, 0)
    assert running.process.stderr is not None
    assert running.process.stderr.readline() == b"inkfast: The disk is full.\n"
    (small_disk / "fill").unlink()
    ended = running.end()
    assert ended.status == 1 and "What had arrived is kept" in ended.err
    session = shell.run("sessions", "list", "--json").json["sessions"][0]
    assert session["turn_state"] == "interrupted"
    shown = shell.run("sessions", "show", session["id"], "--json").json["session"]
    assert shown["items"][0]["text"] == TEXT
    assert shown["items"][1]["text"].startswith("*" + ended.out.rstrip("\n"))


def fill(disk: Path, left: int) -> None:
    path = disk / "fill"
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass
        file.truncate(max(0, path.stat().st_size - left))


def test_a_read_only_folder_is_looked_at_and_left(small_disk: Path) -> None:
    shell = Shell(small_disk / "data")
    assert shell.run("send", "--model", "scripted:fast", "before").status == 0
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    claims_nothing_of_the_text(explained(shell.run(*SEND), 1, "cannot be created or written"))
    looked = shell.run("doctor", "--json")
    assert looked.status == 1
    checks = {row["id"]: row["result"] for row in looked.json["doctor"]["checks"]}
    assert (checks["data_folder"], checks["drafts_database"]) == ("problem", "ok")
    assert looked.json["doctor"]["counts"]["sessions"] == 1


def test_models_that_are_missing_or_damaged(shell: Shell, tmp_path: Path) -> None:
    is_kept(shell, explained(shell.run("send", "--model", "local:gone", TEXT), 3, "local:gone"))
    refused = explained(shell.run("models", "add", os.fspath(tmp_path / "nonexist.gguf")), 3, "cannot be read")
    assert "text" not in refused.err
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(b"GGUF\x03\0\0\0" + b"\x05" * 200)
    assert "text" not in explained(shell.run("models", "add", os.fspath(cut)), 3, "damaged or not a GGUF").err
    assert not list((shell.data / "models").iterdir())
    shutil.copy(cut, shell.data / "models")
    is_kept(shell, explained_send(shell.run("send", "--wait", "--model", "local:cut", TEXT), 1, "local:cut"))
    assert "damaged" in shell.run("doctor").out and shell.run("doctor").status == 1


def explained_send(result: Result, status: int, what: str) -> Result:
    assert (result.status, result.out.strip()) == (status, "") and what in result.err, result
    return result


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("send", "--nope", "hi"), "--nope"),
        (("--nope",), "--nope"),
        (("send",), "TEXT"),
        (("drafts",), "verb"),
        (("drafts", "paint"), "paint"),
        (("sessions", "show"), "ID"),
        (("send", "--work", ".", "hi"), "--work"),
    ],
)
def test_wrong_use_is_said_and_changes_nothing(shell: Shell, arguments: tuple[str, ...], named: str) -> None:
    wrong = shell.run(*arguments)
    assert wrong.status == 2 and named in wrong.err
    assert "Nothing was changed." in wrong.err and "--help" in wrong.err
    assert not shell.data.exists()


def test_a_vanished_workspace_keeps_the_text(shell: Shell, tmp_path: Path) -> None:
    for folder in (os.fspath(tmp_path / "gone"), ""):
        is_kept(shell, explained(shell.run("send", "--workspace", folder, TEXT), 3, "folder of this workspace"))
    assert shell.run("sessions", "list", "--json").json == {"sessions": []}


def test_effort_that_no_host_offers_is_refused_and_not_dropped(shell: Shell) -> None:
    is_kept(shell, explained(shell.run("send", "--effort", "high", TEXT), 3, "does not support"))


@pytest.mark.parametrize("text", ["", "  \n\t"])
def test_an_empty_text_is_refused_and_leaves_no_draft(shell: Shell, text: str) -> None:
    explained(shell.run("send", text), 3, "nothing to send")
    assert shell.run("drafts", "list", "--json").json == {"drafts": []}


def test_a_text_that_is_no_unicode_is_kept_as_it_came(shell: Shell) -> None:
    refused = shell.run("send", "--model", "scripted:echo", "-", given=b"a\xff\xfeb")
    is_kept(shell, explained(refused, 3, "cannot be sent"), "a\udcff\udcfeb")


def test_a_zero_character_does_not_cut_the_text(shell: Shell) -> None:
    assert shell.run("send", "--model", "scripted:echo", "--wait", "-", given=b"a\0b").out.endswith("b\n")
    refused = shell.run("send", "--model", "local:gone", "-", given=b"a\0b")
    is_kept(shell, explained(refused, 3, "local:gone"), "a\0b")


def test_unknown_ids_are_refused(shell: Shell) -> None:
    explained(shell.run("drafts", "show", "drf-none"), 3, "no such draft")
    explained(shell.run("drafts", "discard", "drf-none"), 3, "no such draft")
    explained(shell.run("sessions", "show", "ses-none"), 3, "does not exist")


def test_settings_that_cannot_be_read_are_left_and_named_by_doctor(used: Shell) -> None:
    (used.data / "settings.json").write_text("not json")
    assert "settings file cannot be understood" in used.run("doctor").out
    assert used.run(*SEND).status == 0
    assert (used.data / "settings.json").read_text() == "not json"


PROVIDER_CASES = [
    ("401", 1, "refused the API key"),
    ("status_500_after", 1, "answered with an error"),
    ("hold_after_body", 4, "cannot be told whether this reached"),
    ("reset_after_body", 4, "cannot be told whether this reached"),
    ("ok", 0, ""),
]


@pytest.mark.parametrize(("behaviour", "status", "words"), PROVIDER_CASES)
def test_what_a_server_does_is_what_the_status_says(
    shell: Shell, tmp_path: Path, behaviour: str, status: int, words: str
) -> None:
    log = tmp_path / "posts"
    provider = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.fake_provider", "--behaviour", behaviour, "--log", os.fspath(log)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    try:
        assert provider.stdout is not None
        configure(shell, int(provider.stdout.readline()))
        running = shell.start("send", "--wait", "--model", "fake:fake-model", TEXT)
        if behaviour.startswith("hold"):
            wait_for(log.exists, "the question at the server")
            running.process.kill()
            running.end()
            ended = shell.run("sessions", "list", "--json").json["sessions"][0]["turn_state"]
            assert ended == "unknown"
        else:
            result = running.end()
            assert result.status == status and words in result.err, result
        assert len(log.read_text().splitlines() if log.exists() else []) == 1
        shown = shell.run("sessions", "list", "--json").json["sessions"]
        assert TEXT in shell.run("sessions", "show", shown[0]["id"]).out
    finally:
        provider.terminate()
        provider.communicate(timeout=30)


def test_a_dead_server_keeps_the_text(shell: Shell) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        configure(shell, nobody.getsockname()[1])
        result = shell.run("send", "--wait", "--model", "fake:fake-model", TEXT)
    assert result.status == 1 and "cannot be reached" in result.err
    if "draft" in result.err:
        is_kept(shell, result)
    else:
        (session,) = shell.run("sessions", "list", "--json").json["sessions"]
        assert TEXT in shell.run("sessions", "show", session["id"]).out


def configure(shell: Shell, port: int) -> None:
    shell.run("drafts", "list")
    server = {"id": "fake", "name": "Fake", "base_url": f"http://127.0.0.1:{port}/v1", "models": ["fake-model"]}
    (shell.data / "settings.json").write_text(json.dumps({"version": 1, "servers": [server]}))
