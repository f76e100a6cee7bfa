"""Runs one command over the same composition root as the window, and closes what it opened."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

from app.commands import doctor, models, reading, send
from app.commands.failing import spoken
from app.commands.output import read_input, say
from app.compose import DraftSide, Services, open_drafts, open_services
from runtime.base.clock import SystemClock
from runtime.base.errors import Fault
from runtime.base.folder import DataFolder
from runtime.base.log import configure
from runtime.base.tasks import TaskSupervisor
from runtime.sessions.recovery import interrupt_dead_turns
from runtime.sessions.schema import open_state
from runtime.sessions.store import SessionStore
from runtime.storage.leases import LeaseBook

STOPPED = 130


def run(options: argparse.Namespace) -> int:
    """The exit status of the command. Raises :class:`Fault` for what the caller explains."""
    if options.command == "send" and options.text == "-":
        options.text = read_input()  # before the loop takes over Ctrl+C, which ends a wait for input at once
    return asyncio.run(_run(options))


async def _run(options: argparse.Namespace) -> int:
    folder = DataFolder.locate(options.data_dir)
    if options.command == "doctor":
        return await doctor.run(folder, as_json=options.json)
    try:
        folder.prepare()
    except Fault as fault:
        raise (send.unstored(fault, options.text) if options.command == "send" else fault) from fault
    stop_log = configure(folder.logs, name="command")
    try:
        return await _COMMANDS[options.command](folder, options)
    finally:
        stop_log()


async def _drafts(folder: DataFolder, options: argparse.Namespace) -> int:
    async with draft_side(folder) as side:
        await _settle(side)
        if options.verb == "list":
            return await reading.list_drafts(side, options.json)
        if options.verb == "show":
            return await reading.show_draft(side, options.id, options.json)
        return await reading.discard_draft(side, options.id, options.json)


async def _settle(side: DraftSide) -> None:
    """What dead processes left, so that the list is true. If it cannot be done now, the list is as stored."""
    try:
        await side.drafts.recover_journals()
        async with services(side) as opened:
            await opened.reconcile()
    except Fault as fault:
        words = spoken(fault)
        say(f"inkfast: {words.what} {words.safe}\nDrafts are shown as they are stored.")


async def _sessions(folder: DataFolder, options: argparse.Namespace) -> int:
    async with conversations(folder) as sessions:
        if options.verb == "list":
            return await reading.list_sessions(sessions, options.json)
        return await reading.show_session(sessions, options.id, options.json)


async def _send(folder: DataFolder, options: argparse.Namespace) -> int:
    request = send.Request(
        text=options.text,
        workspace=options.workspace,
        model=options.model,
        effort=options.effort,
        wait=options.wait,
        as_json=options.json,
    )
    request = send.composed(request, options.file)
    try:
        side = await open_drafts(folder, SystemClock(), _bug)
    except Fault as fault:
        raise send.unstored(fault, request.text) from fault
    try:
        return await _sent(side, request)
    finally:
        await side.close()


async def _sent(side: DraftSide, request: send.Request) -> int:
    try:
        opened = await open_services(side)
    except Fault as fault:
        raise await send.kept_instead(side, request, fault) from fault
    async with _closing(opened):
        return await _interruptible(opened.tasks, send.run(opened, request))


async def _models(folder: DataFolder, options: argparse.Namespace) -> int:
    if options.verb == "add":
        return await models.add(folder, options.file, options.json)
    return models.show(folder, options.json)


_COMMANDS = {"drafts": _drafts, "sessions": _sessions, "send": _send, "models": _models}


@contextlib.asynccontextmanager
async def draft_side(folder: DataFolder) -> AsyncGenerator[DraftSide]:
    """The drafts store for the length of one command."""
    side = await open_drafts(folder, SystemClock(), _bug)
    try:
        yield side
    finally:
        await side.close()


@contextlib.asynccontextmanager
async def conversations(folder: DataFolder) -> AsyncGenerator[SessionStore]:
    """The conversations alone: a drafts file that cannot be opened keeps nobody from reading them."""
    clock = SystemClock()
    state = await open_state(folder.state_database)
    try:
        sessions = SessionStore(state, clock, _bug)
        with contextlib.suppress(Fault):  # a full disk: the turns of dead processes are settled another time
            await interrupt_dead_turns(sessions, LeaseBook(folder.leases, clock))
        yield sessions
    finally:
        await state.close()


@contextlib.asynccontextmanager
async def services(side: DraftSide) -> AsyncGenerator[Services]:
    """Everything, for the length of one command."""
    async with _closing(await open_services(side)) as opened:
        yield opened


@contextlib.asynccontextmanager
async def _closing(opened: Services) -> AsyncGenerator[Services]:
    try:
        yield opened
    finally:
        await opened.close_hosts()
        await opened.close()


async def _interruptible(tasks: TaskSupervisor, work: Coroutine[Any, Any, int]) -> int:
    """SIGTERM ends a command as Ctrl+C does: in order, with what has arrived kept."""
    task = tasks.spawn("command", work)
    for number in ("SIGTERM", "SIGHUP"):
        with contextlib.suppress(NotImplementedError, AttributeError):
            asyncio.get_running_loop().add_signal_handler(getattr(signal, number), task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return STOPPED


def _bug(error: BaseException) -> None:
    """A bug in a background task: shown at once, as the excepthook would."""
    sys.excepthook(type(error), error, error.__traceback__)
