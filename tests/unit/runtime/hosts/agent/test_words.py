"""What a server said is quoted without what must not be kept."""

from __future__ import annotations

import pytest

from runtime.hosts.agent.words import server_words


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Incorrect API key provided: sk-proj-abcdefghijklmnop1234."}},
        {"detail": "Bearer abcdef0123456789abcdef is not valid"},
        "Invalid header Authorization: Bearer sk-abcdefghijklmnopqrstuv",
    ],
)
def test_a_key_that_a_server_quotes_is_removed(body: object) -> None:
    words = server_words(body)
    assert "[redacted]" in words
    assert "abcdef" not in words


def test_ordinary_words_stay_as_they_are() -> None:
    words = 'model "fake-model" not found, try pulling it first'
    assert server_words({"error": {"message": words}}) == words
