"""``inkfast models add FILE``: bring a GGUF file into the models folder, whole or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.base.ids import new_id
from runtime.hosts.engine.gguf import DamagedWeights, read_header
from runtime.hosts.engine.weights import SMALL_MODEL, LocalModel, LocalModels
from runtime.storage.atomic import sync_folder

_CHUNK = 1024 * 1024
_NAME_LIMIT = 200
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT) if hasattr(errno, "EDQUOT") else (errno.ENOSPC,)


@dataclass(frozen=True, slots=True)
class AddProgress:
    """Bytes copied so far and in all."""

    done: int
    total: int


async def add_model(
    source: Path, models: LocalModels, on_progress: Callable[[AddProgress], None], *, link: bool = False
) -> LocalModel:
    """Check ``source``, bring it into the models folder under its own name, and return the new model.

    With ``link`` a hard link is tried first, which costs no space but shares later changes of the file; across
    file systems it is copied. Control returns to the loop after every MiB; cancelling leaves nothing behind.

    Raises :class:`RejectedFault` ``model_damaged``, ``model_exists``, ``model_name_unusable`` or
    ``file_unreadable``, and :class:`EnvironmentFault` ``disk_full`` or ``write_failed``.
    """
    source = source.absolute()
    size = _checked_size(source)
    target = _free_target(source, models)
    temporary = target.with_name(f".{target.name}.{new_id('tmp')}")
    try:
        models.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (link and _linked(source, temporary)):
            if shutil.disk_usage(models.folder).free < size:
                raise EnvironmentFault("disk_full", "no room for the model", needed=size)
            await _copy(source, temporary, size, on_progress)
        _checked_size(temporary)  # what arrived, in case the source changed meanwhile
        if target.exists():
            raise RejectedFault("model_exists", model=target.stem)
        os.replace(temporary, target)
        sync_folder(target.parent)
    except OSError as error:
        code = "disk_full" if error.errno in _DISK_FULL else "write_failed"
        raise EnvironmentFault(code, str(error), errno=error.errno) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    on_progress(AddProgress(size, size))
    return models.find(target.stem)


def _checked_size(path: Path) -> int:
    """Size in bytes of a whole model file."""
    if path.exists() and not path.is_file():
        raise RejectedFault("file_unreadable", "not a file")
    try:
        read_header(path)
        return path.stat().st_size
    except DamagedWeights as error:
        raise RejectedFault("model_damaged", str(error)) from error
    except OSError as error:
        raise RejectedFault("file_unreadable", error.strerror or "", errno=error.errno) from error


def _free_target(source: Path, models: LocalModels) -> Path:
    """The file's place in the folder; the name becomes part of a model reference and must be sayable."""
    name = source.stem
    target = models.folder / f"{name}.gguf"
    if name.startswith(".") or not name.isprintable() or len(name.encode("utf-8", "replace")) > _NAME_LIMIT:
        raise RejectedFault("model_name_unusable")
    if name == SMALL_MODEL or target.exists() or any(model.name == name for model in models.all()):
        raise RejectedFault("model_exists", model=name)
    return target


def _linked(source: Path, temporary: Path) -> bool:
    try:
        os.link(os.path.realpath(source), temporary)
    except OSError:
        return False
    return True


async def _copy(source: Path, temporary: Path, size: int, on_progress: Callable[[AddProgress], None]) -> None:
    done = 0
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with open(descriptor, "wb", buffering=0) as output, source.open("rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            output.write(chunk)
            done += len(chunk)
            on_progress(AddProgress(done, max(size, done)))
            await asyncio.sleep(0)
        os.fsync(output.fileno())
