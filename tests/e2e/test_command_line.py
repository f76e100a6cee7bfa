"""The commands as real processes: every verb, statuses, pipes, terminals and signals (spec/shell.md section 5)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.command import Shell
from tests.fakes.program import ROOT, rows

ISO = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
HOLD_LEASE = """
import sys
from pathlib import Path
from typing import Any
from runtime.base.clock import SystemClock
from runtime.storage.leases import LeaseBook
lease = LeaseBook(Path(sys.argv[1]), SystemClock()).try_acquire("owner", "window")
print("held" if lease else "free", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "data")


def _every_row_has_an_id(value: Any) -> None:
    if isinstance(value, Mapping):
        for member in value.values():
            _every_row_has_an_id(member)
            if isinstance(member, list) and member and isinstance(member[0], Mapping):
                assert all(row.get("id") for row in member)
        for name, member in value.items():
            if str(name).endswith(("_at", "last_activity")) and member is not None:
                assert ISO.match(member), (name, member)
    elif isinstance(value, list):
        for member in value:
            _every_row_has_an_id(member)


def test_a_send_prints_the_conversation_that_every_reading_verb_then_shows(shell: Shell) -> None:
    sent = shell.run("send", "--model", "scripted:fast", "héllo 漢字")
    assert (sent.status, sent.err) == (0, "")
    session_id = sent.out.strip()
    listed = shell.run("sessions", "list", "--json")
    assert [row["id"] for row in listed.json["sessions"]] == [session_id]
    shown = shell.run("sessions", "show", session_id, "--json").json["session"]
    assert [item["kind"] for item in shown["items"]] == ["user", "assistant"]
    assert shown["items"][0]["text"] == "héllo 漢字" and shown["turns"][0]["state"] == "completed"
    for value in (listed.json, shown, shell.run("doctor", "--json").json, shell.run("models", "list", "--json").json):
        _every_row_has_an_id(value)
    assert "héllo 漢字" in shell.run("sessions", "list").out
    assert shell.run("sessions", "show", session_id).out.startswith("user: héllo 漢字\nassistant: ")


def test_a_waiting_send_streams_the_answer_and_nothing_else(shell: Shell) -> None:
    sent = shell.run("send", "--model", "scripted:echo", "--wait", "-", given="from a pipe ✓\n".encode())
    assert (sent.status, sent.out, sent.err) == (0, "**Scripted echo.** from a pipe ✓\n", "")
    told = shell.run("send", "--model", "scripted:echo", "--wait", "--json", "again").json["session"]
    assert told["answer"] == "**Scripted echo.** again" and told["turn_state"] == "completed"


def test_an_answer_that_breaks_off_is_a_failure_with_its_beginning_kept(shell: Shell) -> None:
    sent = shell.run("send", "--model", "scripted:fail", "--wait", "go")
    assert sent.status == 1 and sent.out.startswith("**Scripted answer.**") and "broke off" in sent.err
    session = shell.run("sessions", "list", "--json").json["sessions"][0]
    assert session["turn_state"] == "failed"
    assert sent.out.strip() in shell.run("sessions", "show", session["id"]).out


