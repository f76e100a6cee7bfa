"""Answers of every odd kind, through the real agent process (spec/sessions.md section 5)."""

from __future__ import annotations

from tests.fakes.fake_provider import FakeProvider
from tests.unit.runtime.hosts.conftest import Desk


async def test_an_answer_streams_with_usage_and_the_reported_model(desk: Desk) -> None:
    async with FakeProvider() as provider:
        heard = await desk.ask(provider)
    assert heard.text == "Ink holds fast." and heard.end == "completed", heard
    assert provider.posts == 1
