"""The agent's process: started once, ended in time, replaced after a crash."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from runtime.base.tasks import TaskSupervisor
from runtime.hosts.acp.agent import Agent
from runtime.hosts.acp.process import AgentProcess, Command
from runtime.hosts.faults import HostFault
from runtime.hosts.port import Prompt
from tests.fakes.fake_provider import FakeProvider
from tests.fakes.own_agent import OWN_AGENT, Desk, Heard, listen, make_desk

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("up", flush=True)
while True: time.sleep(1)
"""


def tasks_and_bugs() -> tuple[TaskSupervisor, list[BaseException]]:
    bugs: list[BaseException] = []
    return TaskSupervisor("test", bugs.append), bugs


async def test_all_sessions_share_one_process_and_a_crash_replaces_it(own_desk: Desk) -> None:
    async with FakeProvider() as provider:
        first, second = await own_desk.open(provider), await own_desk.open(provider)
        pid = own_desk.agent.pid
        assert pid is not None
        assert (await listen(first, Prompt("a"))).end == "completed"
        assert (await listen(second, Prompt("b"))).end == "completed"
        assert own_desk.agent.pid == pid
        os.kill(pid, signal.SIGKILL)
        await _gone(own_desk)
        again = await listen(first, Prompt("c"))  # no history is lost: the agent keeps none
        assert again.end == "completed" and own_desk.agent.pid not in {None, pid}
        await first.close()
        await second.close()
    assert provider.posts == 3


async def test_S02_a_crash_after_the_call_is_a_fault_that_says_so_and_keeps_the_text(own_desk: Desk) -> None:
    async with FakeProvider("hold_mid_stream") as provider:
        session = await own_desk.open(provider)
        heard = Heard()
        task = own_desk.tasks.spawn("listen", listen(session, Prompt("hello"), heard))
        await provider.arrived.wait()
        await _until_text(heard, "Ink holds fast.")
        os.kill(own_desk.agent.pid or 0, signal.SIGKILL)
        await task
        await session.close()
    assert (heard.text, heard.end, heard.called) == ("Ink holds fast.", "host_crashed", True)
    assert provider.posts == 1


async def test_a_crash_before_the_call_proves_that_nothing_left(own_desk: Desk) -> None:
    async with FakeProvider("models_503_for", hold=100_000) as provider:
        session = await own_desk.open(provider)
        heard = Heard()
        task = own_desk.tasks.spawn("listen", listen(session, Prompt("hello"), heard))
        while not heard.progress:
            await asyncio.wait({task}, timeout=0.01)
        os.kill(own_desk.agent.pid or 0, signal.SIGKILL)
        await task
        await session.close()
    assert (heard.end, heard.called, provider.posts) == ("host_crashed", False, 0)


async def test_the_agent_ends_when_its_input_ends_even_in_the_middle_of_an_answer(own_desk: Desk) -> None:
    async with FakeProvider("hold_after_body") as provider:
        session = await own_desk.open(provider)
        task = own_desk.tasks.spawn("listen", listen(session, Prompt("hello")))
        await provider.arrived.wait()
        started = asyncio.get_running_loop().time()
        await own_desk.host.close()
        assert asyncio.get_running_loop().time() - started < 1.9  # end of input alone, no signal
        heard = await task
        await asyncio.wait_for(provider.gone.wait(), 3)
    assert heard.end == "host_crashed" and own_desk.agent.pid is None


async def test_an_agent_that_does_not_obey_is_ended_with_its_session(tmp_path: Path) -> None:
    tasks, bugs = tasks_and_bugs()
    agent = Agent(Command(OWN_AGENT.arguments, patience=0.1), tasks)
    desk = make_desk(agent, tmp_path)
    async with FakeProvider("hold_after_body") as provider:
        session = await desk.open(provider)
        task = desk.tasks.spawn("listen", listen(session, Prompt("hello")))
        await provider.arrived.wait()
        os.kill(agent.pid or 0, signal.SIGSTOP)
        await asyncio.wait_for(session.close(), 6)
        assert (await task).end == "cancelled" and agent.pid is None
        again = await desk.open(provider)
        assert agent.pid is not None
        await again.close()
    await agent.close()
    await desk.tasks.close()
    await tasks.close()
    assert [*bugs, *desk.bugs] == []