def test_drafts_are_listed_shown_exactly_and_discarded(shell: Shell) -> None:
    text = "first line\r\nsecond\u2028third\x0cend"
    refused = shell.run("send", "--model", "local:gone", "-", given=text.encode())
    assert refused.status == 3
    (row,) = shell.run("drafts", "list", "--json").json["drafts"]
    _every_row_has_an_id({"drafts": [row]})
    assert shell.run("drafts", "show", row["id"], "--json").json["draft"]["text"] == text
    raw = subprocess.run(
        [sys.executable, "-m", "app", "drafts", "show", row["id"], "--data-dir", os.fspath(shell.data)],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    assert raw.stdout == text.encode() + b"\n"
    assert len(shell.run("drafts", "list").out.splitlines()) == 1
    assert shell.run("drafts", "discard", row["id"]).status == 0
    assert shell.run("drafts", "list", "--json").json == {"drafts": []}
    assert shell.run("drafts", "discard", row["id"]).status == 3


def test_the_data_folder_may_be_named_before_or_after_the_command(shell: Shell, tmp_path: Path) -> None:
    shell.run("send", "--model", "scripted:fast", "hi")
    after = Shell(tmp_path / "other").run("sessions", "list", "--json", "--data-dir", os.fspath(shell.data))
    assert len(after.json["sessions"]) == 1 and not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    "terminal",
    [
        {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_a_terminal_without_unicode_shows_numbers_and_fails_nothing(shell: Shell, terminal: dict[str, str]) -> None:
    given = "h\u00e9 漢".encode()
    sent = shell.run("send", "--model", "scripted:echo", "--wait", "-", given=given, environment=terminal)
    assert sent.status == 0 and "\\u6f22" in sent.out
    assert shell.run("sessions", "list", environment=terminal).status == 0
    told = shell.run("sessions", "list", "--json", environment=terminal).json["sessions"][0]
    assert told["title"] == "h\u00e9 漢" and told["turn_state"] == "completed"


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
def test_a_closed_pipe_ends_the_output_and_not_the_answer(shell: Shell) -> None:
    line = f'"{sys.executable}" -m app --data-dir "$DATA" send --model scripted:demo --wait hi | head -c 1'
    piped = subprocess.run(
        ["bash", "-c", line + '; echo " ${PIPESTATUS[0]}"'],
        cwd=ROOT,
        capture_output=True,
        env={**os.environ, "DATA": os.fspath(shell.data)},
        check=True,
        timeout=60,
    )
    assert (piped.stdout, piped.stderr) == (b"* 0\n", b"")
    session = shell.run("sessions", "list", "--json").json["sessions"][0]
    assert session["turn_state"] == "completed"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_an_output_that_cannot_be_written_is_said_and_the_answer_is_stored(shell: Shell) -> None:
    for command in (["send", "--model", "scripted:fast", "--wait", "hi"], ["sessions", "list"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [sys.executable, "-m", "app", "--data-dir", os.fspath(shell.data), *command],
                cwd=ROOT,
                stdout=full,
                stderr=subprocess.PIPE,
                check=False,
                timeout=60,
            )
        assert done.returncode == 1 and done.stderr.startswith(b"inkfast: The output could not be written.")
        assert b"draft" not in done.stderr and b"Traceback" not in done.stderr
    assert shell.run("sessions", "list", "--json").json["sessions"][0]["turn_state"] == "completed"


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_keeps_what_has_arrived_and_ends_the_turn(shell: Shell, number: int) -> None:
    running = shell.start("send", "--model", "scripted:hold", "--wait", "hi")
    assert running.first_output() == "*"
    stopped = running.end(number)
    assert stopped.status == 130 and "This was stopped." in stopped.err
    session = shell.run("sessions", "list", "--json").json["sessions"][0]
    assert session["turn_state"] == "cancelled" and session["id"] in stopped.err
    shown = shell.run("sessions", "show", session["id"], "--json").json["session"]
    assert shown["items"][1]["text"].startswith("*")


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_ends_a_wait_for_the_standard_input_at_once(shell: Shell) -> None:
    running = shell.start("send", "-")
    assert running.process.stdin is not None
    more_than_a_pipe_holds = 1_000_000
    running.process.stdin.write(b"x" * more_than_a_pipe_holds)  # returns once the command is reading
    stopped = running.end(signal.SIGINT)
    assert stopped.status == 130
    assert shell.run("drafts", "list", "--json").json == {"drafts": []}


def test_a_killed_send_is_shown_as_interrupted_by_the_next_list(shell: Shell) -> None:
    running = shell.start("send", "--model", "scripted:hold", "--wait", "hi")
    running.first_output()
    running.end(signal.SIGKILL)
    assert shell.run("sessions", "list", "--json").json["sessions"][0]["turn_state"] == "interrupted"


def test_two_sends_at_once_on_a_new_folder_are_two_conversations(shell: Shell) -> None:
    both = [shell.start("send", "--model", "scripted:echo", "--wait", text) for text in ("one", "two")]
    assert [one.end().status for one in both] == [0, 0]
    titles = {row["title"] for row in shell.run("sessions", "list", "--json").json["sessions"]}
    assert titles == {"one", "two"}
    assert shell.run("drafts", "list", "--json").json == {"drafts": []}


def test_a_window_that_holds_its_lease_is_in_nobody_s_way(shell: Shell) -> None:
    shell.run("sessions", "list")
    window = subprocess.Popen(
        [sys.executable, "-c", HOLD_LEASE, os.fspath(shell.data / "desktop" / "draft-workers")],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert window.stdout is not None and window.stdout.readline() == b"held\n"
    try:
        assert shell.run("send", "--model", "scripted:fast", "hi").status == 0
    finally:
        window.communicate()


def test_reading_starts_no_host_and_no_engine(shell: Shell) -> None:
    shell.run("send", "--model", "scripted:fast", "hi")
    for command in (("sessions", "list"), ("drafts", "list"), ("models", "list"), ("doctor",)):
        shell.run(*command)
    assert rows(shell.data / "state-v1.sqlite", "SELECT count(*) FROM turns") == [(1,)]
    logs = "".join(path.read_text() for path in (shell.data / "logs").glob("*.log"))
    assert "engine" not in logs


@pytest.mark.engine
def test_the_embedded_model_answers_a_waiting_send(shell: Shell) -> None:
    running = shell.start("send", "--wait", "Reply with one word: hello")
    first = running.first_output()
    if Path("/proc").is_dir():
        assert _children_of(running.process.pid, shell.data)  # the search finds them while they run
    stopped = running.end(signal.SIGTERM)
    assert first and stopped.status in (0, 130)
    session = shell.run("sessions", "list", "--json").json["sessions"][0]
    assert session["observed"] and session["turn_state"] in ("completed", "cancelled")
    assert not _children_of(running.process.pid, shell.data)


def _children_of(parent: int, data: Path) -> list[str]:
    """The agent (it runs in the data folder) and the engine (it is told its parent) of one command."""
    if not Path("/proc").is_dir():
        return []
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            where = os.readlink(entry / "cwd")
        except OSError:
            continue
        if "runtime.hosts" in line and (f"--parent {parent} " in f"{line} " or where.startswith(os.fspath(data))):
            found.append(line)
    return found
