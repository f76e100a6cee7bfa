"""The exit barrier: nothing typed is lost by closing (spec/drafts.md section 6, "Exit barrier")."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.compose import Services
from app.desk import Desk
from app.preferences.dialogs import ask
from app.questions import unsaved_question
from drafts.store import Unsaved
from runtime.base.errors import EnvironmentFault
from runtime.storage.atomic import write_atomic

_LINE = 60
_BARRIER_SECONDS = 10


async def may_leave(desk: Desk, services: Services | None) -> bool:
    """Wait for saves and for sends that are being prepared; ask if something could not be saved."""
    while True:
        if services is not None:
            with contextlib.suppress(TimeoutError):  # a store that never answers must not hold the window for ever
                async with asyncio.timeout(_BARRIER_SECONDS):
                    await services.first.barrier()
        unsaved = await desk.side.drafts.flush()
        if not unsaved:
            with contextlib.suppress(EnvironmentFault):  # where to begin next time is no reason to stay
                await desk.store_place()
            return True
        answer = await ask(
            unsaved_question([_name(desk, one) for one in unsaved], unsaved[0].code), desk.painted.window
        )
        if answer == "quit_anyway":
            return True
        if answer == "save_copy":
            await _save_copies(desk, unsaved)
        elif answer != "retry":
            return False


def _name(desk: Desk, unsaved: Unsaved) -> str:
    draft = desk.side.drafts.by_id(unsaved.draft_id)
    lines = draft.text.strip().splitlines() if draft is not None else []
    return lines[0][:_LINE] if lines else "Draft"


async def _save_copies(desk: Desk, unsaved: list[Unsaved]) -> None:
    for one in unsaved:
        draft = desk.side.drafts.by_id(one.draft_id)
        path = await ask_path(desk.painted.window) if draft is not None else ""
        if draft is None or not path:
            continue
        await save_copy(desk, path, draft.text)


async def save_copy(desk: Desk, path: str, text: str) -> None:
    """Write ``text`` to the file a person chose, whole or not at all; a failure becomes the banner."""
    try:
        write_atomic(Path(path), text.encode("utf-8", "replace"))
    except EnvironmentFault as fault:
        desk.say(fault.code, fault)


async def ask_path(parent: QWidget) -> str:
    """Where to save a copy; empty if the person changed their mind."""
    chosen: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    dialog = QFileDialog(parent, "Save a copy", "draft.md", "Text (*.md *.txt)")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)

    def settle(_result: int) -> None:
        if not chosen.done():
            files = dialog.selectedFiles() if dialog.result() else []
            chosen.set_result(files[0] if files else "")

    dialog.finished.connect(settle)
    dialog.open()
    try:
        return await chosen
    finally:
        dialog.deleteLater()
