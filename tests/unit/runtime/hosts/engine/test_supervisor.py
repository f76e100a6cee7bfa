"""The engine as a real process: healthy, shared, guarded, and gone when it should be."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from runtime.hosts.engine.process import EngineEndpoint, Launch
from runtime.hosts.engine.supervisor import EngineState, EngineSupervisor
from runtime.hosts.engine.weights import LocalModel, LocalModels
from runtime.hosts.faults import HostFault
from runtime.hosts.port import HostProgress
from tests.fakes.clock import FakeClock
from tests.fakes.gguf import CONTEXT_TOKENS, model_bytes
from tests.unit.runtime.hosts.engine.conftest import MakeSupervisor, script

pytestmark = pytest.mark.engine

NEVER_READY = "import sys; sys.stdin.read()"
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def _ignore(_progress: HostProgress) -> None:
    pass


def _client(endpoint: EngineEndpoint, key: str | None = None) -> httpx2.AsyncClient:
    key = endpoint.api_key if key is None else key
    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"} if key else {}, trust_env=False, timeout=20)


def _request(model: str, *, stream: bool) -> dict[str, object]:
    return {"model": model, "messages": [{"role": "user", "content": "hello"}], "stream": stream}


async def _chunks(client: httpx2.AsyncClient, endpoint: EngineEndpoint) -> AsyncIterator[str]:
    url = endpoint.base_url + "/chat/completions"
    async with client.stream("POST", url, json=_request(endpoint.model, stream=True)) as reply:
        assert reply.status_code == 200
        async for line in reply.aiter_lines():
            if line.startswith("data: {"):
                choices = json.loads(line[6:])["choices"]
                yield choices[0]["delta"].get("content") or "" if choices else ""


async def _ended(supervisor: EngineSupervisor) -> EngineState:
    """The next state in which no process runs."""
    future: asyncio.Future[EngineState] = asyncio.get_running_loop().create_future()

    def notice(state: EngineState) -> None:
        if state.phase in {"stopped", "failed"} and not future.done():
            future.set_result(state)

    unsubscribe = supervisor.subscribe(notice)
    try:
        return await asyncio.wait_for(future, 10)
    finally:
        unsubscribe()


def _exists(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_a_streamed_answer_comes_from_the_local_model(
    supervisor: EngineSupervisor, models: LocalModels, progress: list[HostProgress]
) -> None:
    endpoint = await supervisor.ensure(models.find("short"), progress.append)
    assert [step.code for step in progress] == ["engine_starting"]
    assert (endpoint.model, endpoint.context_tokens) == ("short", CONTEXT_TOKENS)
    async with _client(endpoint) as client:
        answer = [chunk async for chunk in _chunks(client, endpoint)]
    assert len("".join(answer).strip()) > 0
    assert supervisor.state == EngineState("running", "short")


async def test_the_model_is_listed_under_its_name_alone(supervisor: EngineSupervisor, models: LocalModels) -> None:
    endpoint = await supervisor.ensure(models.find("short"), _ignore)
    async with _client(endpoint) as client:
        listed = (await client.get(endpoint.base_url + "/models")).text
    assert '"short"' in listed
    assert str(models.folder) not in listed


@pytest.mark.parametrize("key", ["", "wrong"])
async def test_without_the_key_nothing_is_answered(supervisor: EngineSupervisor, models: LocalModels, key: str) -> None:
    endpoint = await supervisor.ensure(models.find("short"), _ignore)
    async with _client(endpoint, key) as client:
        for path in ("/models", "/chat/completions"):
            reply = await client.post(endpoint.base_url + path, json=_request("short", stream=False))
            assert reply.status_code == 401
        assert (await client.get(endpoint.base_url.removesuffix("/v1") + "/")).status_code == 404
        other = await client.get(endpoint.base_url + "/health", headers={"Origin": "https://example.org"})
    assert not other.headers.get("access-control-allow-origin")


@LINUX
async def test_the_key_is_neither_on_the_command_line_nor_in_the_environment_nor_in_the_log(
    supervisor: EngineSupervisor, models: LocalModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "somebody-elses")
    endpoint = await supervisor.ensure(models.find("short"), _ignore)
    command = Path(f"/proc/{supervisor.pid}/cmdline").read_bytes()
    environment = Path(f"/proc/{supervisor.pid}/environ").read_bytes()
    assert endpoint.api_key.encode() not in command + environment
    assert b"somebody-elses" not in environment
    assert endpoint.api_key not in repr(endpoint)
    log = "\n".join(supervisor.log_lines())
    assert "listening" in log
    assert endpoint.api_key not in log
    assert str(models.folder) not in log


async def test_concurrent_callers_share_one_start(supervisor: EngineSupervisor, models: LocalModels) -> None:
    model = models.find("short")
    states: list[str] = []
    supervisor.subscribe(lambda state: states.append(state.phase))
    endpoints = await asyncio.gather(*(supervisor.ensure(model, _ignore) for _ in range(12)))
    assert len({endpoint.base_url for endpoint in endpoints}) == 1
    assert await supervisor.ensure(model, _ignore) == endpoints[0]
    assert states == ["starting", "running"]


async def test_another_model_replaces_the_process(supervisor: EngineSupervisor, models: LocalModels) -> None:
    await supervisor.ensure(models.find("short"), _ignore)
    first = supervisor.pid
    endpoint = await supervisor.ensure(models.find("endless"), _ignore)
    assert endpoint.model == "endless"
    assert first is not None and not _exists(first)


async def test_another_model_waits_for_the_running_prompt(
    supervisor: EngineSupervisor, models: LocalModels, progress: list[HostProgress]
) -> None:
    async with supervisor.lease(models.find("endless"), _ignore) as endpoint:
        other = asyncio.ensure_future(supervisor.ensure(models.find("short"), progress.append))
        async with _client(endpoint) as client:
            assert "".join([chunk async for chunk in _chunks(client, endpoint)])
        assert not other.done()
    assert (await other).model == "short"
    assert [step.code for step in progress] == ["engine_busy", "engine_starting"]


async def test_a_prompt_that_begins_as_the_last_one_ends_keeps_its_engine(
    supervisor: EngineSupervisor, models: LocalModels
) -> None:
    async with supervisor.lease(models.find("endless"), _ignore):
        other = asyncio.ensure_future(supervisor.ensure(models.find("short"), _ignore))
        while supervisor._start is None:  # pyright: ignore[reportPrivateUsage]
            await asyncio.sleep(0)
        await asyncio.sleep(0)
    async with supervisor.lease(models.find("endless"), _ignore) as endpoint, _client(endpoint) as client:
        assert (await client.get(endpoint.base_url + "/models")).status_code == 200
        for _turn in range(20):
            await asyncio.sleep(0)
        assert supervisor.state == EngineState("running", "endless")
        assert not other.done()
    assert (await other).model == "short"


async def test_two_models_started_at_once_both_get_their_turn(
    supervisor: EngineSupervisor, models: LocalModels
) -> None:
    served: list[str] = []

    async def use(name: str) -> None:
        async with supervisor.lease(models.find(name), _ignore) as endpoint, _client(endpoint) as client:
            reply = await client.post(endpoint.base_url + "/chat/completions", json=_request(name, stream=False))
            assert reply.status_code == 200
            served.append(reply.json()["model"])

    await asyncio.gather(*(use(name) for name in ("short", "endless", "short")))
    assert sorted(served) == ["endless", "short", "short"]


async def test_a_missing_model_is_refused_before_any_process(make_supervisor: MakeSupervisor, tmp_path: Path) -> None:
    supervisor = make_supervisor(launch=Launch(command=("/nonexistent",)))
    with pytest.raises(HostFault) as caught:
        await supervisor.ensure(LocalModel("gone", tmp_path / "gone.gguf", "gone", "", 0), _ignore)
    assert (caught.value.code, caught.value.called) == ("model_missing", False)


@pytest.mark.parametrize("data", [model_bytes()[:-60_000], model_bytes()[:4000], model_bytes()[:24] + os.urandom(9000)])
async def test_damaged_weights_are_called_damaged(
    supervisor: EngineSupervisor, models: LocalModels, data: bytes
) -> None:
    (models.folder / "damaged.gguf").write_bytes(data)
    with pytest.raises(HostFault) as caught:
        await supervisor.ensure(models.find("damaged"), _ignore)
    assert (caught.value.code, caught.value.called) == ("model_damaged", False)
    assert supervisor.state == EngineState("failed", "damaged", "model_damaged")
    assert (await supervisor.ensure(models.find("short"), _ignore)).model == "short"


async def test_weights_that_the_engine_cannot_load_fail_with_the_end_of_its_log(
    supervisor: EngineSupervisor, models: LocalModels
) -> None:
    strange = model_bytes().replace(b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0lemma", 1)
    (models.folder / "strange.gguf").write_bytes(strange)
    with pytest.raises(HostFault) as caught:
        await supervisor.ensure(models.find("strange"), _ignore)
    assert (caught.value.code, caught.value.called) == ("engine_failed", False)
    assert "lemma" in str(caught.value)
    assert str(models.folder) not in str(caught.value)


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.stderr.write('boom\\n'); sys.exit(7)",
        "print('what?'); import sys; sys.stdin.read()",
        "print('[1]'); import sys; sys.stdin.read()",
        NEVER_READY,
        "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); sys.stdin.read(); signal.pause()",
    ],
)
async def test_a_program_that_never_becomes_healthy_is_engine_failed_and_gone(
    make_supervisor: MakeSupervisor, models: LocalModels, code: str
) -> None:
    supervisor = make_supervisor(launch=script(code))
    with pytest.raises(HostFault) as caught:
        await supervisor.ensure(models.find("short"), _ignore)
    assert (caught.value.code, caught.value.called) == ("engine_failed", False)
    assert supervisor.state.phase == "failed"


async def test_a_program_that_cannot_be_run_is_engine_failed(
    make_supervisor: MakeSupervisor, models: LocalModels
) -> None:
    supervisor = make_supervisor(launch=Launch(command=("/nonexistent",)))
    with pytest.raises(HostFault) as caught:
        await supervisor.ensure(models.find("short"), _ignore)
    assert (caught.value.code, caught.value.called) == ("engine_failed", False)


async def test_a_killed_engine_is_noticed_and_started_anew(supervisor: EngineSupervisor, models: LocalModels) -> None:
    model = models.find("short")
    first = await supervisor.ensure(model, _ignore)
    assert supervisor.pid is not None
    os.kill(supervisor.pid, signal.SIGKILL)
    assert await _ended(supervisor) == EngineState("failed", "short", "host_crashed")
    second = await supervisor.ensure(model, _ignore)
    assert second.api_key != first.api_key
    async with _client(second) as client:
        assert (await client.get(second.base_url + "/models")).status_code == 200


async def test_a_cancelled_start_leaves_no_process(make_supervisor: MakeSupervisor, models: LocalModels) -> None:
    supervisor = make_supervisor(launch=Launch(command=(sys.executable, "-c", NEVER_READY)))
    model = models.find("short")
    waiting = [asyncio.ensure_future(supervisor.ensure(model, _ignore)) for _ in range(2)]
    while supervisor.state.phase != "starting":
        await asyncio.sleep(0)
    waiting[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting[0]
    assert supervisor.state.phase == "starting"
    ended = asyncio.ensure_future(_ended(supervisor))
    await asyncio.sleep(0)
    waiting[1].cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting[1]
    assert (await ended).phase == "stopped"


async def test_a_start_asked_for_while_another_is_given_up_succeeds(
    supervisor: EngineSupervisor, models: LocalModels, progress: list[HostProgress]
) -> None:
    model = models.find("short")
    given_up = asyncio.ensure_future(supervisor.ensure(model, _ignore))
    while supervisor.state.phase != "starting":
        await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (await supervisor.ensure(model, progress.append)).model == "short"
    assert [step.code for step in progress] == ["engine_starting"]
    assert given_up.cancelled()


async def test_an_idle_engine_is_stopped_and_one_in_use_is_not(
    make_supervisor: MakeSupervisor, models: LocalModels, clock: FakeClock
) -> None:
    supervisor = make_supervisor(idle_seconds=60)
    async with supervisor.lease(models.find("short"), _ignore):
        await clock.advance(600)
        assert supervisor.pid is not None
    await clock.advance(59)
    assert supervisor.pid is not None
    await supervisor.ensure(models.find("short"), _ignore)  # asking counts as use
    await clock.advance(59)
    pid = supervisor.pid
    assert pid is not None
    ended = asyncio.ensure_future(_ended(supervisor))
    await clock.advance(2)
    assert (await ended).phase == "stopped"
    assert not _exists(pid)


async def test_close_ends_the_engine_also_in_the_middle_of_an_answer(
    supervisor: EngineSupervisor, models: LocalModels
) -> None:
    async with supervisor.lease(models.find("endless"), _ignore) as endpoint:
        pid = supervisor.pid
        async with _client(endpoint) as client:
            stream = _chunks(client, endpoint)
            assert await anext(stream) is not None
            await asyncio.wait_for(supervisor.close(), 3)
            assert pid is not None and not _exists(pid)
            with pytest.raises(httpx2.TransportError):
                async for _chunk in stream:
                    pass
    with pytest.raises(HostFault):
        await supervisor.ensure(models.find("short"), _ignore)


async def test_close_during_a_start_ends_it(make_supervisor: MakeSupervisor, models: LocalModels) -> None:
    supervisor = make_supervisor(launch=Launch(command=(sys.executable, "-c", NEVER_READY)))
    waiting = asyncio.ensure_future(supervisor.ensure(models.find("short"), _ignore))
    while supervisor.state.phase != "starting":
        await asyncio.sleep(0)
    await asyncio.wait_for(supervisor.close(), 5)
    with pytest.raises(HostFault) as caught:
        await waiting
    assert (caught.value.code, caught.value.called) == ("engine_failed", False)


@LINUX
async def test_an_interrupt_from_the_terminal_does_not_reach_the_engine(
    supervisor: EngineSupervisor, models: LocalModels
) -> None:
    endpoint = await supervisor.ensure(models.find("short"), _ignore)
    assert supervisor.pid is not None
    assert os.getsid(supervisor.pid) != os.getsid(0)
    os.kill(supervisor.pid, signal.SIGINT)
    async with _client(endpoint) as client:
        assert (await client.get(endpoint.base_url + "/models")).status_code == 200


PARENT = """
import asyncio, sys
from pathlib import Path
from runtime.base.clock import SystemClock
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.engine.supervisor import EngineSupervisor
from runtime.hosts.engine.weights import LocalModels

async def main() -> None:
    engine = EngineSupervisor(SystemClock(), TaskSupervisor("engine", print), 0, print)
    await engine.ensure(LocalModels(Path(sys.argv[1])).find("short"), lambda progress: None)
    print(engine.pid, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@LINUX
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_engine_ends_with_its_parent(models: LocalModels, how: signal.Signals) -> None:
    command = [sys.executable, "-c", PARENT, str(models.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        watch = os.pidfd_open(pid)
        try:
            assert _exists(pid)
            parent.send_signal(how)
            parent.wait(10)
            _await_end(watch)
            assert not _exists(pid)
        finally:
            os.close(watch)


def _await_end(pidfd: int) -> None:
    assert select.select([pidfd], [], [], 5)[0], "the engine outlived its parent"
