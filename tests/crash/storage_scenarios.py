"""What storage does outside a conversation between two kills: a file replaced, a blob kept, a schema brought up."""

from __future__ import annotations

from app.compose import load_settings
from runtime.base.folder import DataFolder
from runtime.storage.blobs import BlobStore
from runtime.storage.database import Database
from tests.crash.harness import painted
from tests.unit.runtime.storage.notes import V1, V2, add

NOTES = "notes.sqlite"
BLOB = b"ink " * 50_000


def _fail(error: BaseException) -> None:
    raise error


async def change_settings(folder: DataFolder) -> None:
    """The theme, twice: each time the whole file is replaced."""
    settings = load_settings(folder, _fail)
    for theme in ("light", "dark"):
        settings.update(theme=theme)
        painted(theme)


async def keep_blob(folder: DataFolder) -> None:
    """The same bytes twice, as two attachments of one picture."""
    store = BlobStore(folder.blobs)
    for _again in range(2):
        painted(store.put(BLOB).digest)


async def make_notes(folder: DataFolder) -> None:
    """A store of an earlier version with something in it."""
    database = await Database.open(folder.root / NOTES, V1)
    await add(database, "kept since version 1")
    await database.close()


async def bring_up(folder: DataFolder) -> None:
    """The next version of the program opens it."""
    database = await Database.open(folder.root / NOTES, V2)
    await database.close()
