"""Failures of what is kept: storage, drafts, settings. Data only."""

from __future__ import annotations

from app.sentence_parts import NOTHING_CHANGED, NOTHING_SENT, UNTOUCHED, Parts

STORAGE: dict[str, Parts] = {
    "data_folder_unusable": (
        "{folder} cannot be created or written.",
        "Nothing was changed; files that are already there are untouched.",
        "Check its permissions, or choose another folder with --data-dir.",
    ),
    "cannot_open": (
        "A database in {folder} cannot be opened.",
        UNTOUCHED,
        "Check that the folder is there and readable, then start again.",
    ),
    "database_locked": (
        "Another program is holding the database.",
        "What was saved is safe; unsaved text stays in the window, which goes on trying to save it.",
        "Close other copies or backup programs that use the data folder.",
    ),
    "database_damaged": (
        "The database is damaged.",
        "It is left untouched, so that what can be read can still be rescued.",
        "Copy the data folder to a safe place, then run “inkfast doctor”.",
    ),
    "disk_full": (
        "The disk is full.",
        "What was saved is safe; unsaved text stays in the window.",
        "Free some space; an open window then saves by itself.",
    ),
    "read_only": (
        "The data folder is read-only.",
        "What was saved is safe; unsaved text stays in the window.",
        "Make {folder} writable; an open window then saves by itself.",
    ),
    "io_error": (
        "The disk reported an error.",
        "What was saved is left as it is; unsaved text stays in the window.",
        "Check the disk, or save a copy of the text as a file.",
    ),
    "future_schema": (
        "The data was written by a newer version of Inkfast.",
        UNTOUCHED,
        "Start the newer version, or choose another data folder.",
    ),
    "unsupported_schema": (
        "The file is not an Inkfast database that this version can read.",
        UNTOUCHED,
        "Choose another data folder, or move the file away.",
    ),
    "write_failed": (
        "A file could not be written.",
        "The earlier version of the file is still complete.",
        "Check free space and permissions of {folder}, then try again.",
    ),
    "record_damaged": (
        "A stored record cannot be read.",
        "It is kept as it is, and everything else still works.",
        "Run “inkfast doctor” for a report.",
    ),
    "lease_unavailable": (
        "Another running copy of Inkfast is working on this.",
        "Nothing was done twice.",
        "Wait until the other copy is done, then try again.",
    ),
    "closed": (
        "The program is closing.",
        "What was saved is safe, and nothing new was begun.",
        "Start Inkfast again to go on.",
    ),
    "sqlite_too_old": (
        "The SQLite library of this installation is too old to be safe.",
        "Nothing was opened or changed.",
        "Install the version that the README names, then start again.",
    ),
    "blob_missing": (
        "The stored content of an attachment is missing.",
        "Everything else is kept as it is.",
        "Add the file again.",
    ),
    "blob_damaged": (
        "The stored content of an attachment is damaged.",
        "It is left as it is, and everything else is kept.",
        "Add the file again.",
    ),
    "bad_digest": (
        "This is not the name of stored content.",
        NOTHING_CHANGED,
        "Add the file again.",
    ),
}

DRAFTS: dict[str, Parts] = {
    "empty_draft": (
        "There is nothing to send yet.",
        NOTHING_CHANGED,
        "Type something first.",
    ),
    "draft_locked": (
        "This draft is being sent and cannot be changed right now.",
        "Its text is kept as it was sent.",
        "Wait for the result, or cancel the send.",
    ),
    "conflict": (
        "This was also changed in another place.",
        "Nothing that was stored is overwritten, and nothing was sent.",
        "Look at what is there now before you go on.",
    ),
    "converted": (
        "This draft has already become a conversation.",
        "Its text is in that conversation.",
        "Open the conversation to go on.",
    ),
    "discarded": (
        "This draft was discarded in another window.",
        "The text that you see is still here.",
        "Copy it into a new conversation if you need it.",
    ),
    "operation_locked": (
        "An earlier send of this draft has not ended yet.",
        "Your text is kept and was not sent again.",
        "Wait for its result, or choose what to do in the banner above the text.",
    ),
    "attachment_unreadable": (
        "{file} cannot be read.",
        NOTHING_SENT,
        "Locate the file again or remove it, then send.",
    ),
    "workspace_unavailable": (
        "The folder of this workspace is not available.",
        NOTHING_SENT,
        "Bring the folder back, or open another one.",
    ),
    "unknown_receipt_version": (
        "The proof of this send was written by a newer version of Inkfast.",
        "It is left as it is and nothing is sent again.",
        "Open this data folder with the newer version.",
    ),
    "unknown_snapshot_version": (
        "This send was prepared by a newer version of Inkfast.",
        "Its text is kept and nothing was sent.",
        "Open this data folder with the newer version, or keep the text as a draft.",
    ),
    "draft_not_open": (
        "This draft is not open.",
        NOTHING_CHANGED,
        "Open it from the list, then try again.",
    ),
    "draft_unknown": (
        "There is no such draft.",
        NOTHING_CHANGED,
        "Run “inkfast drafts list” for those that exist.",
    ),
    "dispatch_unknown": (
        "It is not known whether this was sent.",
        "Your text is kept and is not sent again by itself.",
        "Open its draft to check again or to send it as new.",
    ),
    "receipt_mismatch": (
        "The proof of this send belongs to another conversation.",
        "Your text is kept and is not sent again.",
        "Run “inkfast doctor” for a report.",
    ),
    "command_unavailable": (
        "This command works only in a conversation that has begun.",
        NOTHING_SENT,
        "Remove the command, or send a first message.",
    ),
    "text_unsendable": (
        "The text has a character that cannot be sent.",
        NOTHING_SENT,
        "Remove unusual characters that were pasted, then send.",
    ),
    "attachment_missing": (
        "{file} is not there any more.",
        NOTHING_SENT,
        "Locate the file again or remove it, then send.",
    ),
    "attachment_not_a_file": (
        "{file} is not an ordinary file.",
        NOTHING_SENT,
        "Remove it, then send.",
    ),
    "attachment_escapes": (
        "{file} lies outside the folder of this workspace.",
        NOTHING_SENT,
        "Copy it into the folder, or remove it.",
    ),
    "attachment_symlink": (
        "{file} is reached through a symbolic link, which is not followed.",
        NOTHING_SENT,
        "Add the file itself, or remove it.",
    ),
}

SETTINGS: dict[str, Parts] = {
    "settings_damaged": (
        "The settings file cannot be understood.",
        UNTOUCHED,
        "Correct settings.json, or move it away to start with fresh settings.",
    ),
    "settings_unreadable": (
        "The settings file cannot be read.",
        UNTOUCHED,
        "Check the permissions of settings.json, then try again.",
    ),
    "settings_from_newer": (
        "The settings were written by a newer version of Inkfast.",
        UNTOUCHED,
        "Start the newer version, or move settings.json away.",
    ),
    "setting_invalid": (
        "A setting has a value that cannot be used.",
        NOTHING_CHANGED,
        "Correct the value, then save again.",
    ),
    "keyring_unavailable": (
        "The keyring of this system does not answer.",
        "No key was changed, and nothing was sent.",
        "Unlock the keyring, then try again.",
    ),
    "secrets_unreadable": (
        "The file with the API keys cannot be read.",
        UNTOUCHED,
        "Check its permissions, or enter the keys again after moving it away.",
    ),
}
