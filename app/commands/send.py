"""``inkfast send``: a first execution without a window, through the same path as the button.

The text gets a slot of its own, so that a draft that is being written in a window is never sent or replaced.
Whatever fails, the text is a draft that was read back, or the person is told to keep it.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.banner_texts import recovery_banner
from app.commands.failing import FAILED, REFUSED, UNKNOWN, SendFailed, kept_as
from app.commands.files import with_files
from app.commands.output import print_json, say, write
from app.commands.watcher import Watcher
from app.compose import DraftSide, Services
from app.turn_notes import turn_note
from drafts.model import DraftKey, TextEdit
from drafts.open_draft import OpenDraft
from drafts.phases import Operation, Phase
from drafts.store import DraftStore
from runtime.base.errors import EnvironmentFault, Fault, RejectedFault
from runtime.base.handover import Place
from runtime.base.ids import new_id
from runtime.sessions.model import Turn, TurnState
from runtime.workspaces.registry import GLOBAL

STOPPED = 130
_LOOK_SECONDS = 3.0
_TOO_LITTLE_BYTES = 1_000_000
_STATUS = {TurnState.COMPLETED: 0, TurnState.UNKNOWN: UNKNOWN}
_HANDED_OVER = frozenset({Phase.DISPATCHING, Phase.DISPATCHING_SHELL, Phase.DISPATCH_UNKNOWN})


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asked for."""

    text: str
    workspace: str | None
    model: str
    effort: str
    wait: bool
    as_json: bool
    refusal: Fault | None = None
    """Why it cannot be sent as asked; known before anything was opened."""


def composed(request: Request, files: Sequence[str]) -> Request:
    """``request`` with ``files`` in its text. If one cannot be read, the text alone is kept and nothing is sent."""
    try:
        return replace(request, text=with_files(request.text, files)) if files else request
    except RejectedFault as fault:
        return replace(request, refusal=fault)


async def run(services: Services, request: Request) -> int:
    """Send, then stay until the answer is stored; returns the exit status.

    Raises :class:`SendFailed`: of a :class:`RejectedFault` (``empty_draft``, ``model_unavailable``,
    ``workspace_unavailable``, ``setting_unsupported`` …) nothing was reserved.
    """
    place, refusal = await _place(services, request)
    draft = await _draft(services.side.drafts, place, request)
    watcher = Watcher(services.sessions, streams=request.wait and not request.as_json)
    try:
        refusal = request.refusal or refusal
        if refusal is not None:
            raise refusal
        operation = await services.first.submit(services.first.capture(draft.id))
        if operation.phase is not Phase.ACCEPTED:
            return await _not_accepted(services, request, operation)
        turn = await _ended(services, watcher, operation.session_id)
    except Fault as fault:
        raise await _failed(services, draft, request, fault) from fault
    except asyncio.CancelledError:
        return await _stopped(services, draft, request)
    finally:
        watcher.close()
    return _report(request, operation, turn, watcher)


async def _ended(services: Services, watcher: Watcher, session_id: str) -> Turn:
    """The ended turn. On a full disk its end is tried until it can be stored; that this waits is said once."""
    end = services.tasks.spawn("answer", watcher.end_of(session_id))
    said = False
    while not (await asyncio.wait({end}, timeout=_LOOK_SECONDS))[0]:
        if not said and shutil.disk_usage(services.side.folder.root).free < _TOO_LITTLE_BYTES:
            said = True
            say(
                "inkfast: The disk is full.\nYour text is stored; the end of its answer is not yet.\n"
                "Free some space and it is, or stop with Ctrl+C: the next start settles it."
            )
    return end.result()


async def kept_instead(side: DraftSide, request: Request, fault: Fault) -> SendFailed:
    """The conversations cannot be opened: the text becomes a draft, for whenever they can."""
    draft = await _draft(side.drafts, GLOBAL, request)
    return SendFailed(fault, await _kept(side.drafts, draft, request))


def unstored(fault: Fault, text: str) -> Fault:
    """Nothing could be stored; with no text there is nothing to say about it."""
    return SendFailed(fault, "") if text.strip() else fault


