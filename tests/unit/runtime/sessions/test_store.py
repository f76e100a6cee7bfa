"""Creating, listing, naming, and reading what is left after damage."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.base.handover import Place, SessionPresence
from runtime.sessions.events import SessionChanged
from runtime.sessions.integrity import IntegrityReport, check_integrity
from runtime.sessions.queries import read_items
from runtime.sessions.rows import ITEM_COLUMNS, ITEMS_BETWEEN, RECENT_SESSIONS, TURN_COLUMNS
from runtime.sessions.schema import open_state
from runtime.workspaces.registry import GLOBAL
from tests.fakes.clock import FakeClock
from tests.fakes.host import says
from tests.unit.runtime.sessions.kit import Rig, reservation, submission


async def _answered(rig: Rig, count: int) -> None:
    for number in range(1, count + 1):
        rig.host.scripts = [says(f"a{number}")]
        await rig.send(text=f"q{number}")
        await rig.heard.ended(number)


async def test_creating_twice_makes_one_session_bound_to_the_recorded_workspace(rig: Rig) -> None:
    for _ in range(2):
        await rig.gateway.create(reservation())
    session = await rig.store.get("ses-one")
    assert session is not None
    assert (session.place, session.presence, session.title_source) == (GLOBAL, SessionPresence.OPEN, "none")
    assert await rig.rows("SELECT count(*) FROM topics") == [(1,)]


async def test_a_session_is_listed_and_announced_only_once_a_submission_is_accepted(rig: Rig) -> None:
    await rig.gateway.create(reservation())
    await rig.gateway.publish(await rig.gateway.start(reservation()))
    assert await rig.store.list() == []
    assert rig.heard.events == []
    await rig.gateway.admit(submission())
    await rig.heard.ended()
    assert [session.id for session in await rig.store.list()] == ["ses-one"]
    assert any(isinstance(event, SessionChanged) for event in rig.heard.events)


async def test_a_taken_identity_is_a_conflict(rig: Rig) -> None:
    await rig.gateway.create(reservation())
    elsewhere = Place("wsp-1", "project", "/somewhere")
    for other in (
        reservation(topic_id="top-other"),
        reservation(session_id="ses-other"),
        reservation(place=elsewhere),
    ):
        with pytest.raises(RejectedFault) as caught:
            await rig.gateway.create(other)
        assert caught.value.code == "conflict"


async def test_until_a_submission_is_accepted_the_newest_settings_count(rig: Rig) -> None:
    await rig.gateway.create(reservation(settings={"model": "a:1"}))
    await rig.gateway.create(reservation(settings={"model": "b:2"}))
    await rig.gateway.admit(submission())
    await rig.heard.ended()
    await rig.gateway.create(reservation(settings={"model": "c:3"}))
    [session] = await rig.store.list()
    assert session.requested == {"model": "b:2"}


@pytest.mark.parametrize("presence", ["archived", "trashed", "erased"])
async def test_a_session_that_was_put_away_is_not_created_again(rig: Rig, presence: str) -> None:
    await rig.gateway.create(reservation())
    await rig.by_hand(f"UPDATE sessions SET presence = '{presence}'")
    with pytest.raises(RejectedFault) as caught:
        await rig.gateway.create(reservation())
    assert caught.value.code == f"session_{presence}"
    assert await rig.gateway.presence("ses-one") is SessionPresence(presence)
    assert await rig.gateway.presence("ses-none") is SessionPresence.ABSENT


async def test_an_unbound_session_is_bound_by_the_next_attempt(rig: Rig) -> None:
    await rig.gateway.create(reservation())
    await rig.by_hand("UPDATE sessions SET presence = 'unbound', workspace_id = NULL")
    assert await rig.gateway.presence("ses-one") is SessionPresence.UNBOUND
    await rig.gateway.create(reservation())
    assert await rig.gateway.presence("ses-one") is SessionPresence.OPEN


async def test_a_title_given_by_hand_is_never_overwritten(rig: Rig) -> None:
    await rig.send(text="First line")
    await rig.heard.ended()
    assert await rig.store.rename("ses-one", " My\u202e title\n") == "My title"
    await rig.send(text="Second line")
    await rig.heard.ended(2)
    [session] = await rig.store.list()
    assert (session.title, session.title_source) == ("My title", "manual")


async def test_an_empty_title_or_an_unknown_session_is_refused(rig: Rig) -> None:
    for session_id, title, code in (("ses-one", " \u202e ", "empty_title"), ("ses-none", "x", "session_unknown")):
        with pytest.raises(RejectedFault) as caught:
            await rig.store.rename(session_id, title)
        assert caught.value.code == code


async def test_a_first_message_without_words_gives_no_title(rig: Rig) -> None:
    await rig.send(text=" \n\u200e ")
    await rig.heard.ended()
    [session] = await rig.store.list()
    assert (session.title, session.title_source) == ("", "none")


async def test_items_come_in_pages_from_the_end(rig: Rig) -> None:
    await _answered(rig, 5)
    newest = await rig.store.items("ses-one", limit=3)
    older = await rig.store.items("ses-one", before=newest[0].seq, limit=3)
    assert [item.text for item in older + newest] == ["q3", "a3", "q4", "a4", "q5", "a5"][-6:]
    assert await rig.store.items("ses-one", before=1) == []
    assert await rig.store.items("ses-none") == []


async def test_the_reads_that_paint_need_no_sort(rig: Rig) -> None:
    queries = [
        (RECENT_SESSIONS, (50,)),
        (ITEMS_BETWEEN, ("s", 1, 2)),
        (f"SELECT {TURN_COLUMNS} FROM turns WHERE session_id = ? ORDER BY number DESC LIMIT ?", ("s", 1)),
        ("SELECT id, session_id FROM turns WHERE ended_at IS NULL", ()),
        (f"SELECT {ITEM_COLUMNS} FROM items WHERE session_id = ? AND kind = 'user' ORDER BY seq DESC LIMIT 1", ("s",)),
    ]
    for sql, values in queries:
        plan = " | ".join(row[3] for row in await rig.rows("EXPLAIN QUERY PLAN " + sql, *values))
        assert "TEMP B-TREE" not in plan, plan
        assert "SCAN turns" not in plan or "USING INDEX" in plan or "COVERING" in plan, plan
        assert "SCAN items" not in plan, plan


async def test_L01_what_was_lost_is_said_and_nothing_else_is_touched(rig: Rig) -> None:
    await _answered(rig, 3)
    await rig.send("two", "unharmed")
    await rig.heard.ended(4)
    before = await rig.rows("SELECT count(*) FROM items")
    await rig.by_hand("DELETE FROM items WHERE session_id = 'ses-one' AND seq IN (4, 6)")
    assert [session.id for session in await rig.store.list()] == ["ses-two", "ses-one"]
    items = await rig.items()
    assert [item.text or item.data.get("code") for item in items] == [
        "q1",
        "a1",
        "q2",
        "content_missing",
        "q3",
        "content_missing",
    ]
    assert [item.seq for item in items] == [1, 2, 3, 4, 5, 6]
    assert [item.text for item in await rig.items("two")] == ["unharmed", "ok"]
    report = await check_integrity(rig.store)
    assert (report.missing_items, report.sessions_with_holes, report.is_whole) == (2, ("ses-one",), False)
    assert await rig.rows("SELECT count(*) + 2 FROM items") == before
    await rig.send(text="q4")
    await rig.heard.ended(5)
    assert [message.text for message in rig.host.prompts[-1].history] == ["q1", "a1", "q2", "q3"]


async def test_L01_a_lost_chunk_marks_its_item_and_keeps_the_rest(rig: Rig) -> None:
    await _answered(rig, 1)
    await rig.by_hand(
        "UPDATE sessions SET last_seq = 3",
        "INSERT INTO items SELECT 'i3', session_id, 3, turn_id, kind, 'streaming', '', 1, 0, '{}', ''"
        " FROM items WHERE seq = 2",
        "INSERT INTO item_chunks VALUES ('i3', 0, 'ab'), ('i3', 4, 'ef')",
    )
    item = (await rig.items())[2]
    assert (item.text, item.data) == ("abef", {"code": "content_missing"})
    assert (await check_integrity(rig.store)).missing_chunks == 1


async def test_L01_lost_topics_turns_and_unreadable_columns_do_not_break_the_list(rig: Rig) -> None:
    await _answered(rig, 1)
    await rig.by_hand(
        "DELETE FROM topics",
        "UPDATE sessions SET requested_json = '{', observed_json = '[1]'",
        "DROP TRIGGER items_append_only",
        "UPDATE items SET data_json = 'no' WHERE seq = 1",
    )
    [session] = await rig.store.list()
    assert (session.title, session.title_source) == ("", "none")
    assert (dict(session.requested), dict(session.observed)) == ({}, {})
    assert [item.text for item in await rig.items()] == ["q1", "a1"]
    assert (await check_integrity(rig.store)).dangling == 1


async def test_a_store_in_order_is_reported_as_whole(rig: Rig) -> None:
    await _answered(rig, 2)
    assert await check_integrity(rig.store) == IntegrityReport()


async def test_a_later_schema_is_refused_untouched(tmp_path: Path, clock: FakeClock) -> None:
    rig = await Rig.make(tmp_path, clock)
    await rig.by_hand("PRAGMA user_version = 2")
    await rig.close()
    path = tmp_path / "state-v1.sqlite"
    before = path.read_bytes()
    with pytest.raises(EnvironmentFault) as caught:
        await open_state(path)
    assert caught.value.code == "future_schema"
    assert path.read_bytes() == before


async def test_a_copy_of_the_file_alone_holds_everything_after_a_clean_close(tmp_path: Path, clock: FakeClock) -> None:
    rig = await Rig.make(tmp_path, clock)
    await _answered(rig, 1)
    await rig.close()
    shutil.copy(tmp_path / "state-v1.sqlite", tmp_path / "copy.sqlite")
    database = await open_state(tmp_path / "copy.sqlite")
    items = await database.read(lambda connection: read_items(connection, "ses-one", None, 10))
    await database.close()
    assert [item.text for item in items] == ["q1", "a1"]
