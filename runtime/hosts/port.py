"""The port to everything that executes turns (spec/sessions.md section 5).

A host owns model, tools and sandbox; Inkfast owns identity, acceptance, order, recovery and presentation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a host session can do. ``context_tokens`` is the model's reported window, None if not reported."""

    steer: bool = False
    resume: bool = False
    images: bool = False
    keeps_history: bool = False
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Binding:
    """Which conversation and folder a host session serves."""

    session_id: str
    workspace_root: str
    host_session_id: str = ""


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Requested settings. ``model`` is the part of the reference after the provider."""

    model: str
    instructions: str = ""
    sampling: Mapping[str, float] = field(default_factory=dict[str, float])
    effort: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """What the host reports about itself; empty means "not reported"."""

    model: str = ""
    host: str = ""


@dataclass(frozen=True, slots=True)
class HistoryMessage:
    """One earlier message of the selected branch."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a host is asked once per receipt. No draft, operation or submission id is in it."""

    text: str
    history: tuple[HistoryMessage, ...] = ()


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningSummaryDelta:
    """More of an explicit reasoning summary."""

    text: str


@dataclass(frozen=True, slots=True)
class HostProgress:
    """Something a person may want to see while waiting (``engine_starting``, ``model_loading``)."""

    code: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class ObservedChanged:
    """The host reported its model or name."""

    observed: Observed


@dataclass(frozen=True, slots=True)
class UsageReported:
    """Token counts as the server reported them."""

    input_tokens: int | None
    output_tokens: int | None


EndReason = Literal["completed", "length", "refused", "cancelled", "no_finish_mark"]


@dataclass(frozen=True, slots=True)
class PromptEnded:
    """The last event of a prompt that ended without a fault."""

    reason: EndReason


HostEvent: TypeAlias = TextDelta | ReasoningSummaryDelta | HostProgress | ObservedChanged | UsageReported | PromptEnded


class HostSession(Protocol):
    """One live conversation with a host."""

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def observed(self) -> Observed: ...

    @property
    def host_session_id(self) -> str: ...

    def prompt(self, prompt: Prompt) -> AsyncIterator[HostEvent]:
        """Ask once. Ends with :class:`PromptEnded` or raises.

        Raises :class:`HostFault`; ``called`` says whether the provider may have been reached.
        """
        ...

    async def interrupt(self) -> None:
        """Ask the host to stop the running prompt; the stream then ends with reason ``cancelled``."""
        ...

    async def close(self) -> None: ...


class Host(Protocol):
    """A kind of host, with the processes it owns."""

    async def open(self, binding: Binding, settings: HostSettings) -> HostSession:
        """Start what is needed. Raises :class:`Fault` (``host_unavailable``, ``model_missing`` …)."""
        ...

    async def close(self) -> None:
        """End every child process within a bounded time."""
        ...
