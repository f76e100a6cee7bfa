"""Answers of every odd kind, through the real agent process (spec/sessions.md section 5)."""

from __future__ import annotations

import asyncio
import json

import pytest

from runtime.hosts.port import HistoryMessage, Observed, ObservedChanged, Prompt, TextDelta, UsageReported
from tests.fakes.fake_provider import FakeProvider
from tests.fakes.own_agent import Desk, Heard, listen

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_an_answer_streams_with_usage_and_the_reported_model(desk: Desk) -> None:
    async with FakeProvider() as provider:
        heard = await desk.ask(provider)
    assert heard.text == "Ink holds fast." and heard.end == "completed"
    assert ObservedChanged(Observed("fake-model", "inkfast")) in heard.events
    assert UsageReported(7, 3) in heard.events
    assert provider.posts == 1


async def test_P01_empty_choices_and_null_content_are_normal(desk: Desk) -> None:
    async with FakeProvider("empty_choices") as provider:
        heard = await desk.ask(provider)
    assert heard.text == "Ink holds fast." and heard.end == "completed"
    assert UsageReported(7, 3) in heard.events


@pytest.mark.parametrize("behaviour", ["error_object", "error_event", "error_in_chunk"])
async def test_P02_an_error_inside_a_200_stream_keeps_the_partial_text(desk: Desk, behaviour: str) -> None:
    async with FakeProvider(behaviour) as provider:
        heard = await asyncio.wait_for(desk.ask(provider), 5)  # P04: although the socket stays open
    assert heard.text == "Ink holds fast."
    assert heard.end == "stream_error" and heard.called is True
    assert str(heard.fault) == "quota exceeded"
    assert provider.posts == 1


@pytest.mark.parametrize("behaviour", ["no_finish", "no_finish_eof"])
async def test_P06_an_answer_without_a_finish_mark_is_kept_and_marked(desk: Desk, behaviour: str) -> None:
    async with FakeProvider(behaviour) as provider:
        heard = await desk.ask(provider)
    assert heard.text == "Ink holds fast." and heard.end == "no_finish_mark"


@pytest.mark.parametrize("behaviour", ["crlf", "cr", "no_final_newline"])
async def test_P07_every_line_end_gives_the_same_text(desk: Desk, behaviour: str) -> None:
    async with FakeProvider(behaviour) as provider:
        heard = await desk.ask(provider)
    assert heard.text == "Ink holds fast." and heard.end == "completed"


async def test_P08_comments_are_ignored_and_end_the_silence(desk: Desk) -> None:
    desk.limit(silence=0.4)
    async with FakeProvider("comments", pause=0.15, hold=3) as provider:
        heard = await desk.ask(provider)
    assert heard.text == "Ink holds fast." and heard.end == "completed"


async def test_P12_characters_cut_between_writes_arrive_whole(desk: Desk) -> None:
    async with FakeProvider("byte_by_byte", tokens=("修复🌍", "e\u0301 ", "fin")) as provider:
        heard = await desk.ask(provider)
    assert heard.text == "修复🌍e\u0301 fin"


async def test_P13_invalid_bytes_are_replaced_and_the_stream_goes_on(desk: Desk) -> None:
    async with FakeProvider("invalid_utf8") as provider:
        heard = await desk.ask(provider)
    assert heard.text == "\ufffd A" and heard.end == "completed"


async def test_the_answer_ends_a_moment_after_the_finish_mark_although_the_socket_stays_open(desk: Desk) -> None:
    desk.limit(after_finish=0.1)
    async with FakeProvider("keep_open_after_finish") as provider:
        heard = await asyncio.wait_for(desk.ask(provider), 3)
    assert heard.text == "Ink holds fast." and heard.end == "completed"


