"""What a person does to drafts between two kills."""

from __future__ import annotations

from drafts.journal import EditJournal
from drafts.model import DraftKey, DraftSettings, TextEdit
from drafts.open_draft import OpenDraft
from drafts.restore import ACTIVE, surface_object
from drafts.schema import SCHEMA
from drafts.store import DraftStore
from runtime.base.clock import SystemClock
from runtime.base.folder import DataFolder
from runtime.base.handover import Place
from runtime.base.tasks import TaskSupervisor
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook
from tests.crash.harness import painted

GLOBAL = Place("global", "global", "")
PRIMARY = DraftKey.workspace("global")
SECOND = DraftKey.workspace("global", "second")
FOLLOW_UP = DraftKey.session("ses-1")


class Person:
    """Types into one store and reports the text after each key, as the screen would show it."""

    def __init__(self, database: Database, store: DraftStore, tasks: TaskSupervisor) -> None:
        self.database = database
        self.store = store
        self.tasks = tasks
        self.texts: dict[str, str] = {}

    @staticmethod
    async def at(folder: DataFolder) -> Person:
        clock = SystemClock()
        database = await Database.open(folder.drafts_database, SCHEMA)
        tasks = TaskSupervisor("drafts", _fail)
        store = DraftStore(
            database, EditJournal.open(folder.draft_journal), LeaseBook(folder.leases, clock), clock, tasks
        )
        return Person(database, store, tasks)

    async def open(self, key: DraftKey) -> OpenDraft:
        draft = await self.store.open(key, GLOBAL)
        self.show(draft)
        return draft

    def type(self, draft: OpenDraft, text: str) -> None:
        for character in text:
            at = draft.text_units
            width = len(character.encode("utf-16-le")) // 2
            self.store.edit(draft.id, TextEdit(at, 0, character), at + width, at + width)
            self.show(draft)

    def show(self, draft: OpenDraft) -> None:
        self.texts[draft.key.key] = draft.text
        painted(self.texts)

    async def leave(self) -> None:
        await self.store.close()
        await self.tasks.close()
        await self.database.close()


def _fail(error: BaseException) -> None:
    raise error


async def write(folder: DataFolder) -> None:
    """Two drafts, saved and typed on, settings, a restore slot, an earlier version: every ordinary step."""
    person = await Person.at(folder)
    store = person.store
    await store.set_restore(ACTIVE, surface_object(PRIMARY, GLOBAL))
    first = await person.open(PRIMARY)
    person.type(first, "né 👋")
    await store.save(first.id)
    second = await person.open(SECOND)
    person.type(second, "two")
    await store.save(second.id)
    person.type(first, "!")
    store.set_settings(first.id, DraftSettings(model="scripted:demo", model_source="explicit"))
    await store.save(first.id)
    person.type(second, " more")
    person.type(first, " tail")
    await store.clear_restore(ACTIVE)
    store.replace_text(second.id, "replaced")
    person.show(second)
    await store.flush()
    await person.leave()


async def send_follow_up(folder: DataFolder) -> None:
    """A follow-up is noted as pending, admitted elsewhere, and cleared."""
    person = await Person.at(folder)
    draft = await person.open(FOLLOW_UP)
    person.type(draft, "go on")
    saved = await person.store.save(draft.id)
    await person.store.set_pending(draft.id, "sub-1", saved)
    await person.store.clear_after_receipt(draft.id, "sub-1")
    painted("cleared")
    await person.leave()


async def give_up(folder: DataFolder) -> None:
    """A draft is discarded."""
    person = await Person.at(folder)
    draft = await person.open(PRIMARY)
    person.type(draft, "never mind")
    saved = await person.store.save(draft.id)
    await person.store.discard(draft.id, saved.revision)
    painted("discarded")
    await person.leave()


async def collide(folder: DataFolder) -> None:
    """Two processes edit one draft; the second one loses."""
    mine, theirs = await Person.at(folder), await Person.at(folder)
    draft = await mine.open(PRIMARY)
    mine.type(draft, "base ")
    await mine.store.save(draft.id)
    other = await theirs.store.open(PRIMARY, GLOBAL)
    theirs.store.edit(other.id, TextEdit(5, 0, "theirs"), 11, 11)
    await theirs.store.save(other.id)
    mine.type(draft, "mine")
    await mine.store.save(draft.id)
    for conflict in await mine.store.conflicts(draft.id):
        await mine.store.keep_mine(draft.id)
        await mine.store.drop_conflict(conflict.id)
    await mine.leave()
    await theirs.leave()


async def look(folder: DataFolder) -> None:
    """Start, recover, read, and leave without a word."""
    person = await Person.at(folder)
    await person.store.recover_journals()
    for summary in await person.store.summaries():
        await person.open(summary.key)
    await person.leave()
