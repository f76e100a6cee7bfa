"""Which models can be chosen: what is configured and what lies on the disk. No network, nothing started."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from runtime.base.errors import Fault, RejectedFault
from runtime.base.import_thread import load
from runtime.hosts.engine.weights import SMALL_MODEL

if TYPE_CHECKING:
    from runtime.hosts.engine.weights import LocalModels
    from runtime.settings.model import Server
    from runtime.settings.store import SettingsStore

BUILT_IN_DEFAULT = f"local:{SMALL_MODEL}"
SCRIPTED = "scripted:demo"


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A choice of the picker. ``reason`` is a code that says why it is not ``available``."""

    reference: str
    name: str
    note: str
    provider: str
    available: bool = True
    reason: str = ""


class ModelCatalogue:
    """The picker's list and the strict resolution of a draft's choice (spec/sessions.md section 6)."""

    def __init__(self, settings: SettingsStore, models: LocalModels) -> None:
        self._settings = settings
        self._models = models

    @property
    def default(self) -> str:
        """What an empty choice means right now; whether it can be used is :meth:`resolve`'s business."""
        return self._settings.current.default_model or BUILT_IN_DEFAULT

    def entries(self) -> list[ModelEntry]:
        """Local models, then servers in their order, then the scripted host; what is known not to work says why."""
        scripted = ModelEntry(SCRIPTED, "Scripted demo", "no model, for trying the program", "scripted")
        return [*self._local(), *self._served(), scripted]

    async def resolve(self, model: str) -> str:
        """The strict reference for a choice; empty is the live default.

        Raises :class:`RejectedFault` ``model_unavailable`` (``reason`` says why): no other model takes its place.
        """
        reference = model or self.default
        if reference.startswith("scripted:") and reference != "scripted:":
            return reference
        for entry in self.entries():
            if entry.reference == reference:
                if entry.available:
                    return reference
                raise RejectedFault("model_unavailable", model=reference, reason=entry.reason)
        raise RejectedFault("model_unavailable", model=reference, reason="unknown")

    async def list_server_models(self, server: Server, key: str = "") -> list[str]:
        """The models that a server offers, by one GET: for "test connection" and the choices of a new server.

        Raises :class:`HostFault` ``server_unreachable``, ``auth_failed``, ``not_found``, ``rate_limited``,
        ``server_error`` or ``timed_out``. Can be cancelled.
        """
        module = await load("runtime.hosts.agent.discovery")
        return cast("list[str]", await module.list_models(server, key))

    def _local(self) -> list[ModelEntry]:
        enabled = self._settings.current.engine_enabled
        reason = "" if enabled else "engine_disabled"
        try:
            found = self._models.all()
        except Fault as fault:
            return [ModelEntry(BUILT_IN_DEFAULT, SMALL_MODEL, "", "local", available=False, reason=fault.code)]
        entries = [
            ModelEntry(f"local:{model.name}", model.title, model.note, "local", enabled, reason) for model in found
        ]
        if not any(entry.reference == BUILT_IN_DEFAULT for entry in entries):
            entries.insert(0, ModelEntry(BUILT_IN_DEFAULT, SMALL_MODEL, "", "local", False, "model_missing"))
        return entries

    def _served(self) -> list[ModelEntry]:
        return [
            ModelEntry(f"{server.id}:{model}", model, server.name, server.id)
            for server in self._settings.current.servers
            for model in server.models
        ]
