"""Models, servers and theme: what a person chooses, and where it is stored."""

from __future__ import annotations

import re
from dataclasses import replace

from PySide6.QtCore import QObject, Slot

from app.compose import Services
from app.desk import Desk
from app.preferences.dialogs import confirm
from app.preferences.server_dialog import ServerDialog
from app.preferences.server_form import ServerForm, check_base_url, suggested_name
from app.questions import other_model_question
from app.sentences import sentence
from drafts.model import DraftKey
from drafts.open_draft import OpenDraft
from runtime.base.errors import Fault
from runtime.settings.model import Server

_IN_FILE = "This system has no keyring: the key is stored in a file that only you can read."
_NOT_ID = re.compile(r"[^a-z0-9]+")


class Choosing(QObject):
    """Acts on the settings of the visible draft and of the program."""

    def __init__(self, desk: Desk, services: Services) -> None:
        super().__init__(desk)
        self._desk = desk
        self._services = services
        self._dialog: ServerDialog | None = None
        painted = desk.painted
        for panel in (painted.draft_page.composer, painted.session_page.composer):
            panel.model_chosen.connect(self.choose_model)
            panel.add_server_requested.connect(self.add_server)
        painted.draft_page.add_server_requested.connect(self.add_server)
        painted.window.add_server_requested.connect(self.add_server)
        painted.window.theme_chosen.connect(self.choose_theme)
        desk.bridge.settings_changed.connect(self._settings_changed)

    @Slot(str)
    def choose_model(self, reference: str) -> None:
        """Pin a model for the visible draft; empty goes back to the live default."""
        if self._desk.is_session:
            self._desk.spawn("other model", self._other_conversation(reference))
        else:
            self._pin(reference, self._desk.draft)

    def _pin(self, reference: str, draft: OpenDraft | None) -> None:
        if draft is None:
            return
        settings = replace(draft.settings, model=reference, model_source="explicit" if reference else "default")
        try:
            self._desk.side.drafts.set_settings(draft.id, settings)
        except Fault as fault:
            self._desk.say(fault.code, fault)
        self._desk.show_model()

    async def _other_conversation(self, reference: str) -> None:
        """A formal conversation keeps its model; picking another one runs nothing."""
        draft, catalogue = self._desk.draft, self._services.catalogue
        if draft is None or (reference or catalogue.default) == self._desk.requested_model:
            return
        wanted = reference or catalogue.default
        title = next((entry.name for entry in catalogue.entries() if entry.reference == wanted), wanted)
        if await confirm(other_model_question(title), self._desk.painted.window, "new"):
            key = DraftKey.workspace(draft.place.workspace_id)
            await self._desk.show_draft(key, draft.place)
            self._pin(reference, self._desk.side.drafts.find(key))

    @Slot(str)
    def choose_theme(self, choice: str) -> None:
        """The window wears it already; remember it."""
        self._update(theme=choice)

    @Slot()
    def add_server(self) -> None:
        """Open the server form, filled with the server that is configured, if there is one."""
        if self._dialog is not None:
            self._dialog.raise_()
            return
        dialog = ServerDialog(self._desk.painted.window)
        dialog.test_requested.connect(self._test)
        dialog.save_requested.connect(self._save)
        dialog.finished.connect(self._closed)
        self._dialog = dialog
        dialog.open()

    @Slot(object)
    def _test(self, form: ServerForm) -> None:
        self._desk.spawn("test server", self._ask_server(form))

    async def _ask_server(self, form: ServerForm) -> None:
        server = self._server(form)
        try:
            models = await self._services.catalogue.list_server_models(server, form.api_key)
        except Fault as fault:
            if self._dialog is not None:
                words = sentence(fault.code, {"server": server.name, **fault.detail})
                self._dialog.set_test_result(False, f"{words.what} {words.action}")
            return
        if self._dialog is not None:
            found = "1 model" if len(models) == 1 else f"{len(models)} models"
            self._dialog.set_test_result(True, f"The server answers and offers {found}.", models)

    @Slot(object)
    def _save(self, form: ServerForm) -> None:
        self._desk.spawn("save server", self._store(form))

    async def _store(self, form: ServerForm) -> None:
        server = self._server(form)
        current = self._services.settings.current
        try:
            kept = await self._services.secrets.set(server.id, form.api_key) if form.api_key else ""
            servers = (*(one for one in current.servers if one.id != server.id), server)
            self._services.settings.update(servers=servers)
        except Fault as fault:
            if self._dialog is not None:
                self._dialog.set_error(sentence(fault.code, fault.detail).text)
            return
        if self._dialog is not None:
            self._dialog.accept()
        if kept == "file":
            self._desk.note(_IN_FILE)
        if server.models:
            self.choose_model(f"{server.id}:{server.models[0]}")

    def _server(self, form: ServerForm) -> Server:
        """The server of a form; one with the same address keeps its id and its other models."""
        url = check_base_url(form.base_url).url
        known = next((one for one in self._services.settings.current.servers if one.base_url == url), None)
        name = form.name.strip() or suggested_name(url)
        others = tuple(model for model in (known.models if known else ()) if model != form.model)
        models = (form.model, *others) if form.model else others
        return Server(id=known.id if known else self._free_id(name), name=name, base_url=url, models=models)

    def _free_id(self, name: str) -> str:
        taken = {server.id for server in self._services.settings.current.servers} | {"local", "scripted"}
        stem = _NOT_ID.sub("-", name.lower()).strip("-")[:30] or "server"
        candidates = [stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3))]
        return next(candidate for candidate in candidates if candidate not in taken)

    @Slot()
    def _closed(self) -> None:
        self._dialog = None

    @Slot(object)
    def _settings_changed(self, _settings: object) -> None:
        self._services.engine.set_idle_seconds(self._services.settings.current.engine_idle_seconds)
        self._desk.show_model()

    def _update(self, **changes: object) -> None:
        try:
            self._services.settings.update(**changes)
        except Fault as fault:
            self._desk.say(fault.code, fault)
