"""Opening, navigating, discarding: the store as the window uses it."""

from __future__ import annotations

from drafts.model import DraftKey
from tests.unit.drafts.conftest import GLOBAL, KEY, Desk, OpenDesk


async def test_typing_is_saved_and_comes_back(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "hello 👋")
    result = await desk.store.save(draft.id)
    assert (result.outcome, result.revision) == ("saved", 1)
    assert draft.state == "saved"
    await desk.close()
    again = await (await open_desk()).store.open(KEY, GLOBAL)
    assert (again.text, again.revision, again.id) == ("hello 👋", 1, draft.id)


async def test_opening_a_draft_makes_no_row(desk: Desk) -> None:
    await desk.store.open(KEY, GLOBAL)
    assert await desk.store.summaries() == []


async def test_what_was_typed_but_never_saved_comes_back_after_a_kill(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "never saved")
    await desk.die()
    again = await (await open_desk()).store.open(KEY, GLOBAL)
    assert (again.text, again.id, again.revision) == ("never saved", draft.id, 1)


async def test_D02_new_conversation_returns_to_the_draft(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "unsent")
    assert await desk.store.open(DraftKey.workspace("global"), GLOBAL) is draft