async def test_silence_after_text_times_out_and_keeps_the_text(desk: Desk) -> None:
    desk.limit(silence=0.1)
    async with FakeProvider("hold_mid_stream") as provider:
        heard = await desk.ask(provider)
    assert heard.text == "Ink holds fast."
    assert heard.end == "timed_out" and heard.called is True
    assert provider.posts == 1


async def test_the_first_token_may_take_longer_than_any_silence(desk: Desk) -> None:
    desk.limit(silence=0.05)
    async with FakeProvider("slow_first_token") as provider:
        session = await desk.open(provider)
        heard = Heard()
        task = desk.tasks.spawn("listen", listen(session, Prompt("hello"), heard))
        await provider.arrived.wait()
        await asyncio.wait({task}, timeout=0.4)
        assert not task.done()
        provider.release.set()
        await task
        await session.close()
    assert heard.text == "Ink holds fast." and heard.end == "completed"


async def test_text_is_heard_before_the_answer_is_complete(desk: Desk) -> None:
    async with FakeProvider("hold_mid_stream") as provider:
        session = await desk.open(provider)
        async for event in session.prompt(Prompt("hello")):
            if isinstance(event, TextDelta) and event.text.startswith("fast"):
                provider.release.set()
        await session.close()


async def test_what_a_model_thinks_aloud_is_withheld(desk: Desk) -> None:
    async with FakeProvider("thinking") as provider:
        heard = await desk.ask(provider)
    assert heard.text == "Ink holds fast." and "secret" not in repr(heard.events)
    assert heard.progress == ["thinking"]


async def test_the_request_holds_the_conversation_and_nothing_else(desk: Desk) -> None:
    history = (HistoryMessage("user", "one"), HistoryMessage("assistant", "two"))
    async with FakeProvider() as provider:
        await desk.ask(
            provider,
            Prompt("three", history),
            instructions="Be brief.",
            sampling={"temperature": 0.5, "max_tokens": 20, "seed": 7},
        )
    assert provider.last.json["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "two"},
        {"role": "user", "content": "three"},
    ]
    body = provider.last.json
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.5, 20, 7)
    assert set(body) == {"messages", "model", "stream", "stream_options", "temperature", "max_tokens", "seed"}


async def test_no_identity_of_ours_reaches_the_provider(desk: Desk) -> None:
    async with FakeProvider() as provider:
        session = await desk.open(provider)
        await listen(session, Prompt("hello"))
        own_id = session.host_session_id
        await session.close()
    sent = provider.last.raw.decode() + json.dumps(provider.last.headers)
    assert own_id and own_id not in sent
    for mark in ("ses-", "drf-", "op-", "sub-", "submission", "operation", "draft", "x-stainless", "idempotency"):
        assert mark not in sent.lower()
    assert "authorization" not in provider.last.headers


async def test_text_without_a_utf8_form_is_sent_readable(desk: Desk) -> None:
    async with FakeProvider("echo") as provider:
        heard = await desk.ask(provider, "a\ud800b🌍")
    assert json.loads(heard.text) == [{"role": "user", "content": "a\ufffdb🌍"}]


async def test_special_tokens_in_a_question_are_sent_as_they_are(desk: Desk) -> None:
    async with FakeProvider("echo") as provider:
        heard = await desk.ask(provider, "<|im_start|>system <think> [INST]")
    assert json.loads(heard.text)[0]["content"] == "<|im_start|>system <think> [INST]"


async def test_a_server_that_does_not_stream_is_understood(desk: Desk) -> None:
    async with FakeProvider("unstreamed") as provider:
        heard = await desk.ask(provider)
    assert heard.text == "Ink holds fast." and heard.end == "length" and UsageReported(7, 3) in heard.events


async def test_P02_an_error_object_in_place_of_a_stream_is_a_failure(desk: Desk) -> None:
    async with FakeProvider("unstreamed_error") as provider:
        heard = await desk.ask(provider)
    assert (heard.end, str(heard.fault), provider.posts) == ("stream_error", "quota exceeded", 1)
