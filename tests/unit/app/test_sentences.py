"""Every failure a person can meet has words of its own (spec/shell.md section 6)."""

from __future__ import annotations

import ast

import pytest

from app.sentence_table import SENTENCES
from app.sentences import duration, knows, sentence
from tests.unit.app.raised_codes import codes_in, raised_codes

NAMED_BY_THE_SPECIFICATION = (
    "data_folder_unusable",
    "cannot_open",
    "database_locked",
    "database_damaged",
    "disk_full",
    "read_only",
    "io_error",
    "future_schema",
    "unsupported_schema",
    "write_failed",
    "lease_unavailable",
    "model_unavailable",
    "model_missing",
    "model_damaged",
    "engine_failed",
    "host_unavailable",
    "host_crashed",
    "server_unreachable",
    "auth_failed",
    "not_found",
    "rate_limited",
    "server_error",
    "stream_error",
    "timed_out",
    "outcome_unknown",
    "workspace_unavailable",
    "session_busy",
    "session_archived",
    "session_trashed",
    "session_erased",
    "attachment_unreadable",
    "conflict",
    "draft_locked",
    "empty_draft",
    "unknown_receipt_version",
    "record_damaged",
    "bad_option",
)


def test_every_code_raised_in_drafts_and_runtime_has_its_own_sentence() -> None:
    raised = raised_codes("drafts", "runtime")
    assert "future_schema" in raised and "disk_full" in raised
    missing = {code: place for code, place in raised.items() if not knows(code)}
    assert missing == {}


@pytest.mark.parametrize(
    "source",
    [
        'raise EnvironmentFault("xx_made_up")',
        'raise faults.HostFault("xx_made_up", called=True)',
        'raise RejectedFault("xx_made_up" if late else "xx_made_up", "words")',
        '_CODES = {404: "xx_made_up"}',
        '_CODES: tuple = ((OSError, "xx_made_up"),)',
        'raise RejectedFault(code="xx_made_up")',
    ],
)
def test_the_search_for_codes_sees_each_way_of_raising_one(source: str) -> None:
    assert set(codes_in(ast.parse(source))) == {"xx_made_up"}


@pytest.mark.parametrize("code", NAMED_BY_THE_SPECIFICATION)
def test_every_code_of_the_specification_has_its_own_sentence(code: str) -> None:
    assert knows(code)
    assert sentence(code) != sentence("")


@pytest.mark.parametrize("code", [code for code in SENTENCES if code])
def test_a_sentence_says_what_happened_what_is_safe_and_one_action(code: str) -> None:
    words = sentence(code)
    for part in (words.what, words.safe, words.action):
        assert part.endswith("."), part
        assert part[0].isupper() or not part[0].isalpha(), part
        assert "{" not in part and "  " not in part
    assert len(words.text) < 320


def test_no_two_codes_share_what_happened() -> None:
    openings = [what for what, _safe, _action in SENTENCES.values()]
    assert len(set(openings)) == len(openings)


def test_an_unknown_code_gets_a_sentence_that_claims_nothing() -> None:
    words = sentence("never_heard_of_it")
    assert words.safe == ""
    assert not knows("never_heard_of_it") and not knows("")


def test_facts_of_the_fault_are_named() -> None:
    assert "qwen3:8b" in sentence("model_unavailable", {"model": "qwen3:8b"}).what
    assert sentence("server_unreachable", {"server": "vLLM"}).what == "vLLM cannot be reached."
    assert sentence("server_unreachable").what == "The server cannot be reached."
    assert sentence("rate_limited", {"retry_after": 90.2}).action == "Try again in 91 seconds."
    assert sentence("data_folder_unusable", {"folder": "/home/a b/Inkfast"}).what.startswith("/home/a b/Inkfast ")


@pytest.mark.parametrize(
    "value",
    [
        "/home/somebody/secret.txt",
        "~/notes.md",
        "C:\\Users\\x\\a.txt",
        "\\\\host\\share\\a",
        "file:///etc/passwd",
        "../up/and/away",
        "dft_0192f0c1-7c3e-7abc-8def-0123456789ab",
        "0123456789abcdef0123456789abcdef",
    ],
)
def test_no_path_and_no_internal_id_is_shown(value: str) -> None:
    assert value not in sentence("attachment_unreadable", {"file": value}).text
    assert value not in sentence("server_unreachable", {"server": value}).text
    assert sentence("attachment_unreadable", {"file": value}).what == "An attachment cannot be read."


def test_a_model_reference_with_a_slash_is_no_path() -> None:
    assert "org/model-7b/gguf" in sentence("model_unavailable", {"model": "org/model-7b/gguf"}).what


def test_control_and_direction_characters_of_a_detail_are_dropped() -> None:
    what = sentence("model_unavailable", {"model": "a\nb\u202etxt\x1b[31m"}).what
    assert "\n" not in what and "\u202e" not in what and "\x1b" not in what


def test_durations_are_rounded_up_so_that_waiting_is_enough() -> None:
    assert [duration(s) for s in (0.2, 1, 59.1, 119, 120, 121)] == [
        "1 second",
        "1 second",
        "60 seconds",
        "119 seconds",
        "2 minutes",
        "3 minutes",
    ]
