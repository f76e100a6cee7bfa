"""Opening, navigating, discarding: the store as the window uses it."""

from __future__ import annotations

import asyncio
import logging

import pytest

from drafts.fold import MisfitError
from drafts.live import KEPT_CLEAN
from drafts.model import DraftKey, DraftSettings, TextEdit
from drafts.restore import surface_object
from drafts.store import Unsaved
from runtime.base.errors import EnvironmentFault, RejectedFault
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


async def test_D01_each_conversation_owns_its_text_and_caret(desk: Desk) -> None:
    first = await desk.store.open(DraftKey.session("c1"), GLOBAL)
    desk.type(first, "alpha-1")
    desk.store.move_caret(first.id, 3, 3)
    second = await desk.store.open(DraftKey.session("c2"), GLOBAL)
    assert second.text == ""
    desk.type(second, "beta-2")
    again = await desk.store.open(DraftKey.session("c1"), GLOBAL)
    assert (again.text, again.caret) == ("alpha-1", 3)
    await desk.store.flush()
    assert len({summary.id for summary in await desk.store.summaries()}) == 2


async def test_a_caret_is_stored_before_exit_and_comes_back(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "alpha")
    await desk.store.save(draft.id)
    desk.store.move_caret(draft.id, 3, 1)
    assert draft.state == "saved"
    assert await desk.store.flush() == []
    await desk.close()
    again = await (await open_desk()).store.open(KEY, GLOBAL)
    assert (again.caret, again.anchor) == (3, 1)


async def test_keys_typed_before_the_read_are_put_behind_the_stored_text(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "stored")
    await desk.store.save(draft.id)
    await desk.close()
    second = await open_desk()
    opening = second.store.begin_open(KEY, GLOBAL)
    early = opening.id
    second.type(opening, " typed")
    opened = await second.store.open(KEY, GLOBAL)
    second.store.edit(early, TextEdit(12, 0, "!"), 13, 13)  # the page may still know the first id
    assert (opened.text, opened.id, opened.caret, opened.state) == ("stored typed!", draft.id, 13, "dirty")
    await second.die()
    assert (await (await open_desk()).store.open(KEY, GLOBAL)).text == "stored typed!"


async def test_keys_typed_before_the_read_survive_a_kill_before_the_read(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "stored")
    await desk.store.save(draft.id)
    await desk.close()
    second = await open_desk()
    second.type(second.store.begin_open(KEY, GLOBAL), " typed")
    await second.die()
    assert (await (await open_desk()).store.open(KEY, GLOBAL)).text == "stored typed"


