"""Two processes, one draft: no path loses a losing edit (spec/drafts.md, promise 6)."""

from __future__ import annotations

from drafts.model import DraftKey, DraftSettings
from drafts.open_draft import OpenDraft
from tests.unit.drafts.conftest import GLOBAL, KEY, Desk, OpenDesk


async def _pair(desk: Desk, open_desk: OpenDesk, text: str = "base ") -> tuple[OpenDraft, Desk, OpenDraft]:
    mine = await desk.store.open(KEY, GLOBAL)
    desk.type(mine, text)
    await desk.store.save(mine.id)
    other = await open_desk()
    return mine, other, await other.store.open(KEY, GLOBAL)


async def test_a_losing_edit_becomes_a_conflict_copy(desk: Desk, open_desk: OpenDesk) -> None:
    mine, other, theirs = await _pair(desk, open_desk)
    other.type(theirs, "theirs")
    await other.store.save(theirs.id)
    desk.type(mine, "mine")
    result = await desk.store.save(mine.id)
    assert result.outcome == "conflict" and result.current is not None
    assert result.current.content.text == "base theirs"
    [copy] = await desk.store.conflicts(mine.id)
    assert (copy.content.text, copy.expected_revision, copy.actual_revision) == ("base mine", 1, 2)
    assert (mine.state, mine.text) == ("conflict", "base mine")


async def test_what_is_typed_into_a_conflict_goes_into_its_copy(desk: Desk, open_desk: OpenDesk) -> None:
    mine, other, theirs = await _pair(desk, open_desk)
    other.type(theirs, "theirs")
    await other.store.save(theirs.id)
    for text in ("mine", " and more"):
        desk.type(mine, text)
        await desk.clock.advance(0.3)
        await desk.until(lambda: mine.saved_version == mine.edit_version)
    [copy] = await desk.store.conflicts(mine.id)
    assert copy.content.text == "base mine and more"
    assert [unsaved.code for unsaved in await desk.store.flush()] == ["conflict"]


async def test_keep_mine_is_a_cas_and_keeps_theirs_as_an_earlier_version(desk: Desk, open_desk: OpenDesk) -> None:
    mine, other, theirs = await _pair(desk, open_desk)
    other.type(theirs, "theirs")
    await other.store.save(theirs.id)
    desk.type(mine, "mine")
    await desk.store.save(mine.id)
    assert (await desk.store.keep_mine(mine.id)).outcome == "saved"
    row = await desk.store.show(mine.id)
    assert row is not None and (row.content.text, row.revision) == ("base mine", 3)
    assert "base theirs" in [version.content.text for version in await desk.store.earlier(mine.id)]
    assert (mine.state, await desk.store.conflicts(mine.id)) == ("saved", [])


async def test_use_theirs_shows_the_row_and_leaves_the_copy(desk: Desk, open_desk: OpenDesk) -> None:
    mine, other, theirs = await _pair(desk, open_desk)
    other.type(theirs, "theirs")
    await other.store.save(theirs.id)
    desk.type(mine, "mine")
    await desk.store.save(mine.id)
    desk.type(mine, "!")
    shown = await desk.store.reload(mine.id)
    assert (shown.text, shown.state) == ("base theirs", "saved")
    [copy] = await desk.store.conflicts(mine.id)
    assert copy.content.text == "base mine!"
    desk.type(shown, " again")
    assert (await desk.store.save(shown.id)).outcome == "saved"


async def test_equal_content_of_two_processes_is_no_conflict(desk: Desk, open_desk: OpenDesk) -> None:
    mine, other, theirs = await _pair(desk, open_desk)
    other.type(theirs, "same")
    await other.store.save(theirs.id)
    desk.type(mine, "same")
    assert (await desk.store.save(mine.id)).outcome == "saved"
    assert (mine.revision, await desk.store.conflicts(mine.id)) == (2, [])


async def test_different_settings_are_a_conflict(desk: Desk, open_desk: OpenDesk) -> None:
    mine, other, theirs = await _pair(desk, open_desk)
    other.store.set_settings(theirs.id, DraftSettings(model="a:b", model_source="explicit"))
    await other.store.save(theirs.id)
    desk.store.set_settings(mine.id, DraftSettings(instructions="be short"))
    assert (await desk.store.save(mine.id)).outcome == "conflict"
    [copy] = await desk.store.conflicts(mine.id)
    assert copy.settings.instructions == "be short"


async def test_two_first_saves_of_one_key_leave_one_draft_and_a_copy(desk: Desk, open_desk: OpenDesk) -> None:
    other = await open_desk()
    mine, theirs = await desk.store.open(KEY, GLOBAL), await other.store.open(KEY, GLOBAL)
    old = mine.id
    other.type(theirs, "theirs")
    await other.store.save(theirs.id)
    desk.type(mine, "mine")
    result = await desk.store.save(mine.id)
    assert (result.outcome, mine.id) == ("conflict", theirs.id)
    assert desk.store.by_id(old) is mine  # a late call with the old id still reaches it
    [copy] = await desk.store.conflicts(theirs.id)
    assert copy.content.text == "mine"
    assert len(await desk.store.summaries()) == 1


