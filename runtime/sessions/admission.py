"""Admission: a submission becomes a turn, durably and once (spec/sessions.md section 2).

Receipt, turn and user item are one transaction, or the refusal proves that nothing was admitted.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from runtime.sessions.recovery import interrupt_dead_turns
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

    async def admit(self, submission: Submission, *, retried_turn: str = "") -> Receipt:
        """The receipt of ``submission``, new or stored earlier under the same id and fingerprint.

        With ``retried_turn`` the user item becomes a sibling of that turn's; it must be the session's last turn.

        Raises :class:`RejectedFault`, which proves non-admission: ``bad_submission_id``, ``bad_payload``,
        ``conflict``, ``session_unknown``, ``session_unbound``, ``session_archived``, ``session_trashed``,
        ``session_erased``, ``session_busy``, ``not_last_turn``. Raises :class:`EnvironmentFault`
        ``unknown_receipt_version``, which proves nothing and blocks replay.
        """
        check_submission_id(submission.submission_id)
        text = submission.payload.get("text")
        if not isinstance(text, str):
            raise RejectedFault("bad_payload")
        terms = _Terms(self._owner.owner_id, self._store.clock.now_ms(), retried_turn)
        try:
            return await self._commit(submission, terms)
        except RejectedFault as fault:
            # nothing was admitted; a turn whose process has died since the start must not refuse for ever
            if fault.code != "session_busy" or not await interrupt_dead_turns(self._store, self._owner.leases):
                raise
        return await self._commit(submission, terms)

    async def _commit(self, submission: Submission, terms: _Terms) -> Receipt:
        return await self._store.commit(
            ADMIT, lambda connection, publish: _admit(connection, publish, submission, terms)
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


@dataclass(frozen=True, slots=True)
class _Terms:
    owner: str
    now: int
    retried_turn: str


def _admit(connection: apsw.Connection, publish: Publish, submission: Submission, terms: _Terms) -> Receipt:
    stored = find_receipt(connection, submission.submission_id)
    if stored is not None:
        if (stored.fingerprint, stored.session_id) != (submission.fingerprint, submission.session_id):
            raise RejectedFault("conflict")
        return stored
    _check_session(connection, submission.session_id)
    parent, branch = _branch_point(connection, submission.session_id, terms.retried_turn)
    receipt = Receipt(submission.submission_id, submission.session_id, new_id("trn"), submission.fingerprint, terms.now)
    _insert_turn(connection, receipt, terms.owner)
    _insert_receipt(connection, receipt)
    rest = {name: member for name, member in submission.payload.items() if name != "text"}
    text = itemlog.storable(str(submission.payload["text"]))
    new = NewItem(receipt.session_id, receipt.turn_id, "user", text, data=rest, parent_item=parent, branch=branch)
    publish(ItemAppended(itemlog.append(connection, new, terms.now)))
    title = title_from(text)
    if title:
        set_title(connection, receipt.session_id, title, "first_line")
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
    busy = connection.execute("SELECT 1 FROM turns WHERE session_id = ? AND ended_at IS NULL", (session_id,)).fetchone()
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
        (
            receipt.submission_id,
            RECEIPT_VERSION,
            receipt.session_id,
            receipt.turn_id,
            receipt.fingerprint,
            receipt.accepted_at,
        ),
    ).fetchall()


def _branch_point(connection: apsw.Connection, session_id: str, retried_turn: str) -> tuple[str, int]:
    """Parent and branch of the next user item: after the newest one, or beside it when its turn is tried again."""
    row = connection.execute(
        "SELECT id, turn_id, parent_item, branch FROM items WHERE session_id = ? AND kind = 'user'"
        " ORDER BY seq DESC LIMIT 1",
        (session_id,),
    ).fetchone()
    if row is None:
        if retried_turn:
            raise RejectedFault("not_last_turn")
        return "", 1
    item_id, turn_id, parent, branch = cast("tuple[str, str, str, int]", row)
    if not retried_turn:
        return item_id, 1
    if turn_id != retried_turn:
        raise RejectedFault("not_last_turn")
    return parent, branch + 1
