"""Any agent over the protocol: its own history, nothing of ours, no power over files, terminals or consent."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from runtime.base.errors import RejectedFault
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.acp.agent import Agent
from runtime.hosts.acp.dialect import PlainDialect
from runtime.hosts.acp.host import AcpHost
from runtime.hosts.acp.process import Command
from runtime.hosts.port import Binding, HostSettings, Prompt, ReasoningSummaryDelta, UsageReported
from tests.fakes.own_agent import Heard, listen

ROOT = Path(__file__).parents[5]
FOREIGN = Command((sys.executable, "-m", "tests.fakes.foreign_agent"), folder=str(ROOT))


@pytest.fixture
async def foreign(tmp_path: Path) -> AsyncGenerator[tuple[AcpHost, Agent, TaskSupervisor], None]:
    bugs: list[BaseException] = []
    tasks = TaskSupervisor("foreign", bugs.append)
    agent = Agent(FOREIGN, tasks)
    host = AcpHost(agent, PlainDialect(), tasks, str(tmp_path))
    yield host, agent, tasks
    await host.close()
    await tasks.close()
    assert bugs == []


async def test_a_foreign_agent_answers_with_its_own_history_and_runs_in_the_workspace(
    foreign: tuple[AcpHost, Agent, TaskSupervisor], tmp_path: Path
) -> None:
    host, _, _ = foreign
    session = await host.open(Binding("ses-1", str(tmp_path / "work")), HostSettings(model="default"))
    assert session.host_session_id == f"foreign:{tmp_path / 'work'}"
    assert session.capabilities.keeps_history and session.observed.host == "Foreign" and session.observed.model == ""
    assert [(await listen(session, Prompt("count"))).text for _ in range(2)] == ["1", "2"]
    heard = await listen(session, Prompt("count"))
    assert UsageReported(5, 2) in heard.events and heard.end == "completed"
    assert not any(isinstance(event, ReasoningSummaryDelta) for event in heard.events)


@pytest.mark.parametrize(
    ("wish", "answer"), [("read", "-32601"), ("write", "-32601"), ("terminal", "-32601"), ("permission", "cancelled")]
)
async def test_a_foreign_agents_requests_are_refused(
    foreign: tuple[AcpHost, Agent, TaskSupervisor], wish: str, answer: str
) -> None:
    session = await foreign[0].open(Binding("ses-1", ""), HostSettings(model="default"))
    assert (await listen(session, Prompt(wish))).text == answer


async def test_a_stopped_prompt_is_cancelled_although_the_agent_says_end_turn(
    foreign: tuple[AcpHost, Agent, TaskSupervisor],
) -> None:
    host, _, tasks = foreign
    session = await host.open(Binding("ses-1", ""), HostSettings(model="default"))
    heard = Heard()
    task = tasks.spawn("listen", listen(session, Prompt("wait"), heard))
    await _until(lambda: "waiting" in heard.text)
    await session.interrupt()
    await asyncio.wait_for(task, 5)
    assert heard.end == "cancelled"


async def test_a_prompt_can_be_stopped_before_the_agent_has_heard_of_it(
    foreign: tuple[AcpHost, Agent, TaskSupervisor],
) -> None:
    host, _, tasks = foreign
    session = await host.open(Binding("ses-1", ""), HostSettings(model="default"))
    task = tasks.spawn("listen", listen(session, Prompt("wait")))
    await _turn()
    await session.interrupt()
    heard = await asyncio.wait_for(task, 5)
    assert heard.end == "cancelled"
    assert (await listen(session, Prompt("count"))).text == "1"


async def test_signing_in_is_a_state_of_the_turn(foreign: tuple[AcpHost, Agent, TaskSupervisor]) -> None:
    session = await foreign[0].open(Binding("ses-1", ""), HostSettings(model="default"))
    heard = await listen(session, Prompt("sign in"))
    assert (heard.end, heard.called) == ("auth_failed", True)


async def test_a_crashed_agent_with_its_own_history_is_not_continued_silently(
    foreign: tuple[AcpHost, Agent, TaskSupervisor],
) -> None:
    host, agent, _ = foreign
    session = await host.open(Binding("ses-1", ""), HostSettings(model="default"))
    os.kill(agent.pid or 0, signal.SIGKILL)
    await _until(lambda: agent.pid is None)
    heard = await listen(session, Prompt("count"))
    assert (heard.end, heard.called) == ("host_crashed", False)
    again = await host.open(Binding("ses-1", ""), HostSettings(model="default"))
    assert (await listen(again, Prompt("count"))).text == "1"


async def test_settings_that_a_foreign_agent_cannot_take_are_refused(
    foreign: tuple[AcpHost, Agent, TaskSupervisor],
) -> None:
    with pytest.raises(RejectedFault, match="setting_unsupported"):
        await foreign[0].open(Binding("ses-1", ""), HostSettings(model="default", instructions="Be brief."))
    assert foreign[1].pid is None


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not holds():
            await _turn()


async def _turn() -> None:
    """Let the loop turn once."""
    await asyncio.sleep(0)
