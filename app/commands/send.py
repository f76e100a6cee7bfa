"""``inkfast send``: a first execution without a window, through the same path as the button.

The text gets a slot of its own, so that a draft that is being written in a window is never sent or replaced.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from app.banner_texts import recovery_banner
from app.commands.output import print_json
from app.compose import Services
from app.turn_notes import turn_note
from drafts.model import DraftKey, TextEdit
from drafts.open_draft import OpenDraft
from drafts.phases import Operation, Phase
from runtime.base.errors import Fault, RejectedFault
from runtime.base.handover import Place
from runtime.base.ids import new_id
from runtime.sessions.events import ItemAppended, ItemExtended, ItemSettled, SessionEvent, TurnChanged
from runtime.sessions.fold import ConversationFold
from runtime.sessions.model import Turn, TurnState
from runtime.workspaces.registry import GLOBAL

_FAILED, _REFUSED, _UNKNOWN = 1, 3, 4
_STATUS = {TurnState.COMPLETED: 0, TurnState.UNKNOWN: _UNKNOWN}


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line asked for."""

    text: str
    workspace: str | None
    model: str
    effort: str
    wait: bool
    as_json: bool


async def run(services: Services, request: Request) -> int:
    """Send, then stay until the answer is stored; returns the exit status.

    Raises :class:`RejectedFault` (``empty_draft``, ``model_unavailable``, ``workspace_unavailable``,
    ``setting_unsupported``) before anything was reserved; the text is then kept as a draft.
    """
    place, refusal = await _place(services, request)
    draft = await _draft(services, place, request)
    watcher = _Watcher(services, streams=request.wait and not request.as_json)
    try:
        if refusal is not None:
            raise refusal
        operation = await services.first.submit(services.first.capture(draft.id))
        if operation.phase is not Phase.ACCEPTED:
            return _not_accepted(operation)
        turn = await watcher.end_of(operation.session_id)
    except Fault:
        await _keep(services, draft)
        raise
    finally:
        watcher.close()
    return _report(request, operation, turn, watcher.answer)


async def _place(services: Services, request: Request) -> tuple[Place, Fault | None]:
    """Where it belongs. A refusal is raised only after the text is a draft: what was piped in exists nowhere else."""
    try:
        if request.effort:
            raise RejectedFault("setting_unsupported", option="--effort")
        if request.workspace:
            return await services.workspaces.open_folder(Path(request.workspace).expanduser()), None
    except Fault as fault:
        return GLOBAL, fault
    return GLOBAL, None


async def _draft(services: Services, place: Place, request: Request) -> OpenDraft:
    drafts = services.side.drafts
    draft = await drafts.open(DraftKey.workspace(place.workspace_id, new_id("slot")), place)
    if request.model:
        drafts.set_settings(draft.id, replace(draft.settings, model=request.model, model_source="explicit"))
    if request.text:
        drafts.edit(draft.id, TextEdit(0, 0, request.text), 0, 0)
    return draft


async def _keep(services: Services, draft: OpenDraft) -> None:
    """Confirm the draft and say where it is. Raises :class:`Fault` if it cannot be saved."""
    if draft.has_content:
        await services.side.drafts.save(draft.id)
        sys.stderr.write(f"The text is kept as draft {draft.id}.\n")


def _not_accepted(operation: Operation) -> int:
    banner = recovery_banner(operation.phase, operation.error_code)
    if banner is not None:
        sys.stderr.write(f"inkfast: {banner.title}\n{banner.text}\n")
    sys.stderr.write(f"The text is kept as draft {operation.draft_id}.\n")
    if operation.phase is Phase.DISPATCH_UNKNOWN:
        return _UNKNOWN
    return _REFUSED if operation.phase is Phase.TERMINAL_FAILED else _FAILED


def _report(request: Request, operation: Operation, turn: Turn, answer: str) -> int:
    if request.as_json:
        print_json({"session": {"id": operation.session_id, "turn": turn.id, "turn_state": str(turn.state),
                                "error_code": turn.error_code, "answer": answer}})
    elif request.wait:
        sys.stdout.write("\n")
    else:
        sys.stdout.write(operation.session_id + "\n")
    note = turn_note(turn.state.value, turn.finish_reason, turn.error_code, turn.error)
    if note is not None:
        sys.stderr.write(f"inkfast: {note.label}. {note.text}\n")
    return _STATUS.get(turn.state, _FAILED)


class _Watcher:
    """Folds the conversation's events; streams the answer as it is stored."""

    def __init__(self, services: Services, *, streams: bool) -> None:
        self._sessions = services.sessions
        self._streams = streams
        self._fold = ConversationFold("")
        self._early: list[SessionEvent] = []
        self._printed = 0
        self._ended: asyncio.Future[Turn] = asyncio.get_running_loop().create_future()
        self._unsubscribe = services.sessions.subscribe(self._heard)

    @property
    def answer(self) -> str:
        """Everything the assistant has said so far."""
        return "".join(item.text for item in self._fold.items if item.kind == "assistant")

    async def end_of(self, session_id: str) -> Turn:
        """The conversation's turn once it has ended."""
        self._fold = ConversationFold(session_id)
        self._fold.merge(await self._sessions.items(session_id), await self._sessions.turns(session_id))
        for event in self._early:
            self._fold.apply(event)
        self._early.clear()
        self._show()
        return await self._ended

    def close(self) -> None:
        self._unsubscribe()

    def _heard(self, event: SessionEvent) -> None:
        if not isinstance(event, ItemAppended | ItemExtended | ItemSettled | TurnChanged):
            return
        if not self._fold.session_id:
            self._early.append(event)
            return
        self._fold.apply(event)
        self._show()

    def _show(self) -> None:
        answer = self.answer
        if self._streams and len(answer) > self._printed:
            sys.stdout.write(answer[self._printed:])
            sys.stdout.flush()
            self._printed = len(answer)
        ended = next((turn for turn in self._fold.turns.values() if turn.state.is_terminal), None)
        if ended is not None and not self._ended.done():
            self._ended.set_result(ended)
