"""A disk that fails: nothing published is lost, nothing is asked twice, and no turn is left running for ever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.base.errors import EnvironmentFault
from runtime.base.handover import Receipt
from runtime.hosts.port import PromptEnded, TextDelta
from runtime.sessions.fold import ConversationFold
from runtime.sessions.integrity import check_integrity
from runtime.sessions.schema import open_state
from tests.fakes.clock import FakeClock, settle
from tests.fakes.faulty_vfs import FaultyVFS
from tests.fakes.host import FakeHost, Pause
from tests.unit.runtime.sessions.kit import Rig, reservation, submission

pytestmark = pytest.mark.logs_warnings
OPERATIONS = 80


@pytest.fixture
def disk() -> Iterator[FaultyVFS]:
    made = FaultyVFS("faulty-sessions")
    yield made
    made.unregister()


async def _rig(folder: Path, clock: FakeClock, disk: FaultyVFS) -> Rig:
    database = await open_state(folder / "state-v1.sqlite", vfs=disk.name)
    rig = Rig(folder, clock, database, FakeHost(clock))
    rig.host.scripts = [[TextDelta("one "), Pause(1), TextDelta("two "), Pause(1), TextDelta("three"),
                         PromptEnded("completed")]]  # fmt: skip
    await rig.store.create(reservation())
    return rig


async def _admitted(rig: Rig) -> Receipt | None:
    try:
        return await rig.gateway.admit(submission())
    except EnvironmentFault:
        return None


async def _to_the_end(rig: Rig, clock: FakeClock) -> None:
    """Let time pass until the turn has its terminal record."""
    for _step in range(200):
        if any(turn.state.is_terminal for turn in rig.heard.turns()):
            return
        await clock.advance(1)
        await rig.database.read(lambda _: None)  # what was queued in the worker is done
        await settle()
    raise AssertionError("the turn never ended")


@pytest.mark.parametrize("full", [False, True], ids=["EIO", "ENOSPC"])
@pytest.mark.parametrize("fail_at", range(1, OPERATIONS))
async def test_one_failure_at_any_moment_leaves_every_promise_standing(
    tmp_path: Path, clock: FakeClock, disk: FaultyVFS, fail_at: int, full: bool
) -> None:
    rig = await _rig(tmp_path, clock, disk)
    shown = ConversationFold("ses-one")
    changed: list[int | None] = []
    rig.store.subscribe(lambda event: changed.append(shown.apply(event)))
    disk.arm(fail_at, full=full)
    receipt = await _admitted(rig)
    if receipt is not None:
        await _to_the_end(rig, clock)
    disk.disarm()
    await rig.close()

    later = await Rig.make(tmp_path, clock)
    await later.recover()
    stored = {item.id: item for item in await later.items()}
    assert all(stored[item.id].text.startswith(item.text) for item in shown.items)
    assert (await check_integrity(later.store)).is_whole
    assert await later.rows("SELECT count(*) FROM turns WHERE ended_at IS NULL") == [(0,)]
    if receipt is not None:
        assert await later.admission.find("sub-one") == receipt
    assert len(rig.host.prompts) <= 1
    await later.close()


async def test_the_sweep_covers_the_whole_turn(tmp_path: Path, clock: FakeClock, disk: FaultyVFS) -> None:
    rig = await _rig(tmp_path, clock, disk)
    disk.arm(10_000)
    assert await _admitted(rig) is not None
    await _to_the_end(rig, clock)
    assert 15 <= disk.count <= OPERATIONS
    await rig.close()


async def test_an_accepted_turn_that_cannot_be_read_at_once_is_run_later(rig: Rig, clock: FakeClock) -> None:
    await rig.store.create(reservation())
    receipt = await rig.admission.admit(submission())
    read, failures = rig.database.read, 1

    async def read_later(body: object) -> object:
        nonlocal failures
        if failures:
            failures -= 1
            raise EnvironmentFault("io_error")
        return await read(body)  # type: ignore[arg-type]

    rig.database.read = read_later  # type: ignore[method-assign,assignment]
    await rig.controller.begin(receipt)
    assert rig.host.prompts == []
    await clock.advance(5)
    assert (await rig.heard.ended()).state == "completed"


async def test_a_host_that_was_closed_after_it_was_published_is_not_asked(rig: Rig) -> None:
    await rig.gateway.create(reservation())
    started = await rig.gateway.start(reservation())
    await rig.gateway.publish(started)
    await started.close()
    await rig.gateway.admit(submission())
    await rig.heard.ended()
    assert [session.closed for session in rig.host.sessions] == [1, 0]
