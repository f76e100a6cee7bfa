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
from app.compose import DraftSide, Services, open_drafts, open_services
from runtime.base.clock import SystemClock
from runtime.base.folder import DataFolder
from runtime.base.log import configure
from runtime.base.tasks import TaskSupervisor


def run(options: argparse.Namespace) -> int:
    """The exit status of the command. Raises :class:`Fault` for what the caller explains."""
    return asyncio.run(_run(options))


async def _run(options: argparse.Namespace) -> int:
    folder = DataFolder.locate(options.data_dir)
    if options.command == "doctor":
        return await doctor.run(folder, as_json=options.json)
    folder.prepare()
    stop_log = configure(folder.logs, name="command")
    try:
        return await _COMMANDS[options.command](folder, options)
    finally:
        stop_log()


async def _drafts(folder: DataFolder, options: argparse.Namespace) -> int:
    async with draft_side(folder) as side:
        await side.drafts.recover_journals()
        if options.verb == "list":
            return await reading.list_drafts(side, options.json)
        if options.verb == "show":
            return await reading.show_draft(side, options.id, options.json)
        return await reading.discard_draft(side, options.id, options.json)


async def _sessions(folder: DataFolder, options: argparse.Namespace) -> int:
    async with draft_side(folder) as side, services(side) as opened:
        if options.verb == "list":
            return await reading.list_sessions(opened, options.json)
        return await reading.show_session(opened, options.id, options.json)


async def _send(folder: DataFolder, options: argparse.Namespace) -> int:
    request = send.Request(
        text=sys.stdin.read() if options.text == "-" else options.text,
        workspace=options.workspace, model=options.model, effort=options.effort,
        wait=options.wait, as_json=options.json,
    )
    async with draft_side(folder) as side, services(side) as opened:
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
async def services(side: DraftSide) -> AsyncGenerator[Services]:
    """Everything, for the length of one command."""
    opened = await open_services(side)
    try:
        yield opened
    finally:
        await opened.close_hosts()
        await opened.close()


async def _interruptible(tasks: TaskSupervisor, work: Coroutine[Any, Any, int]) -> int:
    """SIGTERM ends a command as Ctrl+C does: in order, with what has arrived kept."""
    task = tasks.spawn("command", work)
    with contextlib.suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        return 130


def _bug(error: BaseException) -> None:
    """A bug in a background task: shown at once, as the excepthook would."""
    sys.excepthook(type(error), error, error.__traceback__)
