"""A deterministic host for tests and demonstrations; its answers say that they are scripted.

Models: ``demo`` (a word every 20 ms), ``fast`` (no pauses), ``slow`` (a word every 300 ms), ``fail`` (breaks off
after some words), ``echo`` (repeats the question), ``hold`` (says one word and waits to be stopped).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from runtime.base.clock import Clock
from runtime.base.errors import RejectedFault
from runtime.hosts.faults import HostFault
from runtime.hosts.port import (
    Binding,
    Capabilities,
    HostEvent,
    HostSettings,
    Observed,
    ObservedChanged,
    Prompt,
    PromptEnded,
    TextDelta,
    UsageReported,
)

PAUSES = {"demo": 0.02, "fast": 0.0, "slow": 0.3, "fail": 0.0, "echo": 0.0, "hold": 0.0}
ANSWER = """**Scripted answer.** No model was asked.

It shows what an answer may hold:

1. a list with `code` in it,
2. a table, and
3. a code block.

| draft | session |
|---|---|
| yours alone | accepted once |

```python
def hold(ink: str) -> str:
    return ink + " fast"
```

> What was shown was saved.
"""
_WORDS_BEFORE_FAILURE = 5


class ScriptedHost:
    """Needs no process; ``clock`` paces the words."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def open(self, binding: Binding, settings: HostSettings) -> ScriptedSession:
        """Raises :class:`RejectedFault` ``model_unavailable`` for a script that does not exist."""
        if settings.model not in PAUSES:
            raise RejectedFault("model_unavailable", model=f"scripted:{settings.model}")
        return ScriptedSession(f"scripted-{binding.session_id}", settings.model, self._clock)

    async def close(self) -> None:
        return None


class ScriptedSession:
    """Plays one script."""

    def __init__(self, session_id: str, script: str, clock: Clock) -> None:
        self._id = session_id
        self._script = script
        self._clock = clock
        self._stopped = asyncio.Event()

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities()

    @property
    def observed(self) -> Observed:
        return Observed(self._script, "scripted")

    @property
    def host_session_id(self) -> str:
        return self._id

    async def prompt(self, prompt: Prompt) -> AsyncGenerator[HostEvent, None]:
        self._stopped.clear()
        yield ObservedChanged(self.observed)
        text = f"**Scripted echo.** {prompt.text}" if self._script == "echo" else ANSWER
        pieces = text.splitlines(keepends=True) if self._script == "echo" else _words(text)
        for index, piece in enumerate(pieces):
            if self._stopped.is_set():
                break
            if self._script == "fail" and index == _WORDS_BEFORE_FAILURE:
                raise HostFault("stream_error", "scripted failure", called=True)
            yield TextDelta(piece)
            await self._wait()
        if self._stopped.is_set():
            yield PromptEnded("cancelled")
            return
        yield UsageReported(len(prompt.text.split()), len(pieces))
        yield PromptEnded("completed")

    async def interrupt(self) -> None:
        self._stopped.set()

    async def close(self) -> None:
        self._stopped.set()

    async def _wait(self) -> None:
        if self._script == "hold":
            await self._stopped.wait()
        else:
            await self._clock.sleep(PAUSES[self._script])


def _words(text: str) -> list[str]:
    """Pieces that join to ``text``, each ending after a space or a line."""
    return [word for line in text.splitlines(keepends=True) for word in _split(line)]


def _split(line: str) -> list[str]:
    words = line.split(" ")
    return [f"{word} " for word in words[:-1]] + [words[-1]] if line else []
