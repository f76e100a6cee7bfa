"""The running program: opens services stage by stage, waits for the wish to quit, and ends in named steps.

Loaded by name after the first paint, in the import thread, because everything heavy hangs on it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Slot

from app.banner_texts import banner_for_error
from app.boot_reader import GEOMETRY
from app.bridge.signals import Bridge
from app.choosing import Choosing
from app.compose import DraftSide, Services, open_drafts, open_services
from app.desk import Desk
from app.first_paint import Painted
from app.instance import InstanceServer
from app.leaving import may_leave
from app.moving import Moving
from app.sending import Sending
from app.signals import QuitSignals
from app.trace import mark
from app.tree_feed import TreeFeed
from runtime.base.clock import SystemClock
from runtime.base.crash import CrashGuard
from runtime.base.errors import Fault
from runtime.base.folder import DataFolder
from runtime.base.tasks import TaskSupervisor
from runtime.storage.atomic import write_atomic

log = logging.getLogger(__name__)
_AGAIN_SECONDS = 1.0
_DAMAGED_TRIES = 2


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the shutdown with its limit in seconds."""

    name: str
    seconds: float
    run: Callable[[], Awaitable[None]]


class Program(QObject):
    """Lives as long as the window."""

    def __init__(self, painted: Painted, folder: DataFolder, guard: CrashGuard) -> None:
        super().__init__(painted.window)
        self._painted = painted
        self._folder = folder
        self._guard = guard
        self._tasks = TaskSupervisor("window", self._bug)
        self._bridge = Bridge(self)
        self._signals = QuitSignals(self)
        self._instance = InstanceServer(folder, self)
        self._quit = asyncio.Event()
        self._side: DraftSide | None = None
        self._services: Services | None = None
        self._desk: Desk | None = None
        self._tree: TreeFeed | None = None
        self._moving: Moving | None = None
        self._status = 0
        self._left = False
        self._wanted_path = ""  # asked for by a later launch before folders can be opened
        painted.window.close_requested.connect(self._quit_requested)
        self._signals.requested.connect(self._quit_requested)
        self._instance.raise_requested.connect(self._raise)

    async def live(self, path: str | None) -> int:
        """From opening the stores to the last step of the shutdown; the exit status."""
        try:
            desk = await self._open()
            if desk is not None and path:
                self._raise(path)
            mark("ready")
            self._guard.started()
            await self._until_left(desk)
        finally:
            await self._shut_down()
        return self._status

    async def _open(self) -> Desk | None:
        """The drafts first, then everything else: a broken state file never takes text hostage."""
        try:
            self._side = side = await open_drafts(self._folder, SystemClock(), self._bug, self._painted.journal)
        except Fault as fault:
            self._cannot(fault)
            return None
        self._bridge.watch_drafts(side)
        self._desk = desk = Desk(self._painted, side, self._bridge, self._tasks)
        if self._painted.draft is not None:
            side.drafts.adopt(self._painted.draft)
        self._tree = TreeFeed(self._painted.window.tree, side, self._tasks, self._bridge, self)
        mark("drafts")
        try:
            self._services = services = await open_services(side)
        except Fault as fault:
            self._status = 1
            self._tree.without_services()
            await desk.shown(desk.go_without_sessions(fault))
            return desk
        await self._join(desk, services, self._tree)
        return desk

    async def _join(self, desk: Desk, services: Services, tree: TreeFeed) -> None:
        self._bridge.watch_services(services)
        if not await self._reconciled(desk, services):
            return
        mark("reconciled")
        desk.attach(services)
        Sending(desk, services)
        Choosing(desk, services)
        self._moving = Moving(desk, services, tree)
        tree.set_services(services)
        await desk.shown(desk.settle())
        if self._wanted_path:
            self._raise(self._wanted_path)
        self._tasks.spawn("warm", self._warm(services))

    async def _reconciled(self, desk: Desk, services: Services) -> bool:
        """Settle what the last run left. A store that another process holds is asked again while typing goes on;
        what is damaged for good must not keep the rest from working. False: the person has left meanwhile."""
        damaged = 0
        while not self._quit.is_set():
            try:
                report = await services.reconcile()
            except Fault as fault:
                log.info("not reconciled yet", extra={"code": fault.code})
                desk.say(fault.code, fault)
                damaged += fault.code != "database_locked"
                if damaged > _DAMAGED_TRIES:
                    return True
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_AGAIN_SECONDS):
                        await self._quit.wait()
            else:
                log.info("started", extra={"counts": dict(report.counts)})
                desk.forget_refusal()
                return True
        return False

    async def _warm(self, services: Services) -> None:
        """Load the agent's modules while nobody waits for them. It starts no process."""
        await asyncio.sleep(1.0)
        await services.hosts.warm()

    async def _until_left(self, desk: Desk | None) -> None:
        """Wait for the wish to quit; a draft that cannot be saved vetoes it (spec/drafts.md, "Exit barrier")."""
        while True:
            await self._quit.wait()
            if desk is None or await may_leave(desk, self._services):
                return
            self._quit.clear()  # asking twice while the question was open is one wish
            if self._services is not None and self._tree is not None and self._moving is None:
                await self._join(desk, self._services, self._tree)

    async def _shut_down(self) -> None:
        self._left = True
        for step in self._steps():
            try:
                async with asyncio.timeout(step.seconds):
                    await step.run()
            except TimeoutError:
                log.warning("a step of the shutdown took too long", extra={"step": step.name})
            except (Fault, OSError) as error:
                log.warning("a step of the shutdown failed", extra={"step": step.name, "error": type(error).__name__})
        self._painted.window.finish()
        mark("closed")

    def _steps(self) -> list[Step]:
        steps = [Step("geometry", 2, self._store_geometry), Step("window tasks", 2, self._end_window)]
        if self._services is not None:
            steps += [Step("hosts", 10, self._services.close_hosts), Step("services", 5, self._services.close)]
        if self._side is not None:
            steps.append(Step("drafts", 10, self._side.close))
        return steps

    async def _store_geometry(self) -> None:
        stored = json.dumps(self._painted.window.geometry_state()).encode()
        write_atomic(self._folder.root / "desktop" / GEOMETRY, stored)

    async def _end_window(self) -> None:
        self._painted.window.hide()  # nothing can be typed or clicked any more that nobody would hear
        self._instance.close()
        self._signals.close()
        self._bridge.close()
        if self._tree is not None:
            self._tree.close()
        if self._desk is not None:
            self._desk.close()
        await self._tasks.close()

    def _cannot(self, fault: Fault) -> None:
        """The drafts store cannot be opened: say what is safe, and let nothing be typed that could not be kept."""
        self._status = 1
        page = self._painted.draft_page
        page.composer.set_locked(True)
        self._painted.window.tree.setEnabled(False)
        page.banner.show_text(banner_for_error(fault.code, fault.detail))
        self._painted.window.show_page(page)
        log.error("the drafts store cannot be opened", extra={"code": fault.code})

    def _bug(self, error: BaseException) -> None:
        sys.excepthook(type(error), error, error.__traceback__)

    @Slot()
    def _quit_requested(self) -> None:
        self._quit.set()

    @Slot(str)
    def _raise(self, path: str) -> None:
        if self._left:
            return
        self._painted.window.raise_up()
        if path and self._moving is not None:
            self._moving.open_folder(path)
        elif path:
            self._wanted_path = path
