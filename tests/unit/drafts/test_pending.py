"""Discarding, and clearing a follow-up only after its receipt and only if it is unchanged."""

from __future__ import annotations

import asyncio

import pytest

from drafts.events import DraftCleared
from drafts.model import DraftKey
from drafts.restore import ACTIVE, surface_object
from runtime.base.errors import RejectedFault
from tests.unit.drafts.conftest import GLOBAL, KEY, Desk, OpenDesk

FOLLOW_UP = DraftKey.session("ses-1")


async def test_a_draft_is_discarded_with_its_restore_slot(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "gone")
    saved = await desk.store.save(draft.id)
    await desk.store.set_restore(ACTIVE, surface_object(KEY, GLOBAL))
    assert (await desk.store.discard(draft.id, saved.revision)).outcome == "discarded"
    assert (await desk.store.summaries(), await desk.store.restore(ACTIVE)) == ([], None)
    assert desk.events[-1] == DraftCleared(draft.id, KEY)
    again = await desk.store.open(KEY, GLOBAL)
    assert again.id != draft.id and again.text == ""


async def test_a_discard_of_an_older_revision_changes_nothing(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a")
    saved = await desk.store.save(draft.id)
    desk.type(draft, "b")  # while the question is on the screen
    assert (await desk.store.discard(draft.id, saved.revision)).outcome == "conflict"
    row = await desk.store.show(draft.id)
    assert row is not None and (row.status, row.content.text) == ("active", "ab")
    desk.type(draft, "c")  # and editing goes on


async def test_a_discard_is_refused_while_an_operation_holds_the_draft(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a")
    saved = await desk.store.save(draft.id)
    await desk.hold(draft.id)
    assert (await desk.store.discard(draft.id, saved.revision)).outcome == "operation_locked"


async def test_a_draft_without_a_row_is_simply_forgotten(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    assert (await desk.store.discard(draft.id, 0)).outcome == "discarded"
    assert desk.store.find(KEY) is None


async def test_an_attachment_that_arrives_during_a_discard_is_kept_if_it_fails(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a")
    await desk.store.save(draft.id)
    discarding = asyncio.ensure_future(desk.store.discard(draft.id, 99))
    await asyncio.sleep(0)
    with pytest.raises(RejectedFault):
        desk.type(draft, "b")
    desk.store.set_parts(draft.id, {"attachments": [{"name": "late.png"}]})
    assert (await discarding).outcome == "conflict"
    await desk.store.save(draft.id)
    row = await desk.store.show(draft.id)
    assert row is not None and row.content.parts == {"attachments": [{"name": "late.png"}]}


async def test_a_discarded_draft_does_not_come_back_from_the_journal(desk: Desk, open_desk: OpenDesk) -> None:
    other = await desk.store.open(DraftKey.workspace("global", "other"), GLOBAL)
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "gone")
    saved = await desk.store.save(draft.id)
    desk.type(other, "keeps the journal from being cut")
    await desk.store.discard(draft.id, saved.revision)
    await desk.die()
    again = await (await open_desk()).store.open(KEY, GLOBAL)
    assert again.text == ""


async def test_a_follow_up_is_cleared_after_its_receipt(desk: Desk) -> None:
    draft = await desk.store.open(FOLLOW_UP, GLOBAL)
    desk.type(draft, "go on")
    saved = await desk.store.save(draft.id)
    assert await desk.store.set_pending(draft.id, "sub-1", saved)
    row = await desk.store.show(draft.id)
    assert row is not None and (row.content.text, row.pending_submission_id) == ("go on", "sub-1")
    assert await desk.store.clear_after_receipt(draft.id, "sub-1")
    assert (draft.text, draft.pending_submission_id, draft.generation, draft.state) == ("", "", 2, "saved")
    row = await desk.store.show(draft.id)
    assert row is not None and (row.content.text, row.pending_submission_id, row.revision) == ("", "", 2)
    assert DraftCleared(draft.id, FOLLOW_UP) in desk.events
    desk.type(draft, "next")
    assert (await desk.store.save(draft.id)).outcome == "saved"


async def test_what_is_typed_after_sending_is_kept(desk: Desk) -> None:
    draft = await desk.store.open(FOLLOW_UP, GLOBAL)
    desk.type(draft, "go on")
    saved = await desk.store.save(draft.id)
    await desk.store.set_pending(draft.id, "sub-1", saved)
    desk.type(draft, ", please")
    assert not await desk.store.clear_after_receipt(draft.id, "sub-1")
    assert (draft.text, draft.pending_submission_id) == ("go on, please", "")
    assert (await desk.store.save(draft.id)).outcome == "saved"


async def test_a_key_that_is_typed_while_the_text_is_cleared_is_kept(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(FOLLOW_UP, GLOBAL)
    desk.type(draft, "go on")
    await desk.store.set_pending(draft.id, "sub-1", await desk.store.save(draft.id))
    clearing = asyncio.ensure_future(desk.store.clear_after_receipt(draft.id, "sub-1"))
    await asyncio.sleep(0)
    desk.type(draft, "!")
    assert not await clearing
    assert draft.text == "go on!"
    assert (await desk.store.save(draft.id)).outcome == "saved"
    await desk.die()
    assert (await (await open_desk()).store.open(FOLLOW_UP, GLOBAL)).text == "go on!"


async def test_at_start_an_unchanged_pending_text_is_cleared_without_being_open(
    desk: Desk, open_desk: OpenDesk
) -> None:
    draft = await desk.store.open(FOLLOW_UP, GLOBAL)
    desk.type(draft, "go on")
    await desk.store.set_pending(draft.id, "sub-1", await desk.store.save(draft.id))
    await desk.die()
    second = await open_desk()
    assert await second.store.clear_after_receipt(draft.id, "sub-1")
    assert (await second.store.open(FOLLOW_UP, GLOBAL)).text == ""


async def test_at_start_a_text_that_was_typed_on_is_kept(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(FOLLOW_UP, GLOBAL)
    desk.type(draft, "go on")
    await desk.store.set_pending(draft.id, "sub-1", await desk.store.save(draft.id))
    desk.type(draft, ", and more")
    await desk.die()
    second = await open_desk()
    await second.store.recover_journals()
    assert not await second.store.clear_after_receipt(draft.id, "sub-1")
    again = await second.store.open(FOLLOW_UP, GLOBAL)
    assert (again.text, again.pending_submission_id) == ("go on, and more", "")


async def test_a_second_submission_is_not_noted_over_a_pending_one(desk: Desk) -> None:
    draft = await desk.store.open(FOLLOW_UP, GLOBAL)
    desk.type(draft, "go on")
    saved = await desk.store.save(draft.id)
    assert await desk.store.set_pending(draft.id, "sub-1", saved)
    assert await desk.store.set_pending(draft.id, "sub-1", saved)
    assert not await desk.store.set_pending(draft.id, "sub-2", saved)
    assert not await desk.store.clear_after_receipt(draft.id, "sub-2")
    await desk.store.clear_pending(draft.id, "sub-1")
    assert (draft.text, draft.pending_submission_id) == ("go on", "")
    assert await desk.store.set_pending(draft.id, "sub-2", saved)


async def test_a_moved_caret_does_not_keep_a_sent_text(desk: Desk) -> None:
    draft = await desk.store.open(FOLLOW_UP, GLOBAL)
    desk.type(draft, "go on")
    await desk.store.set_pending(draft.id, "sub-1", await desk.store.save(draft.id))
    desk.store.move_caret(draft.id, 1, 1)
    await desk.store.flush()
    assert await desk.store.clear_after_receipt(draft.id, "sub-1")
