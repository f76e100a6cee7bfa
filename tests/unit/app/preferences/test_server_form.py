"""Addresses as people paste them."""

from __future__ import annotations

import pytest

from app.preferences.server_form import EXAMPLES, ServerForm, check_base_url, suggested_name


@pytest.mark.parametrize(
    ("entered", "url"),
    [
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("localhost:1234/v1/", "http://localhost:1234/v1"),
        ("  https://API.example.com/v1/chat/completions ", "https://api.example.com/v1"),
        ("HTTP://[::1]:8000/v1/models", "http://[::1]:8000/v1"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
    ],
)
def test_an_address_is_normalised(entered: str, url: str) -> None:
    checked = check_base_url(entered)
    assert (checked.url, checked.problem) == (url, "")


@pytest.mark.parametrize(
    "entered",
    [
        "",
        "  ",
        "ftp://x/v1",
        "http://",
        "http://host:99999/v1",
        "http://host:port/v1",
        "http://a b/v1",
        "http://user:secret@host/v1",
        "http://host/v1?key=1",
        "http://[::1/v1",
        "file:///etc/passwd",
    ],
)
def test_what_is_no_address_gets_one_sentence(entered: str) -> None:
    checked = check_base_url(entered)
    assert checked.url == "" and checked.problem.endswith(".")
    assert "secret" not in checked.problem


def test_plain_http_beyond_this_machine_is_warned_about() -> None:
    assert check_base_url("http://192.168.1.4:8000/v1").warning
    assert not check_base_url("http://localhost:8000/v1").warning
    assert not check_base_url("https://api.example.com").warning


@pytest.mark.parametrize(("name", "url"), EXAMPLES)
def test_every_example_is_valid_and_names_itself(name: str, url: str) -> None:
    assert check_base_url(url).url == url
    assert suggested_name(url) == name


def test_the_key_is_not_in_the_representation() -> None:
    assert "sk-secret" not in repr(ServerForm("a", "http://localhost", "sk-secret", "m"))
