"""Errors that carry a code and say whose fault they are.

A leaf derives from :class:`EnvironmentFault` (the world is in the way: retryable, shown) or from
:class:`RejectedFault` (the person's input cannot be used: shown). Any other exception is a bug and
reaches the excepthook. Sentences for people are made in ``app/`` from ``code`` and ``detail``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


class Fault(Exception):
    """Root of every expected failure.

    ``code`` is a stable snake_case word from the specification; ``detail`` holds content-free facts
    (counts, phases, model names), never text, titles, credentials or paths outside the data folder.
    """

    def __init__(self, code: str, message: str = "", **detail: str | float | bool | None) -> None:
        super().__init__(message or code)
        self.code = code
        self.detail: Mapping[str, str | float | bool | None] = MappingProxyType(detail)


class EnvironmentFault(Fault):
    """Disk, lock, process, network or schema is in the way. Trying again may help; nothing was lost."""


class RejectedFault(Fault):
    """What was asked cannot be done as asked. The refusal proves that nothing happened."""
