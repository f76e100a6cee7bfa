"""Receipt, turn and user item exist together, once, or the refusal proves that nothing does."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import apsw
import pytest

from runtime.base.errors import EnvironmentFault, RejectedFault
from tests.fakes.clock import FakeClock
from tests.unit.runtime.sessions.kit import Rig, reservation, submission

_COUNTS = "SELECT (SELECT count(*) FROM receipts), (SELECT count(*) FROM turns), (SELECT count(*) FROM items)"
_CHILD = """
import asyncio, json, sys
from pathlib import Path
from runtime.base.clock import SystemClock
from runtime.base.handover import Submission
from runtime.sessions.admission import Admission
from runtime.sessions.owner import OwnerLease
from runtime.sessions.schema import open_state
from runtime.sessions.store import SessionStore
from runtime.storage.leases import LeaseBook

async def main(folder):
    database = await open_state(folder / "state-v1.sqlite")
    owner = OwnerLease.take(LeaseBook(folder, SystemClock()))
    admission = Admission(SessionStore(database, SystemClock(), print), owner)
    print("ready", flush=True)
    sys.stdin.readline()
    sent = Submission("sub-x", "ses-one", "f", {"text": "Hi"})
    made = await asyncio.gather(*(admission.admit(sent) for _ in range(6)))
    await database.close()
    print(json.dumps(sorted({receipt.turn_id for receipt in made})), flush=True)

