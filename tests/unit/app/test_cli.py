"""What the command line understands, and what its sentences may claim."""

from __future__ import annotations

import pytest

from app.cli import command_parser, window_parser
from app.commands.failing import SendFailed, spoken, status_of
from app.sentence_table import SENTENCES
from app.sentences import sentence
from runtime.base.errors import EnvironmentFault, Fault, RejectedFault

CODES = [code for code in SENTENCES if code]


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (EnvironmentFault("disk_full"), 1),
        (RejectedFault("conflict"), 3),
        (EnvironmentFault("dispatch_unknown"), 4),
        (SendFailed(RejectedFault("model_unavailable"), ""), 3),
        (SendFailed(EnvironmentFault("disk_full"), "drf-1"), 1),
        (SendFailed(EnvironmentFault("dispatch_unknown"), "drf-1"), 4),
    ],
)
def test_the_status_is_that_of_the_cause(fault: Fault, status: int) -> None:
    assert status_of(fault) == status


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("kind", [EnvironmentFault, RejectedFault])
def test_a_command_that_holds_no_text_claims_nothing_of_one(code: str, kind: type[Fault]) -> None:
    safe = spoken(kind(code)).safe.lower()
    assert safe and not any(word in safe.split() for word in ("text", "sent", "window;", "window."))


@pytest.mark.parametrize("code", CODES)
def test_a_send_that_stored_nothing_says_so(code: str) -> None:
    safe = spoken(SendFailed(EnvironmentFault(code), "")).safe
    assert "keep your own copy" in safe and "text is kept" not in safe and "window" not in safe
    if code in ("dispatch_unknown", "outcome_unknown"):
        assert "Nothing was sent" not in safe


def test_no_command_speaks_of_a_window_that_saves_by_itself() -> None:
    for code in ("database_locked", "disk_full", "read_only", "io_error"):
        assert "window" in sentence(code).text
        assert "window" not in spoken(SendFailed(EnvironmentFault(code), "drf-1")).text


def test_a_text_may_begin_with_a_dash_behind_two() -> None:
    assert command_parser().understand(["send", "--wait", "--", "-5 degrees"]).text == "-5 degrees"


@pytest.mark.parametrize("arguments", [["send", "--mod", "x", "hi"], ["send"], ["models", "add"], []])
def test_what_is_not_understood_ends_with_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_parser().understand(arguments)
    assert ended.value.code == 2 and "Nothing was changed." in capsys.readouterr().err


def test_the_window_takes_a_folder_and_a_safe_mode() -> None:
    options = window_parser().understand(["--safe-mode", "some folder"])
    assert (options.path, options.safe_mode) == ("some folder", True)
