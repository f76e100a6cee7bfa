"""What Inkfast's own agent understands beyond the Agent Client Protocol: the ``inkfast`` member of ``_meta``.

Shared by both ends of the pipe. It is the only way by which an API key reaches the child: over standard
input, never on a command line or in an environment.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

META = "inkfast"
MOST_CONTEXT_BYTES = 8 * 1024 * 1024
SAMPLING = frozenset({"temperature", "top_p", "max_tokens", "presence_penalty", "frequency_penalty", "seed"})


class Wire(BaseModel):
    """Frozen and strict: what is not declared here is refused, not guessed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Limits(Wire):
    """Seconds. ``first_token`` None: no limit before the first token, the wait is visible and can be stopped."""

    first_token: float | None = None
    silence: float = 300.0
    after_finish: float = 3.0
    ready: float = 600.0
    probe_pause: float = 0.5


class Endpoint(Wire):
    """Where one model is reached. ``proxy`` is decided by the window's side; the child trusts no environment."""

    base_url: str
    model: str
    api_key: str = Field(default="", repr=False)
    proxy: str = ""
    provider: str = "server"
    limits: Limits = Limits()


class Message(Wire):
    """One earlier message."""

    role: Literal["user", "assistant"]
    text: str


class Question(Wire):
    """Everything a prompt needs besides its own text; the agent keeps no history."""

    endpoint: Endpoint
    instructions: str = ""
    sampling: dict[str, float] = Field(default_factory=dict)
    history: tuple[Message, ...] = ()


class Ended(Wire):
    """How an answer ended, with what the server reported. None and empty mean "not reported"."""

    reason: Literal["completed", "length", "refused", "cancelled", "no_finish_mark"]
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class Failure(Wire):
    """A coded failure. ``called`` False proves that no request left the child."""

    code: str
    message: str = ""
    called: bool
    status: int | None = None
    retry_after: float | None = None