asyncio.run(main(Path(sys.argv[1])))
"""


async def _refused(rig: Rig, code: str, **changes: str) -> None:
    with pytest.raises(RejectedFault) as caught:
        await rig.admission.admit(submission(**changes))
    assert caught.value.code == code


async def test_twelve_concurrent_callers_get_one_receipt(rig: Rig) -> None:
    await rig.store.create(reservation())
    receipts = await asyncio.gather(*(rig.gateway.admit(submission()) for _ in range(12)))
    assert len(set(receipts)) == 1
    await rig.heard.ended()
    assert await rig.rows("SELECT count(*) FROM receipts") == [(1,)]
    assert await rig.rows("SELECT count(*) FROM turns") == [(1,)]
    assert len(rig.host.prompts) == 1


async def test_two_processes_with_one_submission_get_one_receipt(rig: Rig, tmp_path: Path) -> None:
    await rig.store.create(reservation())
    children = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", _CHILD, str(tmp_path), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        for _ in range(2)
    ]
    for child in children:
        assert child.stdout is not None
        assert await child.stdout.readline() == b"ready\n"
    answers = await asyncio.gather(*(child.communicate(b"go\n") for child in children))
    assert [child.returncode for child in children] == [0, 0]
    turns = {turn for out, _ in answers for turn in json.loads(out)}
    assert len(turns) == 1
    assert await rig.rows(_COUNTS) == [(1, 1, 1)]


async def test_the_same_id_with_another_fingerprint_conflicts_durably(
    rig: Rig, tmp_path: Path, clock: FakeClock
) -> None:
    await rig.send()
    await rig.heard.ended()
    await _refused(rig, "conflict", fingerprint="other")
    later = await Rig.make(tmp_path, clock)
    await _refused(later, "conflict", fingerprint="other")
    await later.close()


async def test_the_same_id_in_another_session_conflicts(rig: Rig) -> None:
    await rig.send()
    await rig.heard.ended()
    await rig.store.create(reservation("two"))
    await _refused(rig, "conflict", name="two", submission_id="sub-one")


async def test_a_session_takes_one_turn_at_a_time(rig: Rig) -> None:
    await rig.store.create(reservation())
    await rig.admission.admit(submission())
    before = await rig.rows(_COUNTS)
    await _refused(rig, "session_busy", submission_id="sub-2")
    assert await rig.rows(_COUNTS) == before


@pytest.mark.parametrize("presence", ["archived", "trashed", "erased"])
async def test_a_session_that_is_not_open_refuses_but_keeps_its_receipts(rig: Rig, presence: str) -> None:
    receipt = await rig.send()
    await rig.heard.ended()
    await rig.by_hand(f"UPDATE sessions SET presence = '{presence}'")
    await _refused(rig, f"session_{presence}", submission_id="sub-2")
    assert await rig.admission.admit(submission()) == receipt


async def test_an_unknown_or_unbound_session_refuses(rig: Rig) -> None:
    await _refused(rig, "session_unknown")
    await rig.store.create(reservation())
    await rig.by_hand("UPDATE sessions SET presence = 'unbound', workspace_id = NULL")
    await _refused(rig, "session_unbound")
    assert await rig.rows(_COUNTS) == [(0, 0, 0)]


@pytest.mark.parametrize("bad", ["", "x" * 257, "a\0b", "a\rb", "a\nb", "\ud800"])
async def test_ids_that_cannot_be_stored_are_refused(rig: Rig, bad: str) -> None:
    await rig.store.create(reservation())
    for call in (rig.admission.find(bad), rig.admission.admit(type(submission())(bad, "ses-one", "f", {"text": "Hi"}))):
        with pytest.raises(RejectedFault) as caught:
            await call
        assert caught.value.code == "bad_submission_id"


async def test_an_id_of_256_characters_is_taken(rig: Rig) -> None:
    await rig.store.create(reservation())
    longest = "é" * 256
    receipt = await rig.admission.admit(submission(submission_id=longest))
    assert await rig.admission.find(longest) == receipt


async def test_a_payload_without_text_is_refused(rig: Rig) -> None:
    await rig.store.create(reservation())
    with pytest.raises(RejectedFault) as caught:
        await rig.admission.admit(type(submission())("sub-one", "ses-one", "f", {"parts": []}))
    assert caught.value.code == "bad_payload"


async def test_a_receipt_of_an_unknown_version_blocks_replay_and_proves_nothing(rig: Rig) -> None:
    await rig.send()
    await rig.heard.ended()
    await rig.by_hand("DROP TRIGGER receipts_fixed", "UPDATE receipts SET version = 99")
    for call in (rig.admission.find("sub-one"), rig.admission.admit(submission())):
        with pytest.raises(EnvironmentFault) as caught:
            await call
        assert caught.value.code == "unknown_receipt_version"
    assert len(rig.host.prompts) == 1


async def test_what_was_stored_once_is_protected_by_the_schema_itself(rig: Rig) -> None:
    await rig.send()
    await rig.heard.ended()
    for statement in (
        "UPDATE receipts SET fingerprint = 'x'",
        "UPDATE items SET text = 'x'",
        "UPDATE turns SET state = 'running', ended_at = NULL",
        "INSERT INTO items SELECT 'i', session_id, 1, turn_id, kind, state, '', 1, 0, '{}', '' FROM items",
    ):
        with pytest.raises(apsw.ConstraintError):
            await rig.by_hand(statement)


async def test_nothing_is_started_for_a_receipt_of_another_process(rig: Rig, tmp_path: Path, clock: FakeClock) -> None:
    other = await Rig.make(tmp_path, clock)
    await other.store.create(reservation())
    receipt = await other.admission.admit(submission())
    assert await rig.gateway.admit(submission()) == receipt
    assert rig.host.prompts == []
    assert rig.controller.running("ses-one") is None
    await other.close()


async def test_a_turn_whose_process_died_meanwhile_does_not_keep_its_session_busy(
    rig: Rig, tmp_path: Path, clock: FakeClock
) -> None:
    other = await Rig.make(tmp_path, clock)
    await other.store.create(reservation())
    await other.admission.admit(submission())
    await _refused(rig, "session_busy", submission_id="sub-2")
    await other.die()
    receipt = await rig.admission.admit(submission(submission_id="sub-2"))
    states = await rig.rows("SELECT state, error_code FROM turns ORDER BY number")
    assert states == [("interrupted", "not_started"), ("admitted", "")]
    assert receipt.submission_id == "sub-2"
