"""``inkfast models list|add``: no host is started, no server is asked."""

from __future__ import annotations

import sys
from pathlib import Path

from app.commands.output import print_json, print_lines
from app.compose import load_settings
from app.sentences import sentence
from runtime.base.errors import Fault
from runtime.base.folder import DataFolder
from runtime.hosts.catalogue import ModelCatalogue
from runtime.hosts.engine.adding import AddProgress, add_model
from runtime.hosts.engine.weights import LocalModels


def show(folder: DataFolder, as_json: bool) -> int:
    """Every model that can be chosen, with why one cannot."""
    settings = load_settings(folder, _raise)
    catalogue = ModelCatalogue(settings, LocalModels(folder.models))
    entries = catalogue.entries()
    if as_json:
        print_json(
            {
                "models": [
                    {
                        "id": e.reference,
                        "title": e.name,
                        "note": e.note,
                        "available": e.available,
                        "reason": e.reason,
                        "default": e.reference == catalogue.default,
                    }
                    for e in entries
                ]
            }
        )
        return 0
    for entry in entries:
        mark = "*" if entry.reference == catalogue.default else " "
        why = "" if entry.available else f"  ({sentence(entry.reason).what})"
        print_lines([f"{mark} {entry.reference}  {entry.name}{'  ' + entry.note if entry.note else ''}{why}"])
    return 0


async def add(folder: DataFolder, file: str, as_json: bool) -> int:
    """Copy a GGUF file into the models folder, whole or not at all."""
    shown = _Progress()
    model = await add_model(Path(file).expanduser(), LocalModels(folder.models), shown.update)
    shown.end()
    reference = f"local:{model.name}"
    if as_json:
        print_json({"model": {"id": reference, "title": model.title, "size_bytes": model.size_bytes}})
    else:
        print_lines([f"Added {reference}."])
    return 0


class _Progress:
    """Per cent on a terminal's error stream; silent elsewhere."""

    def __init__(self) -> None:
        self._shown = -1
        self._visible = sys.stderr.isatty()

    def update(self, progress: AddProgress) -> None:
        percent = 100 * progress.done // max(1, progress.total)
        if self._visible and percent != self._shown:
            self._shown = percent
            sys.stderr.write(f"\r{percent:3d} %")
            sys.stderr.flush()

    def end(self) -> None:
        if self._shown >= 0:
            sys.stderr.write("\n")


def _raise(error: BaseException) -> None:
    raise error if isinstance(error, Fault) else RuntimeError("settings") from error
