"""New conversation, opening, renaming, discarding, folders: what tree and menus ask for. Nothing here sends."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QFileDialog

from app.compose import Services
from app.desk import Desk
from app.navigation import Intent
from app.preferences.dialogs import confirm
from app.questions import discard_question
from app.tree_feed import TreeFeed
from drafts.model import DraftKey
from drafts.open_draft import OpenDraft
from runtime.base.errors import RejectedFault
from runtime.base.handover import Place
from runtime.workspaces.registry import GLOBAL

_LINE = 60


class Moving(QObject):
    """Joins the tree and the menus with the desk."""

    def __init__(self, desk: Desk, services: Services, tree: TreeFeed) -> None:
        super().__init__(desk)
        self._desk = desk
        self._services = services
        self._feed = tree
        window = desk.painted.window
        window.tree.new_conversation_requested.connect(self.new_conversation)
        window.tree.draft_selected.connect(self.open_draft)
        window.tree.session_selected.connect(self.open_session)
        window.tree.open_folder_requested.connect(self.choose_folder)
        window.tree.rename_requested.connect(self.rename)
        window.tree.discard_draft_requested.connect(self.discard_row)
        window.discard_requested.connect(self.discard_visible)
        desk.painted.draft_page.open_folder_requested.connect(self.choose_folder)

    @Slot(str)
    def new_conversation(self, workspace_id: str) -> None:
        """Back to the workspace's one primary draft; never a second blank one (case D02)."""
        self._desk.go("new conversation", partial(self._open_draft, workspace_id))

    @Slot(str)
    def open_draft(self, row_id: str) -> None:
        self._desk.go("open draft", partial(self._open_draft, row_id))

    @Slot(str)
    def open_session(self, session_id: str) -> None:
        self._desk.go("open conversation", partial(self._desk.show_session, session_id))

    @Slot(str)
    def open_folder(self, path: str) -> None:
        """Open ``path`` as a workspace and show its draft."""
        self._desk.go("open folder", partial(self._open_folder, path))

    @Slot()
    def choose_folder(self) -> None:
        dialog = QFileDialog(self._desk.painted.window, "Open a folder as workspace")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.open_folder)
        dialog.open()

    @Slot(str, str)
    def rename(self, session_id: str, title: str) -> None:
        self._desk.spawn("rename", self._rename(session_id, title))

    @Slot()
    def discard_visible(self) -> None:
        if self._desk.draft is not None:
            self._desk.spawn("discard", self._discard(self._desk.draft))

    @Slot(str)
    def discard_row(self, row_id: str) -> None:
        self._desk.spawn("discard", self._discard_row(row_id))

    async def _open_draft(self, row_id: str, intent: Intent) -> None:
        workspace_id, _, slot = row_id.partition("/")
        place = await self._place_of(workspace_id)
        await self._desk.show_draft(DraftKey.workspace(place.workspace_id, slot or "primary"), place, intent)

    async def _open_folder(self, path: str, intent: Intent) -> None:
        place = await self._services.workspaces.open_folder(Path(os.path.abspath(path)))
        self._feed.nudge_all()
        await self._desk.show_draft(DraftKey.workspace(place.workspace_id), place, intent)

    async def _place_of(self, workspace_id: str) -> Place:
        """The workspace of that id. Raises :class:`RejectedFault` ``workspace_unavailable`` if nothing knows it."""
        if workspace_id == GLOBAL.workspace_id:
            return GLOBAL
        registered = await self._services.workspaces.list()
        places = [workspace.place for workspace in registered]
        places += [summary.place for summary in await self._desk.side.drafts.summaries()]
        for place in places:
            if place.workspace_id == workspace_id:
                return place
        raise RejectedFault("workspace_unavailable")

    async def _rename(self, session_id: str, title: str) -> None:
        await self._services.sessions.rename(session_id, title)
        self._feed.nudge_all()

    async def _discard_row(self, row_id: str) -> None:
        workspace_id, _, slot = row_id.partition("/")
        place = await self._place_of(workspace_id)
        key = DraftKey.workspace(place.workspace_id, slot or "primary")
        await self._discard(await self._desk.side.drafts.open(key, place))

    async def _discard(self, draft: OpenDraft) -> None:
        """Draft and revision are captured before the question; what changes meanwhile is not discarded."""
        if not draft.has_content:
            return
        drafts = self._desk.side.drafts
        saved = await drafts.save(draft.id)
        key, place = draft.key, draft.place
        first_line = draft.text.strip().splitlines()[0][:_LINE] if draft.text.strip() else ""
        question = discard_question(first_line, len(draft.text))
        if not await confirm(question, self._desk.painted.window, "discard"):
            return
        result = await drafts.discard(draft.id, saved.revision)
        if result.outcome != "discarded":
            self._desk.say(result.outcome)
        elif self._desk.draft is draft:
            if self._desk.is_session:
                await self._desk.show_session(key.key)
            else:
                await self._desk.show_draft(key, place)
        self._feed.nudge()
