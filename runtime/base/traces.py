"""An exception as facts without content, for logs and crash reports."""

from __future__ import annotations

import traceback
from pathlib import Path

from runtime.base.errors import Fault


def describe(error: BaseException) -> dict[str, object]:
    """An exception without its text: type, code, places from the outermost call on, and what caused it."""
    found: dict[str, object] = {"type": type(error).__qualname__}
    if isinstance(error, Fault):
        found["code"] = error.code
    if isinstance(error, OSError) and error.errno is not None:
        found["errno"] = error.errno
    frames = traceback.extract_tb(error.__traceback__)
    found["places"] = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        found["cause"] = describe(cause)
    return found
