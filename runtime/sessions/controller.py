"""Live host sessions and running turns of this process. What page is shown has no part in it."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

from runtime.base.clock import Clock
from runtime.base.errors import EnvironmentFault
from runtime.base.handover import Receipt, Reservation
from runtime.base.tasks import TaskSupervisor
from runtime.sessions.execution import TurnRun, Workshop
from runtime.sessions.live import HostRegistry, LiveHosts, OpenedHost, observed_object
from runtime.sessions.model import Turn, TurnState
from runtime.sessions.owner import OwnerLease
from runtime.sessions.store import SessionStore
from runtime.sessions.turnlog import read as read_turn
from runtime.sessions.waiting import Patience

log = logging.getLogger(__name__)
_RETRY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Running:
    run: TurnRun
    task: asyncio.Task[None]


class SessionController:
    """Starts hosts, runs admitted turns, stops them."""

    def __init__(
        self, store: SessionStore, hosts: HostRegistry, owner: OwnerLease, clock: Clock, tasks: TaskSupervisor
    ) -> None:
        self._store = store
        self._tasks = tasks
        patience = Patience(clock, tasks)
        self._hosts = LiveHosts(hosts, patience)
        self._shop = Workshop(store, self._hosts, owner.owner_id, patience)
        self._runs: dict[str, _Running] = {}

    async def start(self, reservation: Reservation) -> OpenedHost:
        """Start the host of a reservation, unpublished. Raises :class:`Fault` with the host's code."""
        return await self._hosts.open(reservation.session_id, reservation.place, reservation.settings)

    async def publish(self, started: OpenedHost) -> None:
        """Make it the live host session of its conversation; an earlier one is ended."""
        host = started.host_session
        await self._store.observe(started.session_id, observed_object(host), host.host_session_id)
        await self._hosts.adopt(started)

    async def begin(self, receipt: Receipt) -> None:
        """Run the admitted turn of ``receipt`` in the background; harmless when repeated or not ours to run.

        A store that cannot be read right now is asked again later: what was accepted is run.
        """
        try:
            await self._begin(receipt)
        except EnvironmentFault as fault:
            log.warning("an accepted turn could not be read", extra={"code": fault.code})
            self._tasks.spawn("begin later", self._begin_later(receipt))

    async def _begin_later(self, receipt: Receipt) -> None:
        await self._shop.patience.clock.sleep(_RETRY_SECONDS)
        await self.begin(receipt)

    async def _begin(self, receipt: Receipt) -> None:
        turn = await self._store.database.read(lambda connection: read_turn(connection, receipt.turn_id))
        session = await self._store.get(receipt.session_id)
        if turn is None or session is None or turn.state is not TurnState.ADMITTED:
            return
        before = self._runs.get(session.id)
        if turn.owner != self._shop.owner_id or (before is not None and before.run.turn.id == turn.id):
            return
        run = TurnRun(self._shop, session, turn)
        task = self._tasks.spawn(f"turn {turn.id}", _run_after(before, run))
        self._runs[session.id] = _Running(run, task)
        task.add_done_callback(lambda _done: self._forget(session.id, run))

    async def stop(self, session_id: str) -> None:
        """Stop the running turn of a conversation and wait for its end; harmless if none runs here."""
        running = self._runs.get(session_id)
        if running is not None:
            await asyncio.shield(self._tasks.spawn("stop", running.run.stop()))

    def running(self, session_id: str) -> Turn | None:
        """The turn that this process runs for the conversation, as last committed."""
        running = self._runs.get(session_id)
        return running.run.turn if running is not None and not running.run.turn.state.is_terminal else None

    async def close(self) -> None:
        """End what runs as interrupted, with its partial text, then end the host sessions."""
        tasks = [running.task for running in self._runs.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._hosts.close()

    def _forget(self, session_id: str, run: TurnRun) -> None:
        running = self._runs.get(session_id)
        if running is not None and running.run is run:
            del self._runs[session_id]


async def _run_after(before: _Running | None, run: TurnRun) -> None:
    """An earlier turn has ended durably, but may still be ending its host session."""
    if before is not None:
        await asyncio.wait([before.task])
    await run.run()
