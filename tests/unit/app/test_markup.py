"""What a person wrote is never read as markup."""

from __future__ import annotations

import html

from app.markup import escaped


def test_every_character_that_means_something_is_escaped() -> None:
    text = "<b>a & b</b> &amp; \"quoted\" 'so'"
    assert escaped(text) == html.escape(text, quote=False)
    assert html.unescape(escaped(text)) == text
