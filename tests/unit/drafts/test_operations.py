"""The closed list of phase changes, and what one transaction may do to an operation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from drafts import operations
from drafts.operations import PHASE, RESERVE, Change, PhaseError
from drafts.phases import ALLOWED, Operation, Phase
from drafts.schema import SCHEMA
from tests.fakes.memory_database import MemoryDatabase

DRAFT = "INSERT INTO drafts VALUES (?,'workspace',?,'global','global','',1,'{}','{}','active',1,'',0,'',0,1,1)"
EVERY = [(source, target) for source in Phase for target in Phase]


def operation(phase: Phase = Phase.RESERVED, number: int = 1) -> Operation:
    return Operation(
        id=f"op-{number}",
        draft_id="d1",
        workspace_id="global",
        draft_revision=1,
        session_id="ses-1",
        topic_id="top-1",
        submission_id=f"sub-{number}",
        fingerprint="f",
        request={"version": 5},
        execution=None,
        phase=phase,
        error_code="",
        error="",
        request_id=f"req-{number}",
        source_digest="s",
        operation_revision=1,
        created_at=1,
        updated_at=1,
    )


@pytest.fixture
async def database() -> AsyncIterator[MemoryDatabase]:
    opened = MemoryDatabase(SCHEMA)
    await opened.run(PHASE, lambda c: c.execute(DRAFT, ("d1", "global/primary")).fetchall())
    yield opened
    opened.close()


async def stored(database: MemoryDatabase, made: Operation) -> Operation:
    await database.run(RESERVE, lambda c: operations.insert(c, made))
    return await database.read(lambda c: operations.read(c, made.id))


@pytest.mark.parametrize(("source", "target"), [pair for pair in EVERY if pair[1] in ALLOWED[pair[0]]])
async def test_an_allowed_transition_is_stored_once(database: MemoryDatabase, source: Phase, target: Phase) -> None:
    seen = await stored(database, operation(source))
    moved = await database.run(PHASE, lambda c: operations.move(c, seen, target, 7))
    assert moved is not None
    assert moved == await database.read(lambda c: operations.read(c, seen.id))
    assert (moved.phase, moved.operation_revision, moved.updated_at) == (target, 2, 7)
    assert await database.run(PHASE, lambda c: operations.move(c, seen, target, 8)) is None


@pytest.mark.parametrize(("source", "target"), [pair for pair in EVERY if pair[1] not in ALLOWED[pair[0]]])
async def test_a_transition_outside_the_list_is_a_bug(database: MemoryDatabase, source: Phase, target: Phase) -> None:
    seen = await stored(database, operation(source))
    with pytest.raises(PhaseError):
        await database.run(PHASE, lambda c: operations.move(c, seen, target, 7))
    assert await database.read(lambda c: operations.read(c, seen.id)) == seen


def test_the_list_is_the_one_of_the_specification() -> None:
    assert set(ALLOWED) == set(Phase)
    assert not any(ALLOWED[phase] for phase in Phase if phase.is_editable or phase is Phase.ACCEPTED)
    assert {phase for phase in Phase if Phase.STARTING in ALLOWED[phase]} == {
        Phase.RESERVED,
        Phase.RESUME_REQUIRED,
        Phase.RUNTIME_FAILED,
    }
    assert {phase for phase in Phase if Phase.ABANDONED in ALLOWED[phase]} == {Phase.DISPATCH_UNKNOWN}
    assert {phase for phase in Phase if Phase.CANCELLED in ALLOWED[phase]} == {Phase.CANCEL_REQUESTED}
    assert not ALLOWED[Phase.DISPATCH_UNKNOWN] & {Phase.STARTING, Phase.DISPATCHING, Phase.RESUME_REQUIRED}


async def test_an_equal_phase_with_another_revision_is_not_overwritten(database: MemoryDatabase) -> None:
    seen = await stored(database, operation())
    stale = replace(seen, operation_revision=9)
    assert await database.run(PHASE, lambda c: operations.move(c, stale, Phase.STARTING, 7)) is None


async def test_an_error_is_cut_to_500_characters_whatever_they_are(database: MemoryDatabase) -> None:
    seen = await stored(database, operation(Phase.STARTING))
    change = Change("host_failed", "\U0001f6d1\ud800" * 400)
    moved = await database.run(PHASE, lambda c: operations.move(c, seen, Phase.RUNTIME_FAILED, 7, change))
    read = await database.read(lambda c: operations.read(c, seen.id))
    assert moved == read
    assert (len(read.error), read.error_code) == (500, "host_failed")


async def test_execution_is_stored_by_the_transition_and_kept_by_later_ones(database: MemoryDatabase) -> None:
    seen = await stored(database, operation(Phase.STARTING))
    sent = await database.run(
        PHASE, lambda c: operations.move(c, seen, Phase.DISPATCHING, 7, Change(execution={"text": "x"}))
    )
    assert sent is not None
    await database.run(PHASE, lambda c: operations.move(c, sent, Phase.DISPATCH_UNKNOWN, 8))
    assert (await database.read(lambda c: operations.read(c, seen.id))).execution == {"text": "x"}


@pytest.mark.parametrize(
    "phase",
    [Phase.DISPATCHING, Phase.DISPATCHING_SHELL, Phase.DISPATCH_UNKNOWN, Phase.CANCEL_REQUESTED, Phase.ACCEPTED],
)
async def test_accepting_converts_the_draft_and_clears_its_restore_slot_once(
    database: MemoryDatabase, phase: Phase
) -> None:
    seen = await stored(database, operation(phase))
    slot = "INSERT INTO restore_state VALUES (?, json_object('surface', 'workspace', 'key', ?), 1)"
    await database.run(PHASE, lambda c: c.execute(slot, ("active", "global/primary")).fetchall())
    await database.run(PHASE, lambda c: c.execute(slot, ("other", "global/second")).fetchall())
    for _ in range(3):
        await database.run(PHASE, lambda c: operations.accept_convert(c, seen.id, 9))
    read = await database.read(lambda c: operations.read(c, seen.id))
    assert (read.phase, read.operation_revision) == (Phase.ACCEPTED, 1 if phase is Phase.ACCEPTED else 2)
    assert await database.read(lambda c: c.execute("SELECT status FROM drafts").get) == "converted"
    assert await database.read(lambda c: c.execute("SELECT slot FROM restore_state").get) == "other"


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase.is_editable])
async def test_an_operation_that_is_over_is_never_accepted(database: MemoryDatabase, phase: Phase) -> None:
    seen = await stored(database, operation(phase))
    assert await database.run(PHASE, lambda c: operations.accept_convert(c, seen.id, 9)) == (seen, None)
    assert await database.read(lambda c: c.execute("SELECT status FROM drafts").get) == "active"


@pytest.mark.parametrize("phase", [Phase.RESERVED, Phase.STARTING, Phase.RESUME_REQUIRED, Phase.RUNTIME_FAILED])
async def test_accepting_before_dispatch_is_a_bug(database: MemoryDatabase, phase: Phase) -> None:
    seen = await stored(database, operation(phase))
    with pytest.raises(PhaseError):
        await database.run(PHASE, lambda c: operations.accept_convert(c, seen.id, 9))


async def test_a_late_receipt_is_noted_on_an_abandoned_operation_only(database: MemoryDatabase) -> None:
    seen = await stored(database, operation(Phase.ABANDONED))
    noted = await database.run(PHASE, lambda c: operations.note_receipt(c, seen, 9))
    assert noted is not None
    assert (noted.phase, noted.error_code) == (Phase.ABANDONED, operations.RECEIPT_FOUND)
    assert await database.read(operations.unsettled) == []
    with pytest.raises(PhaseError):
        await database.run(PHASE, lambda c: operations.note_receipt(c, replace(seen, phase=Phase.CANCELLED), 9))


async def test_unsettled_lists_what_recovery_must_look_at(database: MemoryDatabase) -> None:
    for number, phase in enumerate(Phase, start=1):
        await stored(database, operation(phase, number))
    found = {read.phase for read in await database.read(operations.unsettled)}
    assert found == {phase for phase in Phase if phase not in (Phase.TERMINAL_FAILED, Phase.CANCELLED)}
    assert sum((await database.read(operations.counts)).values()) == len(Phase)


async def test_the_newest_operation_is_the_last_stored_even_if_the_clock_was_set_back(database: MemoryDatabase) -> None:
    await stored(database, replace(operation(Phase.CANCELLED, 1), created_at=5_000))
    await stored(database, replace(operation(Phase.STARTING, 2), created_at=1))
    newest = await database.read(lambda c: operations.latest(c, "d1"))
    assert newest is not None
    assert newest.id == "op-2"
    assert await database.read(lambda c: operations.live(c, "d1")) == newest
