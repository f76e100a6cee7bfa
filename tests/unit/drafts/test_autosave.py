"""When saves happen, what they store, and what the person is shown meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import apsw
import pytest

from drafts import saving
from drafts.events import DraftStateChanged
from drafts.model import DraftSettings, TextEdit
from drafts.open_draft import LARGE_UNITS, OpenDraft
from runtime.base.errors import EnvironmentFault
from runtime.base.failpoints import Step
from runtime.storage.database import Database
from tests.unit.drafts.conftest import GLOBAL, KEY, Desk


def _states(desk: Desk) -> list[str]:
    return [event.state for event in desk.events if isinstance(event, DraftStateChanged)]


async def test_an_edit_is_saved_250_ms_after_the_last_one(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a")
    await desk.clock.advance(0.2)
    desk.type(draft, "b")
    await desk.clock.advance(0.24)
    assert (draft.state, draft.revision) == ("dirty", 0)
    await desk.clock.advance(0.01)
    await desk.until(lambda: draft.state == "saved")
    row = await desk.store.show(draft.id)
    assert row is not None and (row.content.text, row.revision) == ("ab", 1)


async def test_continuous_typing_is_saved_within_a_second_of_the_first_unsaved_edit(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    for _ in range(10):
        desk.type(draft, "x")
        await desk.clock.advance(0.1)
    await desk.clock.advance(0.001)  # ten tenths are a little less than one
    await desk.until(lambda: draft.revision == 1)


async def test_an_edit_during_a_save_goes_into_the_next_round(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a")
    saving_task = asyncio.ensure_future(desk.store.save(draft.id))
    await desk.until(lambda: draft.saving or saving_task.done())
    desk.type(draft, "b")
    result = await saving_task
    row = await desk.store.show(draft.id)
    assert row is not None and row.content.text == "a"
    assert (result.edit_version, draft.edit_version, draft.state) == (1, 2, "dirty")
    await desk.clock.advance(0.3)
    await desk.until(lambda: draft.state == "saved")
    assert draft.revision == 2


async def test_many_saves_at_once_are_one_after_the_other(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    results: list[asyncio.Future[saving.SaveResult]] = []
    for text in "abcde":
        desk.type(draft, text)
        results.append(asyncio.ensure_future(desk.store.save(draft.id)))
    assert {(await result).outcome for result in results} == {"saved"}
    assert await desk.store.conflicts(draft.id) == []
    assert draft.text == "abcde"


async def test_a_cancelled_caller_does_not_undo_its_save(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a")
    waiting = asyncio.ensure_future(desk.store.save(draft.id))
    await asyncio.sleep(0)
    waiting.cancel()
    await desk.until(lambda: draft.state == "saved")
    desk.type(draft, "b")
    assert (await desk.store.save(draft.id)).outcome == "saved"


async def test_states_are_shown_in_their_order(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a")
    await desk.store.save(draft.id)
    assert _states(desk) == ["saved", "dirty", "saving", "saved"]


def test_conflict_wins_over_error_over_saving_over_dirty() -> None:
    from_worst = ["conflict", "error", "saving", "dirty", "saved"]
    draft = OpenDraft.unsaved(KEY, GLOBAL)
    draft.conflict_id, draft.error_code, draft.saving, draft.edit_version = "c", "disk_full", True, 1
    seen = [draft.state]
    draft.conflict_id = ""
    seen.append(draft.state)
    draft.error_code = ""
    seen.append(draft.state)
    draft.saving = False
    seen.append(draft.state)
    draft.saved_version = 1
    seen.append(draft.state)
    assert seen == from_worst


async def test_nothing_stays_on_the_clock_when_all_is_saved(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a")
    await desk.clock.advance(0.25)
    await desk.until(lambda: draft.state == "saved")
    await desk.clock.advance(0)
    assert (desk.clock.sleepers, desk.tasks.names) == (0, [])


async def test_a_never_saved_draft_that_is_empty_again_makes_no_row(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a")
    desk.store.edit(draft.id, TextEdit(0, 1, ""), 0, 0)
    assert (await desk.store.save(draft.id)).outcome == "saved"
    assert (draft.state, draft.has_content, await desk.store.summaries()) == ("saved", False, [])
    assert desk.journal.path.stat().st_size == 0


async def test_a_model_chosen_before_the_first_word_is_kept(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.store.set_settings(draft.id, DraftSettings(model="scripted:demo", model_source="explicit"))
    await desk.store.save(draft.id)
    row = await desk.store.show(draft.id)
    assert row is not None and row.settings.model == "scripted:demo"


async def test_a_change_of_the_default_model_is_no_edit(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    before = draft.edit_version
    desk.store.set_settings(draft.id, DraftSettings(model="local:other"))
    assert (draft.edit_version, draft.state) == (before, "saved")


async def test_a_large_draft_is_folded_in_the_worker(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "字" * (LARGE_UNITS + 1))
    for _ in range(3):
        desk.type(draft, "x")
    source, edits = draft.pending()
    assert (source, len(edits)) == ("", 4)  # no key has copied the text
    await desk.store.save(draft.id)
    source, edits = draft.pending()
    assert (len(source), edits) == (LARGE_UNITS + 4, ())
    row = await desk.store.show(draft.id)
    assert row is not None and row.content.text == draft.text


async def test_a_lone_surrogate_is_stored_and_comes_back(desk: Desk) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a\ud83d")
    await desk.store.save(draft.id)
    row = await desk.store.show(draft.id)
    assert row is not None and row.content.text == "a\ud83d"


async def test_errors_back_off_and_retry_and_keep_the_text(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = _Failing(desk.database, 3)
    monkeypatch.setattr(desk.database, "run", failing.run)
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "kept")
    await desk.clock.advance(0.25)
    await desk.until(lambda: draft.state == "error" and desk.clock.sleepers > 0)
    assert (draft.error_code, draft.text, failing.tries) == ("disk_full", "kept", 1)
    for pause, tries in ((0.5, 2), (1.0, 3)):
        await desk.clock.advance(pause - 0.1)
        assert failing.tries == tries - 1
        await desk.clock.advance(0.11)
        await desk.until(lambda wanted=tries: failing.tries == wanted and desk.clock.sleepers > 0)
    await desk.clock.advance(2.01)
    await desk.until(lambda: draft.state == "saved")
    assert _states(desk)[-2:] == ["error", "saved"]


async def test_a_save_that_was_asked_for_says_what_is_in_the_way(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "kept")
    monkeypatch.setattr(desk.database, "run", _Failing(desk.database, 1).run)
    with pytest.raises(EnvironmentFault) as raised:
        await desk.store.save(draft.id)
    assert raised.value.code == "disk_full"
    await desk.clock.advance(0.3)
    await desk.until(lambda: draft.state == "saved")


async def test_a_lost_acknowledgement_counts_as_saved(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a")
    monkeypatch.setattr(desk.database, "run", _Failing(desk.database, 1, after_commit=True).run)
    result = await desk.store.save(draft.id)
    assert (result.outcome, result.revision, draft.state) == ("saved", 1, "saved")
    desk.type(draft, "b")
    assert (await desk.store.save(draft.id)).revision == 2


async def test_an_acknowledgement_that_is_found_only_later_makes_no_conflict(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = await desk.store.open(KEY, GLOBAL)
    desk.store.set_settings(draft.id, DraftSettings(model="local:mirror"))
    desk.type(draft, "a")
    monkeypatch.setattr(desk.database, "run", _Failing(desk.database, 1, after_commit=True).run)
    monkeypatch.setattr(desk.database, "read", _Failing(desk.database, 1).read)
    with pytest.raises(EnvironmentFault):
        await desk.store.save(draft.id)
    desk.store.set_settings(draft.id, DraftSettings(model="local:another default"))  # inherited: no difference
    assert (await desk.store.save(draft.id)).outcome == "saved"
    assert await desk.store.conflicts(draft.id) == []


async def test_L06_a_lock_held_by_another_process_is_an_error_state_and_then_a_save(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.database.read(lambda connection: connection.set_busy_timeout(1))
    draft = await desk.store.open(KEY, GLOBAL)
    holder = apsw.Connection(os.fspath(desk.folder.drafts_database))
    holder.execute("BEGIN IMMEDIATE")
    desk.type(draft, "typed while ")
    await desk.clock.advance(0.25)
    await desk.until(lambda: draft.state == "error")
    assert draft.error_code == "database_locked"
    desk.type(draft, "locked")
    holder.execute("ROLLBACK")
    holder.close()
    await desk.clock.advance(8)
    await desk.until(lambda: draft.state == "saved")
    row = await desk.store.show(draft.id)
    assert row is not None and row.content.text == "typed while locked"
    assert await desk.store.conflicts(draft.id) == []


async def test_a_journal_that_fails_shows_an_error_until_a_save_works(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_fd: int, _data: bytes) -> int:
        raise OSError(28, "full")

    draft = await desk.store.open(KEY, GLOBAL)
    desk.type(draft, "a")
    monkeypatch.setattr(os, "write", full)
    desk.type(draft, "b")
    assert (draft.state, draft.error_code, draft.text) == ("error", "disk_full", "ab")
    monkeypatch.undo()
    await desk.clock.advance(0.25)
    await desk.until(lambda: draft.state == "saved")
    desk.type(draft, "c")
    assert desk.journal.path.stat().st_size > 0  # and the journal is used again


Body = Callable[[apsw.Connection], Any]


class _Failing:
    """The first ``times`` calls fail, before they reach the database or after they were committed."""

    def __init__(self, database: Database, times: int, *, after_commit: bool = False) -> None:
        self._run, self._read = database.run, database.read
        self._left, self._after = times, after_commit
        self.tries = 0

    async def run(self, step: Step, body: Body, committed: Callable[[Any], None] | None = None) -> Any:
        self.tries += 1
        if self._left == 0:
            return await self._run(step, body, committed)
        self._left -= 1
        if self._after:
            await self._run(step, body)
        raise EnvironmentFault("disk_full")

    async def read(self, body: Body) -> Any:
        if self._left:
            self._left -= 1
            raise EnvironmentFault("io_error")
        return await self._read(body)


@pytest.mark.logs_warnings
async def test_even_a_bug_in_a_save_is_reported_and_tried_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_arguments: object) -> None:
        raise LookupError("a bug")

    draft = await desk.store.open(KEY, GLOBAL)
    monkeypatch.setattr(desk.database, "run", broken)
    desk.type(draft, "kept")
    await desk.clock.advance(0.3)
    await desk.until(lambda: draft.state == "error")
    assert draft.error_code == "internal_error"
    assert "draft not saved" in caplog.text
    monkeypatch.undo()
    await desk.clock.advance(1)
    await desk.until(lambda: draft.state == "saved")