async def test_a_call_of_a_process_that_ended_does_not_wait_for_ever(own_desk: Desk) -> None:
    connection = await own_desk.agent.connect()
    with pytest.raises(ConnectionError):
        async with asyncio.timeout(5), connection.call():
            os.kill(connection.process.pid, signal.SIGKILL)
            await asyncio.Event().wait()
    with pytest.raises(ConnectionError):
        async with connection.call():
            raise AssertionError("entered")


async def test_an_interrupt_at_the_terminal_does_not_reach_the_agent(own_desk: Desk) -> None:
    async with FakeProvider() as provider:
        session = await own_desk.open(provider)
        os.kill(own_desk.agent.pid or 0, signal.SIGINT)
        assert (await listen(session, Prompt("hello"))).end == "completed"
        await session.close()


async def test_a_process_that_ignores_everything_is_killed_in_time() -> None:
    tasks, bugs = tasks_and_bugs()
    process = await AgentProcess.start(Command((sys.executable, "-c", STUBBORN), patience=0.1), tasks)
    await process.reader.readline()
    await asyncio.wait_for(process.end(), 3)
    assert process.exit_code == -signal.SIGKILL
    await tasks.close()
    assert bugs == []


async def test_a_command_that_does_not_exist_is_unavailable_and_was_not_called(tmp_path: Path) -> None:
    tasks, _ = tasks_and_bugs()
    agent = Agent(Command((str(tmp_path / "absent"),)), tasks)
    with pytest.raises(HostFault) as caught:
        await agent.connect()
    assert (caught.value.code, caught.value.called) == ("host_unavailable", False)
    await agent.close()
    await tasks.close()


@pytest.mark.logs_warnings
async def test_a_program_that_is_no_agent_is_unavailable() -> None:
    tasks, bugs = tasks_and_bugs()
    agent = Agent(Command((sys.executable, "-c", "print('hello')")), tasks)
    with pytest.raises(HostFault) as caught:
        await asyncio.wait_for(agent.connect(), 10)
    assert caught.value.code == "host_unavailable"
    await agent.close()
    await tasks.close()
    assert bugs == []


async def test_standard_error_is_kept_as_a_short_ring() -> None:
    tasks, _ = tasks_and_bugs()
    chatty = "import sys\nfor i in range(1000): print('line', i, 'x' * 1000, file=sys.stderr)"
    process = await AgentProcess.start(Command((sys.executable, "-c", chatty)), tasks)
    await process.reader.read()
    await process.end()
    assert len(process.errors) == 200 and all(len(line) <= 400 for line in process.errors)
    assert process.errors[-1].startswith("line 999 ")
    await tasks.close()


async def test_no_key_is_on_the_command_line_or_in_the_environment(own_desk: Desk) -> None:
    own_desk.source.api_key = "sk-very-secret"
    async with FakeProvider() as provider:
        await own_desk.ask(provider)
    assert provider.last.headers["authorization"] == "Bearer sk-very-secret"
    proc = Path(f"/proc/{own_desk.agent.pid}")
    if proc.exists():
        assert b"sk-very-secret" not in (proc / "cmdline").read_bytes() + (proc / "environ").read_bytes()
    assert "sk-very-secret" not in " ".join(OWN_AGENT.arguments)


async def _until_text(heard: Heard, text: str) -> None:
    async with asyncio.timeout(5):
        while heard.text != text:
            await asyncio.sleep(0)


async def _gone(desk: Desk) -> None:
    async with asyncio.timeout(5):
        while desk.agent.pid is not None:
            await asyncio.sleep(0)
