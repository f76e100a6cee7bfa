"""What goes wrong is said once, in the server's words, and never tried again (S02)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.hosts.agent.wire import Endpoint
from runtime.hosts.faults import HostFault
from runtime.hosts.port import HistoryMessage, Prompt, PromptEnded
from tests.fakes.fake_provider import FakeProvider
from tests.fakes.own_agent import Desk, Heard, listen

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize(
    ("behaviour", "code", "words"),
    [
        ("reset_after_body", "outcome_unknown", ""),
        ("reset_after_headers", "outcome_unknown", ""),
        ("reset_mid_stream", "stream_error", ""),
        ("status_500_after", "server_error", "Conversation roles must alternate user/assistant"),
        ("429_retry_after", "rate_limited", "Slow down"),
        ("401", "auth_failed", "Incorrect API key provided"),
        ("404", "not_found", 'model "fake-model" not found, try pulling it first'),
        ("redirect", "server_error", ""),
    ],
)
async def test_S02_a_failed_call_is_made_exactly_once(desk: Desk, behaviour: str, code: str, words: str) -> None:
    async with FakeProvider(behaviour) as provider:
        heard = await desk.ask(provider)
    assert (heard.end, heard.called, provider.posts) == (code, True, 1)
    if words:
        assert str(heard.fault) == words


async def test_S02_a_request_that_is_read_and_never_answered_has_an_unknown_outcome(desk: Desk) -> None:
    desk.limit(first_token=0.2)
    async with FakeProvider("hold_after_body") as provider:
        heard = await desk.ask(provider)
    assert (heard.end, heard.called, provider.posts) == ("outcome_unknown", True, 1)


async def test_a_request_that_is_never_answered_can_be_stopped(desk: Desk) -> None:
    async with FakeProvider("hold_after_body") as provider:
        session = await desk.open(provider)
        heard = Heard()
        task = desk.tasks.spawn("listen", listen(session, Prompt("hello"), heard))
        await provider.arrived.wait()
        await session.interrupt()
        await asyncio.wait_for(task, 3)
        await asyncio.wait_for(provider.gone.wait(), 3)
        await session.close()
    assert heard.end == "cancelled" and provider.posts == 1


async def test_D05_a_refused_key_is_a_coded_failure_with_the_servers_words(desk: Desk) -> None:
    desk.source.api_key = "sk-wrong"
    async with FakeProvider("401") as provider:
        heard = await desk.ask(provider, "long prompt 1")
    assert isinstance(heard.fault, HostFault)
    assert (heard.fault.code, heard.fault.detail["status"], provider.posts) == ("auth_failed", 401, 1)
    assert provider.last.headers["authorization"] == "Bearer sk-wrong"
    assert "sk-wrong" not in str(heard.fault) + repr(heard.fault.detail)


async def test_a_rate_limit_says_how_long_to_wait(desk: Desk) -> None:
    async with FakeProvider("429_retry_after") as provider:
        heard = await desk.ask(provider)
    assert heard.fault is not None and heard.fault.detail["retry_after"] == 1.0


async def test_a_server_that_is_not_there_was_not_called(desk: Desk) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        provider = FakeProvider()
        provider.port = taken.getsockname()[1]
        heard = await desk.ask(provider)
    assert (heard.end, heard.called) == ("server_unreachable", False)


async def test_P20_the_post_happens_once_after_the_model_is_loaded(desk: Desk) -> None:
    async with FakeProvider("models_503_for", hold=3) as provider:
        heard = await desk.ask(provider)
    assert heard.progress == ["model_loading"] and heard.text == "Ink holds fast."
    assert [request.method for request in provider.requests] == ["GET"] * 4 + ["POST"]


async def test_P20_waiting_for_a_loading_model_can_be_stopped_without_a_post(desk: Desk) -> None:
    async with FakeProvider("models_503_for", hold=100_000) as provider:
        session = await desk.open(provider)
        ends = []
        async for event in session.prompt(Prompt("hello")):
            ends.append(event)
            if len(ends) == 1:
                await session.interrupt()
        await session.close()
    assert ends[-1] == PromptEnded("cancelled") and provider.posts == 0


async def test_P20_a_model_that_never_loads_was_not_called(desk: Desk) -> None:
    desk.limit(ready=0.1)
    async with FakeProvider("models_503_for", hold=100_000) as provider:
        heard = await desk.ask(provider)
    assert (heard.end, heard.called, provider.posts) == ("timed_out", False, 0)


async def test_N01_loopback_is_reached_whatever_the_environment_says_about_proxies(desk: Desk) -> None:
    async with FakeProvider() as provider:  # the agent runs with HTTP_PROXY and ALL_PROXY on a dead port
        heard = await desk.ask(provider)
    assert heard.end == "completed" and provider.posts == 1


async def test_N01_a_remote_server_goes_through_the_proxy_it_was_given(desk: Desk) -> None:
    async with FakeProvider() as proxy:
        session = await desk.open(proxy)
        desk.source.proxy = f"http://127.0.0.1:{proxy.port}"
        desk.source.base_url = "http://models.invalid/v1"
        heard = await listen(session, Prompt("hello"))
        await session.close()
    assert heard.text == "Ink holds fast."
    assert proxy.last.target == "http://models.invalid/v1/chat/completions"


async def test_an_unsupported_setting_is_refused_before_anything_is_asked(desk: Desk) -> None:
    async with FakeProvider() as provider:
        with pytest.raises(RejectedFault, match="setting_unsupported"):
            await desk.open(provider, sampling={"loudness": 1.0})
        with pytest.raises(RejectedFault, match="setting_unsupported"):
            await desk.open(provider, effort="high")
    assert provider.requests == []


async def test_a_context_beyond_eight_mebibytes_is_refused_before_anything_is_asked(desk: Desk) -> None:
    history = (HistoryMessage("user", "x" * (8 * 1024 * 1024)),)
    async with FakeProvider() as provider:
        heard = await desk.ask(provider, Prompt("hello", history))
    assert heard.end == "context_too_large" and isinstance(heard.fault, RejectedFault)
    assert provider.requests == []


async def test_one_session_has_one_prompt_at_a_time(desk: Desk) -> None:
    async with FakeProvider("hold_after_body") as provider:
        session = await desk.open(provider)
        first = desk.tasks.spawn("listen", listen(session, Prompt("hello")))
        await provider.arrived.wait()
        second = await listen(session, Prompt("again"))
        await session.interrupt()
        await first
        await session.close()
    assert second.called is False and provider.posts == 1


async def test_a_key_that_cannot_be_read_proves_that_nothing_was_called(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def locked(_model: str, _progress: object) -> AsyncGenerator[Endpoint, None]:
        raise EnvironmentFault("keyring_unavailable")
        yield  # pyright: ignore[reportUnreachable]

    monkeypatch.setattr(desk.source, "lease", locked)
    async with FakeProvider() as provider:
        heard = await desk.ask(provider)
    assert (heard.end, heard.called, provider.requests) == ("keyring_unavailable", False, [])
