"""One call to the session side whose every failure becomes a value: in first execution each one is a phase."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

from runtime.base.errors import Fault, RejectedFault

T = TypeVar("T")
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a call failed. ``refused``: a coded refusal, which proves that nothing happened."""

    code: str
    message: str
    refused: bool


async def attempt(step: str, work: Awaitable[T], fallback: str) -> T | Failed:
    """The value of ``work``, or its failure; one without a code gets ``fallback``.

    An uncoded error is logged and kept by its type alone, because its text may hold anything. Cancellation is
    not a failure and passes.
    """
    try:
        return await work
    except Fault as fault:
        return Failed(fault.code, str(fault), isinstance(fault, RejectedFault))
    except Exception as error:  # noqa: BLE001 - the dispatcher: a host may fail in any way
        log.error("a step failed without a code", extra={"step": step, "error": type(error).__name__})
        return Failed(fallback, type(error).__name__, refused=False)
