"""Imports in a thread of their own while the loop runs. Apart from loading.py because the first paint has no loop."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from types import ModuleType

from runtime.base.loading import load_now


async def load(name: str) -> ModuleType:
    """Import module ``name`` in a named thread of its own and return it; import errors are raised here."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[ModuleType] = loop.create_future()

    def settle(module: ModuleType | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        elif module is not None:
            future.set_result(module)

    def work() -> None:
        module: ModuleType | None = None
        failure: BaseException | None = None
        try:
            module = load_now(name)
        except BaseException as error:  # noqa: BLE001 - carried to the waiting task, never swallowed
            failure = error
        with contextlib.suppress(RuntimeError):  # the program has ended meanwhile: nobody waits any more
            loop.call_soon_threadsafe(settle, module, failure)

    threading.Thread(target=work, name=f"import {name}", daemon=True).start()
    return await future
