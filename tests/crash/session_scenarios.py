"""What happens in conversations between two kills, over a host that writes down every call."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from runtime.base.clock import SystemClock
from runtime.base.folder import DataFolder
from runtime.base.handover import Reservation, Submission
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.port import Prompt, TextDelta
from runtime.sessions.admission import Admission
from runtime.sessions.controller import SessionController
from runtime.sessions.events import ItemAppended, ItemExtended, SessionEvent, TurnChanged
from runtime.sessions.gateway import SessionsGateway
from runtime.sessions.owner import OwnerLease
from runtime.sessions.recovery import interrupt_dead_turns
from runtime.sessions.schema import open_state
from runtime.sessions.store import SessionStore
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook
from runtime.workspaces.registry import GLOBAL, WorkspaceRegistry
from tests.crash.harness import painted
from tests.fakes.host import FakeHost, FakeModels, FakeRegistry, Hold, Line, Pause, says

CALLS = "host-calls.log"


class Program:
    """The session side of one process. What a page would show is painted after each event."""

    def __init__(self, folder: DataFolder, database: Database) -> None:
        clock = SystemClock()
        self.folder = folder
        self.database = database
        self.tasks = TaskSupervisor("sessions", _fail)
        self.leases = LeaseBook(folder.leases, clock)
        self.owner = OwnerLease.take(self.leases)
        self.store = SessionStore(database, clock, _fail)
        self.host = FakeHost(clock, on_prompt=self._called)
        self.controller = SessionController(self.store, FakeRegistry(self.host), self.owner, clock, self.tasks)
        self.workspaces = WorkspaceRegistry(database, clock)
        admission = Admission(self.store, self.owner)
        self.gateway = SessionsGateway(
            self.store, admission, self.controller, self.workspaces, FakeModels(), self.tasks
        )
        self.texts: dict[str, str] = {}
        self.receipts: list[str] = []
        self.ended = 0
        self._arrived = asyncio.Event()
        self.store.subscribe(self._show)

    @staticmethod
    async def at(folder: DataFolder) -> Program:
        return Program(folder, await open_state(folder.state_database))

    async def send(self, name: str, text: str, *script: Line) -> None:
        """A first execution, or a follow-up if the session exists."""
        self.host.scripts.append(script)
        first = await self.store.get(f"ses-{name}") is None
        submission_id = f"sub-{name}" if first else f"sub-{name}-{text}"
        reservation = Reservation(
            f"opr-{name}", f"ses-{name}", f"top-{name}", submission_id, GLOBAL, {"model": "scripted:demo"}
        )
        if first:
            await self.gateway.create(reservation)
            await self.gateway.publish(await self.gateway.start(reservation))
        receipt = await self.gateway.admit(Submission(submission_id, f"ses-{name}", "f", {"text": text}))
        self.receipts.append(receipt.submission_id)
        self.paint()

    async def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self._arrived.clear()
            await self._arrived.wait()

    async def leave(self) -> None:
        await self.controller.close()
        await self.tasks.close()
        await self.database.close()
        self.owner.release()

    def paint(self) -> None:
        painted({"texts": self.texts, "receipts": self.receipts})

    def _show(self, event: SessionEvent) -> None:
        if isinstance(event, ItemAppended):
            self.texts[event.item.id] = event.item.text
        elif isinstance(event, ItemExtended):
            self.texts[event.item_id] = self.texts[event.item_id][: event.offset] + event.text
        elif isinstance(event, TurnChanged):
            self.ended += event.turn.state.is_terminal
        self.paint()
        self._arrived.set()

    def _called(self, prompt: Prompt) -> None:
        with (self.folder.root / CALLS).open("a", encoding="utf-8") as file:
            file.write(prompt.text + "\n")
            file.flush()
            os.fsync(file.fileno())


def _fail(error: BaseException) -> None:
    raise error


async def converse(folder: DataFolder) -> None:
    """A workspace, two conversations, a streamed answer, a name given by hand, a follow-up, a stop."""
    program = await Program.at(folder)
    project = folder.root / "project"
    project.mkdir(exist_ok=True)
    await program.workspaces.open_folder(project)
    pieces: list[Line] = [part for number in range(4) for part in (TextDelta(f"piece {number} "), Pause(0.06))]
    await program.send("one", "first", *pieces, *says("end, no newline"))
    await program.until(lambda: program.ended == 1)
    await program.store.rename("ses-one", "Mine")
    await program.send("one", "second", *says("short"))
    await program.until(lambda: program.ended == 2)
    await program.send("two", "third", TextDelta("partial"), Hold(asyncio.Event()))
    await program.until(lambda: "partial" in program.texts.values())
    await program.controller.stop("ses-two")
    await program.leave()


async def stream(folder: DataFolder) -> None:
    """Twenty tokens a second, until killed."""
    program = await Program.at(folder)
    tokens: list[Line] = [part for number in range(200) for part in (TextDelta(f"t{number} "), Pause(0.05))]
    await program.send("one", "long", *tokens)
    await program.until(lambda: program.ended == 1)
    await program.leave()


async def stream_three(folder: DataFolder) -> None:
    """Three answers at once, until killed."""
    program = await Program.at(folder)
    for name in ("a", "b", "c"):
        await program.send(name, f"question {name}", TextDelta(f"part of {name}"), Hold(asyncio.Event()))
    await program.until(lambda: sum(text.startswith("part of") for text in program.texts.values()) == 3)
    await program.store.rename("ses-a", "All three are running")
    await program.leave()


async def look(folder: DataFolder) -> None:
    """A start after the kill: recovery (a second time for nothing), then the list. Asks nobody anything."""
    program = await Program.at(folder)
    await interrupt_dead_turns(program.store, program.leases)
    assert await interrupt_dead_turns(program.store, program.leases) == 0
    painted([[session.id, str(session.turn_state)] for session in await program.store.list()])
    await program.leave()
