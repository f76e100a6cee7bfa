"""The real agent process against the fake provider. One process serves a whole run: starting it is the slow part."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from runtime.base.tasks import TaskSupervisor
from runtime.hosts.acp.agent import Agent
from tests.fakes.own_agent import OWN_AGENT, Desk, make_desk


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_agent() -> AsyncGenerator[Agent, None]:
    bugs: list[BaseException] = []
    tasks = TaskSupervisor("hosts", bugs.append)
    agent = Agent(OWN_AGENT, tasks)
    yield agent
    await agent.close()
    await tasks.close()
    assert bugs == []


@pytest_asyncio.fixture(loop_scope="session")
async def desk(shared_agent: Agent, tmp_path: Path) -> AsyncGenerator[Desk, None]:
    """A host on the shared process, with an endpoint that the test sets."""
    made = make_desk(shared_agent, tmp_path)
    yield made
    await made.tasks.close()
    assert made.bugs == []


@pytest.fixture
async def own_desk(tmp_path: Path) -> AsyncGenerator[Desk, None]:
    """A host on a process of its own, for tests that end it."""
    bugs: list[BaseException] = []
    tasks = TaskSupervisor("agent", bugs.append)
    agent = Agent(OWN_AGENT, tasks)
    made = make_desk(agent, tmp_path)
    yield made
    await agent.close()
    await made.tasks.close()
    await tasks.close()
    assert [*bugs, *made.bugs] == []
