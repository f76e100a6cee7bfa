"""The session side of first execution, as drafts asks for it (spec/drafts.md section 6).

Has the shape of ``drafts.gateway.SessionGateway`` without importing it; ``app/compose.py`` joins the two.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from runtime.base.canonical import digest
from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.base.handover import JsonObject, Place, Receipt, Reservation, SessionPresence, Submission
from runtime.base.ids import new_id
from runtime.base.tasks import TaskSupervisor
from runtime.sessions.admission import Admission
from runtime.sessions.controller import SessionController
from runtime.sessions.itemlog import storable
from runtime.sessions.live import OpenedHost
from runtime.sessions.store import SessionStore
from runtime.workspaces.registry import WorkspaceRegistry

_PLAIN = frozenset({"text", "caret", "anchor"})


class ModelResolver(Protocol):
    """Turns what a person chose into a strict model reference."""

    async def resolve(self, model: str) -> str:
        """Empty means the live default. Raises :class:`RejectedFault` ``model_unavailable``; starts nothing."""
        ...


class StartedSession(Protocol):
    """What :meth:`SessionsGateway.publish` takes: what ``start`` returned."""

    @property
    def session_id(self) -> str: ...

    async def close(self) -> None: ...


class SessionsGateway:
    """Sessions as drafts needs them."""

    def __init__(
        self,
        store: SessionStore,
        admission: Admission,
        controller: SessionController,
        workspaces: WorkspaceRegistry,
        models: ModelResolver,
        tasks: TaskSupervisor,
    ) -> None:
        self._store = store
        self._admission = admission
        self._controller = controller
        self._workspaces = workspaces
        self._models = models
        self._tasks = tasks

    async def resolve_model(self, model: str) -> str:
        """The strict reference. Raises :class:`RejectedFault` ``model_unavailable``."""
        return await self._models.resolve(model)

    async def expand(self, content: JsonObject, place: Place) -> JsonObject:
        """The execution payload: plain text so far.

        Raises :class:`RejectedFault` ``attachment_unreadable`` for content with parts that cannot be sent yet.
        """
        if any(member for name, member in content.items() if name not in _PLAIN):
            raise RejectedFault("attachment_unreadable")
        text = content.get("text")
        return {"text": storable(text if isinstance(text, str) else "")}

    async def check_place(self, place: Place) -> None:
        """Raises :class:`RejectedFault` ``workspace_unavailable``."""
        await self._workspaces.check(place)

    async def create(self, reservation: Reservation) -> None:
        """Create or open exactly that session, bound to the recorded workspace; idempotent."""
        await self._store.create(reservation)

    async def start(self, reservation: Reservation) -> OpenedHost:
        """Start the host, unpublished. Raises :class:`Fault` with the host's code."""
        return await self._controller.start(reservation)

    async def publish(self, started: StartedSession) -> None:
        """Make the started host session the live one. Raises ``host_unavailable`` for one that is not ours."""
        if not isinstance(started, OpenedHost):
            raise EnvironmentFault("host_unavailable")
        await self._controller.publish(started)

    async def admit(self, submission: Submission) -> Receipt:
        """Admit, then let the turn run by itself; both happen even if the caller is cancelled in between.

        Raises as :meth:`Admission.admit`, and ``workspace_unavailable`` if the session's folder is gone.
        """
        return await asyncio.shield(self._tasks.spawn("admit", self._admit(submission)))

    async def retry(self, turn_id: str) -> Receipt:
        """Ask the same again, as a new submission beside the old one. Only ever called because a person asked.

        Raises :class:`RejectedFault` ``turn_unknown``, ``not_last_turn``, ``content_missing`` or as admission.
        """
        original = await self._store.question_of(turn_id)
        fingerprint = digest({"retried_turn": turn_id, "payload": original.payload})
        again = Submission(new_id("sub"), original.session_id, fingerprint, original.payload)
        return await asyncio.shield(self._tasks.spawn("retry", self._admit(again, turn_id)))

    async def find_receipt(self, submission_id: str) -> Receipt | None:
        """The durable receipt. Raises :class:`EnvironmentFault` ``unknown_receipt_version``."""
        return await self._admission.find(submission_id)

    async def presence(self, session_id: str) -> SessionPresence:
        return await self._store.presence(session_id)

    async def cancel_turn(self, session_id: str, submission_id: str) -> None:
        """Stop the turn of an accepted submission; harmless when it has ended."""
        receipt = await self._admission.find(submission_id)
        running = self._controller.running(session_id)
        if receipt is not None and running is not None and running.id == receipt.turn_id:
            await self._controller.stop(session_id)

    async def _admit(self, submission: Submission, retried_turn: str = "") -> Receipt:
        if await self._admission.find(submission.submission_id) is None:
            session = await self._store.get(submission.session_id)
            if session is not None:
                await self._workspaces.check(session.place)
        receipt = await self._accepted(submission, retried_turn)
        await self._controller.begin(receipt)
        return receipt

    async def _accepted(self, submission: Submission, retried_turn: str) -> Receipt:
        """A commit that reports an error may have happened: then its receipt is there, and it counts."""
        try:
            return await self._admission.admit(submission, retried_turn=retried_turn)
        except EnvironmentFault:
            stored = await self._admission.find(submission.submission_id)
            if stored is None or stored.fingerprint != submission.fingerprint:
                raise
            return stored