async def _place(services: Services, request: Request) -> tuple[Place, Fault | None]:
    """Where it belongs. A refusal is raised only after the text is a draft: what was piped in exists nowhere else."""
    try:
        if request.effort:
            raise RejectedFault("setting_unsupported", option="--effort")
        if request.workspace is not None:
            if not request.workspace:
                raise RejectedFault("workspace_unavailable")
            return await services.workspaces.open_folder(Path(request.workspace).expanduser()), None
    except Fault as fault:
        return GLOBAL, fault
    return GLOBAL, None


async def _draft(drafts: DraftStore, place: Place, request: Request) -> OpenDraft:
    try:
        draft = await drafts.open(DraftKey.workspace(place.workspace_id, new_id("slot")), place)
    except Fault as fault:
        raise unstored(fault, request.text) from fault
    if request.model:
        drafts.set_settings(draft.id, replace(draft.settings, model=request.model, model_source="explicit"))
    if request.text:
        drafts.edit(draft.id, TextEdit(0, 0, request.text), 0, 0)
    return draft


async def _kept(drafts: DraftStore, draft: OpenDraft, request: Request) -> str:
    """The id of the stored draft, once its text has been read back; else empty."""
    try:
        if not await _is_stored(drafts, draft, request):
            await drafts.save(draft.id)
        return draft.id if await _is_stored(drafts, draft, request) else ""
    except Fault:
        return ""


async def _is_stored(drafts: DraftStore, draft: OpenDraft, request: Request) -> bool:
    row = await drafts.show(draft.id)
    return row is not None and row.content.text == request.text


async def _failed(services: Services, draft: OpenDraft, request: Request, fault: Fault) -> Fault:
    """What is said of ``fault``, by what can be read of the draft and its operation now."""
    if not draft.has_content:
        return fault
    kept = await _kept(services.side.drafts, draft, request)
    if isinstance(fault, RejectedFault):
        return SendFailed(fault, kept)
    try:
        operation = await services.first.latest(draft.id)
    except Fault:
        return SendFailed(EnvironmentFault("dispatch_unknown"), kept)
    handed_over = operation is not None and operation.phase in _HANDED_OVER
    return SendFailed(EnvironmentFault("dispatch_unknown") if handed_over else fault, kept)


async def _stopped(services: Services, draft: OpenDraft, request: Request) -> int:
    """Ctrl+C: the running answer is stopped and what has arrived is kept; before that, the draft is."""
    try:
        operation = await services.first.latest(draft.id)
        if operation is not None and operation.phase is Phase.ACCEPTED:
            await services.controller.stop(operation.session_id)
            say(f"\ninkfast: This was stopped.\nWhat had arrived is kept in conversation {operation.session_id}.")
            return STOPPED
    except Fault:
        operation = None
    kept = await _kept(services.side.drafts, draft, request)
    say("inkfast: This was stopped.")
    if kept:
        say(kept_as(kept))
    return UNKNOWN if operation is not None and operation.phase in _HANDED_OVER else STOPPED


async def _not_accepted(services: Services, request: Request, operation: Operation) -> int:
    detail = {"model": request.model or services.catalogue.default}
    banner = recovery_banner(operation.phase, operation.error_code, detail)
    if banner is not None:
        say(f"inkfast: {banner.title}\n{banner.text}")
    say(kept_as(operation.draft_id))
    if operation.phase in _HANDED_OVER:
        return UNKNOWN
    return REFUSED if operation.phase is Phase.TERMINAL_FAILED else FAILED


def _report(request: Request, operation: Operation, turn: Turn, watcher: Watcher) -> int:
    if request.as_json:
        print_json(
            {
                "session": {
                    "id": operation.session_id,
                    "turn": turn.id,
                    "turn_state": str(turn.state),
                    "error_code": turn.error_code,
                    "answer": watcher.answer,
                }
            }
        )
    elif request.wait:
        watcher.finish()
    else:
        write(operation.session_id + "\n")
    reported = {key: value for key, value in turn.detail.items() if isinstance(value, str | int | float | bool)}
    note = turn_note(turn.state.value, turn.finish_reason, turn.error_code, turn.error, reported)
    if note is not None:
        say(f"inkfast: {note.text}")
    return _STATUS.get(turn.state, FAILED)