async def test_a_losing_edit_after_a_kill_becomes_an_earlier_version(desk: Desk, open_desk: OpenDesk) -> None:
    mine, other, theirs = await _pair(desk, open_desk)
    desk.type(mine, "mine, not saved")
    other.type(theirs, "theirs")
    await other.store.save(theirs.id)
    await desk.die()
    third = await open_desk()
    assert (await third.store.open(KEY, GLOBAL)).text == "base theirs"
    assert "base mine, not saved" in [version.content.text for version in await third.store.earlier(mine.id)]


async def test_typing_on_in_a_conflict_survives_a_kill(desk: Desk, open_desk: OpenDesk) -> None:
    mine, other, theirs = await _pair(desk, open_desk)
    other.type(theirs, "theirs")
    await other.store.save(theirs.id)
    desk.type(mine, "mine")
    await desk.store.save(mine.id)
    desk.type(mine, ", later")
    await desk.die()
    third = await open_desk()
    assert (await third.store.open(KEY, GLOBAL)).text == "base theirs"
    assert "base mine, later" in [version.content.text for version in await third.store.earlier(mine.id)]


async def test_records_without_their_base_are_kept_as_what_was_typed(desk: Desk, open_desk: OpenDesk) -> None:
    mine, other, theirs = await _pair(desk, open_desk)
    desk.type(mine, "mine")
    await desk.store.save(mine.id)  # within a minute: not kept as an earlier version
    desk.type(mine, ", lost base")
    other.type(theirs, "theirs")
    await other.store.save(theirs.id)
    await other.store.keep_mine(theirs.id)
    await desk.die()
    third = await open_desk()
    await third.store.recover_journals()
    kept = [version.content.text for version in await third.store.earlier(mine.id)]
    assert any(text.endswith(", lost base") for text in kept)


async def test_text_for_a_draft_that_was_discarded_elsewhere_is_not_lost(desk: Desk, open_desk: OpenDesk) -> None:
    mine, other, theirs = await _pair(desk, open_desk)
    await other.store.discard(theirs.id, theirs.revision)
    desk.type(mine, "mine")
    result = await desk.store.save(mine.id)
    assert result.outcome == "discarded"
    [copy] = await desk.store.conflicts(mine.id)
    assert (copy.content.text, mine.text) == ("base mine", "base mine")
    assert (await desk.store.keep_mine(mine.id)).outcome == "saved"
    [summary] = await desk.store.summaries()
    assert (summary.first_line, summary.id) == ("base mine", mine.id)


async def test_text_for_a_draft_that_was_discarded_elsewhere_survives_a_kill(desk: Desk, open_desk: OpenDesk) -> None:
    mine, other, theirs = await _pair(desk, open_desk)
    desk.type(mine, "mine")
    await other.store.discard(theirs.id, theirs.revision)
    await desk.die()
    third = await open_desk()
    assert (await third.store.open(KEY, GLOBAL)).text == "base mine"


async def test_a_save_is_refused_while_an_operation_of_another_process_holds_the_draft(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "sent")
    await desk.store.save(draft.id)
    await desk.hold(draft.id)
    desk.type(draft, " late")
    assert (await desk.store.save(draft.id)).outcome == "operation_locked"
    assert (draft.state, draft.error_code, draft.text) == ("error", "operation_locked", "sent late")
    await desk.hold(draft.id, "cancelled")
    await desk.clock.advance(1)
    await desk.until(lambda: draft.state == "saved")


async def test_a_save_into_a_converted_draft_says_so(desk: Desk) -> None:
    draft = await desk.store.open(DraftKey.workspace("w"), GLOBAL)
    desk.type(draft, "sent")
    saved = await desk.store.save(draft.id)
    await desk.convert(draft.id)
    desk.type(draft, " late")
    result = await desk.store.save(draft.id)
    assert (result.outcome, result.revision) == ("converted", saved.revision)
    [copy] = await desk.store.conflicts(draft.id)
    assert copy.content.text == "sent late"


async def test_keep_mine_works_for_a_draft_whose_first_save_is_still_to_come(desk: Desk, open_desk: OpenDesk) -> None:
    mine = await desk.store.open(KEY, GLOBAL)
    other = await open_desk()
    theirs = await other.store.open(KEY, GLOBAL)
    other.type(theirs, "theirs")
    await other.store.save(theirs.id)
    assert (await desk.store.keep_mine(mine.id)).outcome == "saved"
    assert (mine.id, mine.revision) == (theirs.id, 2)
    assert [version.content.text for version in await desk.store.earlier(mine.id)] == ["theirs"]
