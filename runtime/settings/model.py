"""Settings as one frozen value. Only what the program reads is in it; every change makes a new one."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

VERSION = 1
RESERVED_PROVIDERS = frozenset({"local", "scripted", "acp", "codex", "shell"})

Theme = Literal["system", "light", "dark"]
SendKey = Literal["enter", "ctrl_enter", "shift_enter"]
ProviderId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Server(_Frozen):
    """A configured OpenAI-compatible server. ``base_url`` ends before ``/chat/completions``; its key is elsewhere."""

    id: ProviderId
    name: Name
    base_url: Annotated[str, Field(max_length=2000)]
    models: tuple[Name, ...] = ()
    trust_proxy: bool = False

    @field_validator("id")
    @classmethod
    def _not_reserved(cls, value: str) -> str:
        if value in RESERVED_PROVIDERS:
            raise ValueError("reserved")
        return value

    @field_validator("base_url")
    @classmethod
    def _plain_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query:
            raise ValueError("not an http(s) address without credentials")
        return value.rstrip("/")


class Settings(_Frozen):
    """Everything that outlives a start. Seconds are seconds; ``default_model`` empty means the small local model."""

    version: Literal[1] = VERSION
    servers: tuple[Server, ...] = ()
    default_model: Annotated[str, Field(max_length=400)] = ""
    theme: Theme = "system"
    send_key: SendKey = "enter"
    engine_enabled: bool = True
    engine_idle_seconds: Annotated[int, Field(ge=0, le=7 * 24 * 3600)] = 600
    silence_seconds: Annotated[int, Field(ge=5, le=24 * 3600)] = 300

    @model_validator(mode="after")
    def _distinct_servers(self) -> Self:
        if any(count > 1 for count in Counter(server.id for server in self.servers).values()):
            raise ValueError("two servers with one id")
        return self

    def server(self, server_id: str) -> Server | None:
        """The server of that id, None if there is none."""
        return next((server for server in self.servers if server.id == server_id), None)
