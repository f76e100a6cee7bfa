"""A session gateway that records what drafts ask of it, fails where a test says so, and may forget receipts.

With a ``ledger`` file every admission and every receipt is appended there, so that a second process can see
what a killed one had handed over.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

from drafts.gateway import StartedHost
from runtime.base.errors import RejectedFault
from runtime.base.handover import JsonObject, Place, Receipt, Reservation, SessionPresence, Submission


@dataclass(slots=True)
class FakeStartedHost:
    """A host session that remembers whether it was closed."""

    session_id: str
    closed: int = 0

    async def close(self) -> None:
        self.closed += 1


@dataclass(slots=True)
class FakeGateway:
    """``fail[step]`` is raised by that step, ``gates[step]`` holds it back until the event is set.

    Steps: resolve_model, expand, check_place, create, start, publish, admit, admitted (after the receipt was
    written), find_receipt, presence, cancel_turn. ``forgets`` answers admissions without storing a receipt.
    """

    ledger: Path | None = None
    default_model: str = "scripted:demo"
    models: set[str] = field(default_factory=lambda: {"scripted:demo", "local:small"})
    forgets: bool = False
    dies_at: str = ""
    fail: dict[str, BaseException] = field(default_factory=dict[str, BaseException])
    gates: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    entered: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])
    calls: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    sessions: dict[str, SessionPresence] = field(default_factory=dict[str, SessionPresence])
    hosts: list[FakeStartedHost] = field(default_factory=list[FakeStartedHost])
    published: list[str] = field(default_factory=list[str])
    reservations: list[Reservation] = field(default_factory=list[Reservation])
    submissions: list[Submission] = field(default_factory=list[Submission])
    receipts: dict[str, Receipt] = field(default_factory=dict[str, Receipt])

    def __post_init__(self) -> None:
        for entry in self._ledger_lines():
            if entry["kind"] == "receipt":
                self._remember(entry["submission"], entry["session"], entry["fingerprint"])

    def count(self, step: str) -> int:
        """How often ``step`` was called."""
        return sum(1 for name, _ in self.calls if name == step)

    def hold(self, step: str) -> asyncio.Event:
        """Make ``step`` wait; set the result to let it go on. ``entered[step]`` tells that it waits."""
        self.gates[step] = asyncio.Event()
        self.entered[step] = asyncio.Event()
        return self.gates[step]

    async def resolve_model(self, model: str) -> str:
        await self._step("resolve_model", model)
        resolved = model or self.default_model
        if resolved not in self.models:
            raise RejectedFault("model_unavailable", model=resolved)
        return resolved

    async def expand(self, content: JsonObject, place: Place) -> JsonObject:
        await self._step("expand", place.workspace_id)
        text = str(content["text"])
        return {"text": text, "kind": "shell"} if text.startswith("!") else {"text": text}

    async def check_place(self, place: Place) -> None:
        await self._step("check_place", place.workspace_id)

    async def create(self, reservation: Reservation) -> None:
        await self._step("create", reservation.session_id)
        self.reservations.append(reservation)
        self.sessions[reservation.session_id] = SessionPresence.OPEN

    async def start(self, reservation: Reservation) -> StartedHost:
        await self._step("start", reservation.session_id)
        self.hosts.append(FakeStartedHost(reservation.session_id))
        return self.hosts[-1]

    async def publish(self, started: StartedHost) -> None:
        await self._step("publish", started.session_id)
        self.published.append(started.session_id)

    async def admit(self, submission: Submission) -> Receipt:
        await self._step("admit", submission.submission_id)
        self.submissions.append(submission)
        self._write("admission", submission)
        self._die("handed_over")
        receipt = Receipt(submission.submission_id, submission.session_id, "turn-1", submission.fingerprint, 1)
        if not self.forgets:
            self._write("receipt", submission)
            self.receipts.setdefault(submission.submission_id, receipt)
        self._die("receipt_written")
        await self._step("admitted", submission.submission_id)
        return receipt

    async def find_receipt(self, submission_id: str) -> Receipt | None:
        await self._step("find_receipt", submission_id)
        return self.receipts.get(submission_id)

    async def presence(self, session_id: str) -> SessionPresence:
        await self._step("presence", session_id)
        return self.sessions.get(session_id, SessionPresence.ABSENT)

    async def cancel_turn(self, session_id: str, submission_id: str) -> None:
        await self._step("cancel_turn", submission_id)

    def admissions(self) -> list[str]:
        """Submission ids in the order in which they were handed over, across processes if there is a ledger."""
        if self.ledger is None:
            return [submission.submission_id for submission in self.submissions]
        return [entry["submission"] for entry in self._ledger_lines() if entry["kind"] == "admission"]

    def receive(self, submission_id: str, session_id: str, fingerprint: str) -> None:
        """A receipt turns up that admission had not reported."""
        self._remember(submission_id, session_id, fingerprint)
        self.sessions[session_id] = SessionPresence.OPEN

    async def _step(self, name: str, detail: str) -> None:
        self.calls.append((name, detail))
        if name in self.gates:
            self.entered[name].set()
            await self.gates[name].wait()
        if name in self.fail:
            raise self.fail[name]

    def _remember(self, submission_id: str, session_id: str, fingerprint: str) -> None:
        self.receipts[submission_id] = Receipt(submission_id, session_id, "turn-1", fingerprint, 1)

    def _die(self, point: str) -> None:
        if self.dies_at == point:
            os.kill(os.getpid(), signal.SIGKILL)

    def _write(self, kind: str, submission: Submission) -> None:
        if self.ledger is None:
            return
        entry = {
            "kind": kind,
            "submission": submission.submission_id,
            "session": submission.session_id,
            "fingerprint": submission.fingerprint,
        }
        with self.ledger.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def _ledger_lines(self) -> list[dict[str, str]]:
        if self.ledger is None or not self.ledger.exists():
            return []
        return [json.loads(line) for line in self.ledger.read_text(encoding="utf-8").splitlines()]
