"""Earlier versions: the last 20 non-empty ones, at most one a minute, and never without the last text."""

from __future__ import annotations

from drafts import history
from drafts.model import TextEdit
from runtime.base.failpoints import Step
from tests.unit.drafts.conftest import GLOBAL, KEY, Desk

_STEP = Step("tests.history")


async def _kept(desk: Desk, draft_id: str) -> list[str]:
    return [version.content.text for version in await desk.store.earlier(draft_id)]


async def test_at_most_one_a_minute_is_kept(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    for text in "abc":
        desk.type(draft, text)
        await desk.store.save(draft.id)
    assert await _kept(desk, draft.id) == ["a"]
    await desk.clock.advance(60)
    desk.type(draft, "d")
    await desk.store.save(draft.id)
    assert await _kept(desk, draft.id) == ["abcd", "a"]


async def test_the_last_twenty_are_kept(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    for _ in range(25):
        desk.type(draft, "x")
        await desk.store.save(draft.id)
        await desk.clock.advance(61)
    kept = await _kept(desk, draft.id)
    assert (len(kept), kept[0], kept[-1]) == (20, "x" * 25, "x" * 6)


async def test_text_that_is_deleted_is_kept_as_it_was_last(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    for text in ("first", " second"):
        desk.type(draft, text)
        await desk.store.save(draft.id)
    desk.store.edit(draft.id, TextEdit(0, draft.text_units, ""), 0, 0)
    await desk.store.save(draft.id)
    assert await _kept(desk, draft.id) == ["first second"]
    assert (draft.text, draft.has_content, draft.revision) == ("", False, 3)


async def test_restoring_an_earlier_version_keeps_what_it_replaces(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "old")
    await desk.store.save(draft.id)
    await desk.clock.advance(61)
    desk.type(draft, " and newer")
    await desk.store.save(draft.id)
    desk.type(draft, " and newest")
    await desk.store.save(draft.id)
    version = (await desk.store.earlier(draft.id))[-1]
    desk.store.replace_text(draft.id, version.content.text)
    await desk.store.save(draft.id)
    assert draft.text == "old"
    assert "old and newer and newest" in await _kept(desk, draft.id)


async def test_a_clock_that_was_set_back_costs_no_earlier_version(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    for text in ("one", ", two"):
        desk.type(draft, text)
        await desk.store.save(draft.id)
        await desk.clock.advance(61)
    desk.type(draft, ", three")
    await desk.store.save(draft.id)
    before = desk.clock.now_ms() - 86_400_000
    await desk.database.run(_STEP, lambda connection: history.keep_row(connection, draft.id, before, always=True))
    assert set(await _kept(desk, draft.id)) >= {"one", "one, two", "one, two, three"}
