"""What drafts needs of sessions. Implemented in runtime, joined in ``app/compose.py``."""

from __future__ import annotations

from typing import Protocol

from runtime.base.handover import JsonObject, Place, Receipt, Reservation, SessionPresence, Submission


class StartedHost(Protocol):
    """A host session that was started for a reservation and is not yet published."""

    @property
    def session_id(self) -> str: ...

    async def close(self) -> None:
        """End it without a trace in the session list. Harmless when repeated."""
        ...


class SessionGateway(Protocol):
    """The steps of first execution that happen on the session side (spec/drafts.md section 6)."""

    async def resolve_model(self, model: str) -> str:
        """The strict model reference for ``model`` (empty: the live default). Starts nothing.

        Raises :class:`RejectedFault` ``model_unavailable``.
        """
        ...

    async def expand(self, content: JsonObject, place: Place) -> JsonObject:
        """The execution payload ``{"text": …}``. Raises :class:`RejectedFault`, e.g. ``attachment_unreadable``."""
        ...

    async def check_place(self, place: Place) -> None:
        """Raises :class:`RejectedFault` ``workspace_unavailable`` if the folder is gone."""
        ...

    async def create(self, reservation: Reservation) -> None:
        """Create or open exactly that session and bind it to the recorded workspace; idempotent."""
        ...

    async def start(self, reservation: Reservation) -> StartedHost:
        """Start the host, unpublished. Raises :class:`Fault` with the host's code."""
        ...

    async def publish(self, started: StartedHost) -> None:
        """Make the started host session the live one of its session."""
        ...

    async def admit(self, submission: Submission) -> Receipt:
        """Receipt, turn and user item in one transaction; then the turn runs by itself.

        A :class:`RejectedFault` proves non-admission; any other error proves nothing.
        """
        ...

    async def find_receipt(self, submission_id: str) -> Receipt | None:
        """The durable receipt, if any. Raises ``unknown_receipt_version`` (blocks replay)."""
        ...

    async def presence(self, session_id: str) -> SessionPresence: ...

    async def cancel_turn(self, session_id: str, submission_id: str) -> None:
        """Stop the turn of an accepted submission. Harmless when it has ended."""
        ...
