"""Rules (a) to (f) of step 5, in their order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from drafts import operations
from drafts.begin import BeginRequest, begin
from drafts.model import DraftContent, DraftSettings
from drafts.operations import PHASE, RESERVE, Change
from drafts.phases import ALLOWED, Operation, Phase
from drafts.records import content_object, dump, settings_object
from drafts.schema import SCHEMA
from drafts.snapshot import fingerprint, freeze, source_digest
from runtime.base.errors import RejectedFault
from runtime.base.handover import Place
from tests.fakes.memory_database import MemoryDatabase

PLACE = Place("global", "global")
SETTINGS = DraftSettings(model="local:small")
DRAFT = (
    "INSERT INTO drafts VALUES ('d1','workspace','global/primary','global','global','',3,?,?,'active',1,'',0,'',0,1,1)"
)


def request(text: str = "plan", request_id: str = "req-1", revision: int = 3) -> BeginRequest:
    content = DraftContent(text)
    snapshot = freeze(request_id, PLACE, content, SETTINGS)
    return BeginRequest(
        "d1", revision, snapshot.with_model("scripted:demo"), fingerprint(snapshot), source_digest(content, SETTINGS)
    )


@pytest.fixture
async def database() -> AsyncIterator[MemoryDatabase]:
    opened = MemoryDatabase(SCHEMA)
    row = (dump(content_object(DraftContent("plan", 2, 2))), dump(settings_object(SETTINGS)))
    await opened.run(PHASE, lambda c: c.execute(DRAFT, row).fetchall())
    yield opened
    opened.close()


async def began(database: MemoryDatabase, asked: BeginRequest) -> Operation:
    return await database.run(RESERVE, lambda c: begin(c, asked, 10))


async def refused(database: MemoryDatabase, asked: BeginRequest) -> str:
    before = await database.read(operations.counts)
    with pytest.raises(RejectedFault) as caught:
        await began(database, asked)
    assert await database.read(operations.counts) == before
    return caught.value.code


async def set_draft(database: MemoryDatabase, assignment: str) -> None:
    await database.run(PHASE, lambda c: c.execute(f"UPDATE drafts SET {assignment}").fetchall())


async def enter(database: MemoryDatabase, operation: Operation, *path: Phase, code: str = "") -> Operation:
    for phase in path:
        assert phase in ALLOWED[operation.phase]
        seen = operation
        moved = await database.run(PHASE, lambda c: operations.move(c, seen, phase, 11, Change(code)))  # noqa: B023
        assert moved is not None
        operation = moved
    return operation


async def test_a_new_request_reserves_all_identities_before_the_first_try(database: MemoryDatabase) -> None:
    made = await began(database, request())
    assert made.phase is Phase.RESERVED
    assert len({made.id, made.session_id, made.topic_id, made.submission_id, made.draft_id}) == 5
    assert made == await database.read(lambda c: operations.read(c, made.id))
    assert made.request["settings"] == settings_object(replace(SETTINGS, model="scripted:demo"))


async def test_rule_a_the_same_request_returns_the_earlier_operation_even_of_a_converted_draft(
    database: MemoryDatabase,
) -> None:
    made = await began(database, request())
    await set_draft(database, "status='converted', revision=8")
    assert await began(database, request()) == made
    assert await refused(database, request("other")) == "conflict"


@pytest.mark.parametrize("status", ["converted", "discarded"])
async def test_rule_b_comes_before_c_the_draft_must_be_active(database: MemoryDatabase, status: str) -> None:
    await set_draft(database, f"status='{status}'")
    assert await refused(database, request(revision=2)) == status
    assert await refused(database, replace(request(), draft_id="d9")) == "discarded"


async def test_rule_c_the_revision_must_match(database: MemoryDatabase) -> None:
    assert await refused(database, request(revision=2)) == "conflict"


async def test_rule_d_the_stored_content_must_be_what_was_captured(database: MemoryDatabase) -> None:
    await set_draft(database, "content_json=json_set(content_json, '$.text', 'plan ')")
    assert await refused(database, request()) == "conflict"


async def test_rule_d_a_caret_or_an_inherited_model_that_moved_is_not_another_content(database: MemoryDatabase) -> None:
    await set_draft(
        database,
        "content_json=json_set(content_json, '$.caret', 0), "
        "settings_json=json_set(settings_json, '$.model', 'local:large')",
    )
    assert (await began(database, request())).phase is Phase.RESERVED


@pytest.mark.parametrize(
    "path",
    [
        (),
        (Phase.STARTING,),
        (Phase.STARTING, Phase.RUNTIME_FAILED),
        (Phase.RESUME_REQUIRED,),
        (Phase.STARTING, Phase.DISPATCHING, Phase.DISPATCH_UNKNOWN),
        (Phase.CANCEL_REQUESTED,),
        (Phase.STARTING, Phase.DISPATCHING, Phase.ACCEPTED),
    ],
)
async def test_rule_e_a_live_operation_is_returned_to_the_same_request_and_refused_to_another(
    database: MemoryDatabase, path: tuple[Phase, ...]
) -> None:
    made = await enter(database, await began(database, request()), *path)
    assert await began(database, request(request_id="req-2")) == made
    await set_draft(database, "content_json=json_set(content_json, '$.text', 'other')")
    assert await refused(database, request("other", "req-3")) == "operation_locked"


@pytest.mark.parametrize(
    "path",
    [
        (Phase.TERMINAL_FAILED,),
        (Phase.CANCEL_REQUESTED, Phase.CANCELLED),
        (Phase.STARTING, Phase.DISPATCHING, Phase.DISPATCH_UNKNOWN, Phase.ABANDONED),
    ],
)
async def test_rule_f_after_an_ended_one_session_and_topic_stay_and_the_rest_is_new(
    database: MemoryDatabase, path: tuple[Phase, ...]
) -> None:
    ended = await enter(database, await began(database, request()), *path)
    again = await began(database, request(request_id="req-2"))
    assert (again.session_id, again.topic_id) == (ended.session_id, ended.topic_id)
    assert again.id != ended.id
    assert again.submission_id != ended.submission_id
    assert await database.read(lambda c: operations.read(c, ended.id)) == ended


async def test_rule_f_a_session_that_was_erased_is_not_reserved_again(database: MemoryDatabase) -> None:
    ended = await enter(database, await began(database, request()), Phase.TERMINAL_FAILED, code="session_erased")
    again = await began(database, request(request_id="req-2"))
    assert again.session_id != ended.session_id
    assert again.topic_id != ended.topic_id