async def test_a_read_that_fails_keeps_what_is_typed_and_can_be_repeated(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def locked(_body: object) -> None:
        raise EnvironmentFault("database_locked")

    monkeypatch.setattr(desk.database, "read", locked)
    draft = desk.store.begin_open(KEY, GLOBAL)
    desk.type(draft, "typed")
    with pytest.raises(EnvironmentFault):
        await desk.store.open(KEY, GLOBAL)
    assert (draft.text, draft.state, draft.loading) == ("typed", "error", True)
    monkeypatch.undo()
    assert await desk.store.open(KEY, GLOBAL) is draft
    assert (draft.text, (await desk.store.save(draft.id)).outcome) == ("typed", "saved")


async def test_clean_drafts_are_kept_twenty_at_most_and_come_back(desk: Desk) -> None:
    for number in range(25):
        draft = await desk.store.open(DraftKey.session(f"c{number}"), GLOBAL)
        desk.type(draft, f"text {number}")
        await desk.store.save(draft.id)
    kept = [number for number in range(25) if desk.store.find(DraftKey.session(f"c{number}"))]
    assert kept == list(range(4, 25))  # twenty clean ones beside the one that was just opened
    assert (await desk.store.open(DraftKey.session("c0"), GLOBAL)).text == "text 0"


async def test_dirty_and_locked_drafts_are_never_evicted(desk: Desk) -> None:
    dirty = await desk.store.open(DraftKey.session("dirty"), GLOBAL)
    desk.type(dirty, "x")
    locked = await desk.store.open(DraftKey.session("locked"), GLOBAL)
    desk.store.lock(locked.id, "sending")
    for number in range(25):
        await desk.store.open(DraftKey.session(f"c{number}"), GLOBAL)
    assert desk.store.find(dirty.key) is dirty and desk.store.find(locked.key) is locked


async def test_a_moved_caret_is_stored_before_its_draft_leaves_memory(desk: Desk) -> None:
    first = await desk.store.open(DraftKey.session("first"), GLOBAL)
    desk.type(first, "alpha")
    await desk.store.save(first.id)
    desk.store.move_caret(first.id, 2, 2)
    for number in range(22):
        await desk.store.open(DraftKey.session(f"c{number}"), GLOBAL)
    await desk.until(lambda: desk.store.find(first.key) is None)
    assert (await desk.store.open(first.key, GLOBAL)).caret == 2


async def test_a_locked_draft_refuses_edits_and_unlocking_gives_them_back(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.store.lock(draft.id, "sending")
    for attempt in (
        lambda: desk.type(draft, "x"),
        lambda: desk.store.set_settings(draft.id, DraftSettings("m")),
        lambda: desk.store.set_parts(draft.id, {"a": 1}),
        lambda: desk.store.replace_text(draft.id, ""),
    ):
        with pytest.raises(RejectedFault) as raised:
            attempt()
        assert raised.value.code == "draft_locked"
    desk.store.unlock(draft.id)
    desk.type(draft, "x")


async def test_the_exit_barrier_saves_everything_and_names_what_it_could_not(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_arguments: object) -> None:
        raise EnvironmentFault("disk_full")

    first = await desk.store.open(KEY, GLOBAL)
    second = await desk.store.open(DraftKey.session("c"), GLOBAL)
    desk.type(first, "one")
    desk.type(second, "two")
    assert await desk.store.flush() == []
    desk.type(second, "!")
    monkeypatch.setattr(desk.database, "run", full)
    assert await desk.store.flush() == [Unsaved(second.id, second.key, "disk_full")]
    monkeypatch.undo()
    await desk.close()
    assert desk.journal.path.exists()  # and what could not be stored is still in the journal


async def test_a_clean_exit_leaves_no_journal(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "x")
    await desk.store.flush()
    await desk.close()
    assert list(desk.folder.draft_journal.iterdir()) == []


async def test_restore_slots_are_set_read_and_cleared_by_a_conversion(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "x")
    await desk.store.save(draft.id)
    await desk.store.set_restore("active", surface_object(KEY, GLOBAL))
    await desk.store.set_restore("w2", surface_object(DraftKey.session("s"), GLOBAL))
    await desk.convert(draft.id)
    assert await desk.store.restore("active") is None
    assert await desk.store.restore("w2") == surface_object(DraftKey.session("s"), GLOBAL)
    await desk.store.clear_restore("w2")
    assert await desk.store.restore("w2") is None


async def test_after_a_conversion_the_key_has_a_new_draft(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "sent")
    await desk.store.save(draft.id)
    desk.store.lock(draft.id, "dispatching")
    await desk.convert(draft.id)
    fresh = await desk.store.reload(draft.id)
    assert (fresh.text, fresh.locked, fresh.revision) == ("", "", 0) and fresh.id != draft.id


async def test_summaries_are_newest_first_and_know_states_and_phases(desk: Desk) -> None:
    first = await desk.store.open(KEY, GLOBAL)
    desk.type(first, "\n  first line\nsecond")
    await desk.store.save(first.id)
    await desk.hold(first.id, "resume_required")
    await desk.clock.advance(1)
    second = await desk.store.open(DraftKey.session("c"), GLOBAL)
    desk.type(second, "two")
    await desk.store.save(second.id)
    desk.type(second, "!")
    newest, oldest = await desk.store.summaries()
    assert (newest.first_line, newest.save_state, newest.phase) == ("two", "dirty", None)
    assert (oldest.first_line, oldest.save_state, oldest.phase) == ("first line", "saved", "resume_required")


async def test_parts_that_this_version_does_not_know_are_kept(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.store.set_parts(draft.id, {"goal": {"text": "g"}, "future": [1]})
    desk.type(draft, "x")
    await desk.store.flush()
    await desk.close()
    again = await (await open_desk()).store.open(KEY, GLOBAL)
    assert again.parts == {"goal": {"text": "g"}, "future": [1]}


async def test_log_lines_hold_no_text(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        draft = await desk.store.open(KEY, GLOBAL)
        desk.type(draft, "secret words")
        await desk.store.save(draft.id)
    records = [record.__dict__ for record in caplog.records if record.name.startswith("drafts")]
    assert records and "secret" not in str(records)
    assert {"draft", "revision", "ms"} <= set(records[-1])


async def test_an_edit_outside_the_text_is_a_bug_of_its_caller(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    with pytest.raises(MisfitError):
        desk.store.edit(draft.id, TextEdit(1, 0, "x"), 0, 0)
    with pytest.raises(RejectedFault):
        desk.store.edit("drf-unknown", TextEdit(0, 0, "x"), 0, 0)


async def test_a_draft_that_an_operation_holds_opens_locked(desk: Desk, open_desk: OpenDesk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "sent")
    await desk.store.save(draft.id)
    await desk.hold(draft.id, "dispatch_unknown")
    await desk.close()
    again = await (await open_desk()).store.open(KEY, GLOBAL)
    assert again.locked == "dispatch_unknown"


async def test_a_draft_whose_read_failed_is_read_before_it_is_saved(
    desk: Desk, open_desk: OpenDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def locked(_body: object) -> None:
        raise EnvironmentFault("database_locked")

    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "stored")
    await desk.store.flush()
    await desk.close()
    second = await open_desk()
    monkeypatch.setattr(second.database, "read", locked)
    opening = second.store.begin_open(KEY, GLOBAL)
    second.type(opening, " typed")
    assert [unsaved.code for unsaved in await second.store.flush()] == ["database_locked"]
    monkeypatch.undo()
    assert await second.store.flush() == []
    assert (opening.text, opening.id) == ("stored typed", draft.id)
    assert await second.store.conflicts(draft.id) == []


async def test_half_a_pair_in_a_first_line_does_not_break_the_list(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a\ud83d b")
    await desk.store.save(draft.id)
    [summary] = await desk.store.summaries()
    assert summary.first_line == "a\ud83d b" and summary.has_content


async def test_a_draft_that_is_opened_again_while_its_caret_is_stored_stays_open(desk: Desk) -> None:
    first = await desk.store.open(DraftKey.session("s-0"), GLOBAL)
    desk.type(first, "kept")
    await desk.store.save(first.id)
    desk.store.move_caret(first.id, 1, 1)
    for number in range(1, KEPT_CLEAN + 1):
        await desk.store.open(DraftKey.session(f"s-{number}"), GLOBAL)
    desk.store.begin_open(DraftKey.session("one too many"), GLOBAL)
    again = desk.store.begin_open(DraftKey.session("s-0"), GLOBAL)  # in the moment in which it is to be let go
    await desk.until(lambda: not again.caret_moved)
    for _turn in range(5):
        await asyncio.sleep(0)
    desk.type(again, ", and more")
    assert (await desk.store.save(again.id)).outcome == "saved"
