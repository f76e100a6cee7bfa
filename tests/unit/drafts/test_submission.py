"""First execution from capture to conversion, against a written gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from drafts.events import DraftConverted, OperationChanged
from drafts.phases import Phase
from runtime.base.folder import DataFolder
from tests.fakes.desk import PRIMARY, Desk, open_desk


@pytest.fixture
async def desk(data_folder: DataFolder) -> AsyncIterator[Desk]:
    opened = await open_desk(data_folder)
    yield opened
    await opened.close()
    assert opened.bugs == []


async def test_a_send_reserves_starts_publishes_admits_once_and_converts(desk: Desk) -> None:
    draft = await desk.draft("plan")
    operation = await desk.first.submit(desk.first.capture(draft.id))
    assert operation.phase is Phase.ACCEPTED
    assert [step for step, _ in desk.gateway.calls] == [
        "check_place", "resolve_model", "expand", "presence", "create", "start", "publish", "admit", "admitted",
        "find_receipt"]
    assert [e.operation.phase for e in desk.events if isinstance(e, OperationChanged)] == [
        Phase.RESERVED, Phase.STARTING, Phase.DISPATCHING, Phase.ACCEPTED]
    assert [e for e in desk.events if isinstance(e, DraftConverted)] == [
        DraftConverted(draft.id, PRIMARY, operation.session_id, operation.id)]
    stored = await desk.store.show(draft.id)
    assert stored is not None
    assert stored.status == "converted"
    again = await desk.draft()
    assert (again.id != draft.id, again.text, again.locked) == (True, "", "")
