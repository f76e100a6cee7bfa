"""Fixtures of the sessions' tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fakes.clock import FakeClock
from tests.unit.runtime.sessions.kit import Rig


@pytest.fixture
async def rig(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Rig]:
    made = await Rig.make(tmp_path, clock)
    yield made
    await made.close()
