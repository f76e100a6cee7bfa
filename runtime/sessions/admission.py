"""Admission: a submission becomes a turn, durably and once (spec/sessions.md section 2).

Receipt, turn and user item are one transaction, or the refusal proves that nothing was admitted.
"""

from __future__ import annotations

from typing import Any, cast

import apsw

from runtime.base import failpoints
from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.base.handover import Receipt, Submission
from runtime.base.ids import new_id
from runtime.sessions import itemlog, turnlog
from runtime.sessions.events import ItemAppended, TurnChanged
from runtime.sessions.itemlog import NewItem
from runtime.sessions.owner import OwnerLease
from runtime.sessions.rows import RECEIPT_COLUMNS, receipt_of
from runtime.sessions.store import Publish, SessionStore, announce, set_title
from runtime.sessions.titles import title_from

ADMIT = failpoints.step("sessions.admit", "receipt, turn and user item exist together or not at all")
RECEIPT_VERSION = 1
_LONGEST_ID = 256


class Admission:
    """Turns of this process are owned by ``owner``."""

    def __init__(self, store: SessionStore, owner: OwnerLease) -> None:
        self._store = store
        self._owner = owner

    async def admit(self, submission: Submission) -> Receipt:
        """The receipt of ``submission``, new or stored earlier under the same id and fingerprint.

        Raises :class:`RejectedFault`, which proves non-admission: ``bad_submission_id``, ``bad_payload``,
        ``conflict``, ``session_unknown``, ``session_unbound``, ``session_archived``, ``session_trashed``,
        ``session_erased``, ``session_busy``. Raises :class:`EnvironmentFault` ``unknown_receipt_version``, which
        proves nothing and blocks replay.
        """
        check_submission_id(submission.submission_id)
        text = submission.payload.get("text")
        if not isinstance(text, str):
            raise RejectedFault("bad_payload")
        now = self._store.clock.now_ms()
        owner = self._owner.owner_id
        return await self._store.commit(
            ADMIT, lambda connection, publish: _admit(connection, publish, submission, owner, now)
        )

    async def find(self, submission_id: str) -> Receipt | None:
        """The durable receipt, if any. Raises as :meth:`admit` for bad ids and unknown versions."""
        check_submission_id(submission_id)
        return await self._store.database.read(lambda connection: find_receipt(connection, submission_id))


def check_submission_id(submission_id: str) -> None:
    """1 to 256 characters without NUL, CR, LF. Raises :class:`RejectedFault` ``bad_submission_id``."""
    surrogate = any("\ud800" <= character <= "\udfff" for character in submission_id)
    if not 1 <= len(submission_id) <= _LONGEST_ID or surrogate or set("\0\r\n") & set(submission_id):
        raise RejectedFault("bad_submission_id")


def find_receipt(connection: apsw.Connection, submission_id: str) -> Receipt | None:
    """The stored receipt. Raises :class:`EnvironmentFault` ``unknown_receipt_version``."""
    row = connection.execute(
        f"SELECT {RECEIPT_COLUMNS} FROM receipts WHERE submission_id = ?", (submission_id,)
    ).fetchone()
    if row is None:
        return None
    if row[-1] != RECEIPT_VERSION:
        raise EnvironmentFault("unknown_receipt_version", found=row[-1], known=RECEIPT_VERSION)
    return receipt_of(cast("tuple[Any, ...]", row))


def _admit(
    connection: apsw.Connection, publish: Publish, submission: Submission, owner: str, now: int
) -> Receipt:
    stored = find_receipt(connection, submission.submission_id)
    if stored is not None:
        if (stored.fingerprint, stored.session_id) != (submission.fingerprint, submission.session_id):
            raise RejectedFault("conflict")
        return stored
    _check_session(connection, submission.session_id)
    receipt = Receipt(submission.submission_id, submission.session_id, new_id("trn"), submission.fingerprint, now)
    _insert_turn(connection, receipt, owner)
    _insert_receipt(connection, receipt)
    _append_user_item(connection, publish, submission, receipt)
    turn = turnlog.read(connection, receipt.turn_id)
    if turn is not None:
        publish(TurnChanged(turn))
    announce(connection, receipt.session_id, publish)
    return receipt


def _check_session(connection: apsw.Connection, session_id: str) -> None:
    row = connection.execute("SELECT presence FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if row is None:
        raise RejectedFault("session_unknown")
    if row[0] != "open":
        raise RejectedFault(f"session_{row[0]}")
    busy = connection.execute(
        "SELECT 1 FROM turns WHERE session_id = ? AND ended_at IS NULL", (session_id,)
    ).fetchone()
    if busy is not None:
        raise RejectedFault("session_busy")


def _insert_turn(connection: apsw.Connection, receipt: Receipt, owner: str) -> None:
    number = connection.execute(
        "UPDATE sessions SET turn_count = turn_count + 1, last_activity = max(last_activity, ?1),"
        " accepted_at = coalesce(accepted_at, ?1) WHERE id = ?2 RETURNING turn_count",
        (receipt.accepted_at, receipt.session_id),
    ).get
    connection.execute(
        "INSERT INTO turns (id, session_id, number, submission_id, state, owner, started_at)"
        " VALUES (?,?,?,?,'admitted',?,?)",
        (receipt.turn_id, receipt.session_id, number, receipt.submission_id, owner, receipt.accepted_at),
    ).fetchall()


def _insert_receipt(connection: apsw.Connection, receipt: Receipt) -> None:
    connection.execute(
        "INSERT INTO receipts (submission_id, version, session_id, turn_id, fingerprint, accepted_at)"
        " VALUES (?,?,?,?,?,?)",
        (receipt.submission_id, RECEIPT_VERSION, receipt.session_id, receipt.turn_id, receipt.fingerprint,
         receipt.accepted_at),
    ).fetchall()


def _append_user_item(
    connection: apsw.Connection, publish: Publish, submission: Submission, receipt: Receipt
) -> None:
    text = itemlog.storable(str(submission.payload["text"]))
    rest = {name: member for name, member in submission.payload.items() if name != "text"}
    previous = connection.execute(
        "SELECT id FROM items WHERE session_id = ? AND kind = 'user' ORDER BY seq DESC LIMIT 1",
        (receipt.session_id,),
    ).get
    new = NewItem(receipt.session_id, receipt.turn_id, "user", text, data=rest, parent_item=previous or "")
    publish(ItemAppended(itemlog.append(connection, new, receipt.accepted_at)))
    title = title_from(text)
    if title:
        set_title(connection, receipt.session_id, title, "first_line")
