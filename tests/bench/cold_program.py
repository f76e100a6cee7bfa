"""B17's program: services without a window, one send to the local engine and then another.

Prints one JSON line: ``first`` and ``second``, each from the send to the first stored and published piece of the
answer, in seconds.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from app.compose import Services, open_drafts, open_services
from drafts.model import DraftKey, TextEdit
from runtime.base.clock import SystemClock
from runtime.base.folder import DataFolder
from runtime.base.ids import new_id
from runtime.hosts.engine.weights import SMALL_MODEL
from runtime.sessions.events import ItemAppended, ItemExtended, SessionEvent, TurnChanged
from runtime.workspaces.registry import GLOBAL


def _raise(error: BaseException) -> None:
    raise error


class Watch:
    """Waits for the first piece of an answer, and for the end of its turn."""

    def __init__(self) -> None:
        self.spoke = asyncio.Event()
        self.ended = asyncio.Event()
        self.state = ""

    def __call__(self, event: SessionEvent) -> None:
        if isinstance(event, ItemExtended) or (isinstance(event, ItemAppended) and event.item.kind == "assistant"):
            self.spoke.set()
        if isinstance(event, TurnChanged) and event.turn.state.is_terminal:
            self.state = f"{event.turn.state} {event.turn.error_code}"
            self.spoke.set()
            self.ended.set()


async def send(services: Services, text: str) -> float:
    """Seconds from the send to the first piece of its answer."""
    drafts = services.side.drafts
    draft = await drafts.open(DraftKey.workspace(GLOBAL.workspace_id, new_id("slot")), GLOBAL)
    drafts.set_settings(draft.id, replace(draft.settings, model=f"local:{SMALL_MODEL}", model_source="explicit"))
    drafts.edit(draft.id, TextEdit(0, 0, text), len(text), len(text))
    watch = Watch()
    forget = services.sessions.subscribe(watch)
    begun = time.perf_counter()
    operation = await services.first.submit(services.first.capture(draft.id))
    await watch.spoke.wait()
    took = time.perf_counter() - begun
    if watch.ended.is_set():
        raise RuntimeError(f"the turn ended without an answer: {watch.state}")
    await services.controller.stop(operation.session_id)
    await watch.ended.wait()
    forget()
    return took


async def main(root: Path, texts: list[str]) -> None:
    side = await open_drafts(DataFolder(root), SystemClock(), _raise)
    services = await open_services(side)
    try:
        await services.reconcile()
        first = await send(services, texts[0])
        second = await send(services, texts[1])
    finally:
        await services.close_hosts()
        await services.close()
        await side.close()
    print(json.dumps({"first": first, "second": second}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
