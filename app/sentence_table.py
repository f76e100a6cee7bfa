"""The table behind ``app/sentences.py``: error code to (what happened, what is safe, one action).

Data only, grouped by where a code comes from. ``{name}`` is filled from the fault's detail or a plain word.
The empty code is the answer to a code that nobody has written a sentence for: it promises nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

Parts: TypeAlias = tuple[str, str, str]

_TEXT_SAFE = "Your text is kept."
_NOTHING_SENT = "Your text is kept and nothing was sent."
_NOTHING_CHANGED = "Nothing was changed."
_UNTOUCHED = "The file is left exactly as it is."

_STORAGE: dict[str, Parts] = {
    "data_folder_unusable": (
        "{folder} cannot be created or written.",
        "Nothing was changed; files that are already there are untouched.",
        "Check its permissions, or choose another folder with --data-dir.",
    ),
    "cannot_open": (
        "A database in {folder} cannot be opened.",
        _UNTOUCHED,
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
        _UNTOUCHED,
        "Start the newer version, or choose another data folder.",
    ),
    "unsupported_schema": (
        "The file is not an Inkfast database that this version can read.",
        _UNTOUCHED,
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
}

_DRAFTS: dict[str, Parts] = {
    "empty_draft": (
        "There is nothing to send yet.",
        _NOTHING_CHANGED,
        "Type something first.",
    ),
    "draft_locked": (
        "This draft is being sent and cannot be changed right now.",
        "Its text is kept as it was sent.",
        "Wait for the result, or cancel the send.",
    ),
    "conflict": (
        "This was also changed in another place.",
        "Both versions are kept.",
        "Read both before you go on.",
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
        _NOTHING_SENT,
        "Locate the file again or remove it, then send.",
    ),
    "workspace_unavailable": (
        "The folder of this workspace is not available.",
        _NOTHING_SENT,
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
}

_SESSIONS: dict[str, Parts] = {
    "session_busy": (
        "The previous answer is still being written.",
        _NOTHING_SENT,
        "Wait for the answer or stop it, then send.",
    ),
    "session_archived": (
        "This conversation is archived.",
        _NOTHING_SENT,
        "Unarchive it to go on, or start a new conversation.",
    ),
    "session_trashed": (
        "This conversation is in the trash.",
        _NOTHING_SENT,
        "Restore it to go on, or start a new conversation.",
    ),
    "session_erased": (
        "This conversation was erased.",
        _NOTHING_SENT,
        "Start a new conversation with this text.",
    ),
    "session_missing": (
        "This conversation does not exist.",
        _NOTHING_CHANGED,
        "Choose another one from the list.",
    ),
    "interrupted": (
        "The program ended before the answer was complete.",
        "What had arrived is kept, and nothing was sent again.",
        "Send a message to go on.",
    ),
    "not_started": (
        "The program ended before the model was asked.",
        "Your message is kept, and it never reached the model.",
        "Send it again when you are ready.",
    ),
    "cancelled": (
        "This was stopped.",
        "What had arrived until then is kept.",
        "Send a message to go on.",
    ),
}

_HOSTS: dict[str, Parts] = {
    "model_unavailable": (
        "The chosen model is not available: {model}.",
        "Your text is kept, nothing was sent, and no other model was used instead.",
        "Choose another model or add its server.",
    ),
    "model_missing": (
        "The file of {model} is missing.",
        _NOTHING_SENT,
        "Add the file with “inkfast models add FILE”, or choose another model.",
    ),
    "model_damaged": (
        "The file of {model} is damaged or not a GGUF model.",
        "Your text is kept, nothing was sent, and the file is left as it is.",
        "Add an intact copy of the file, or choose another model.",
    ),
    "engine_failed": (
        "The local engine did not start.",
        _TEXT_SAFE,
        "Try again, or choose another model.",
    ),
    "host_unavailable": (
        "The program that runs this model could not be started.",
        _NOTHING_SENT,
        "Try again, or choose another model.",
    ),
    "host_crashed": (
        "The program that runs this model ended unexpectedly.",
        "Your text and what had arrived of the answer are kept; nothing was sent again.",
        "Send again when you are ready.",
    ),
    "server_unreachable": (
        "{server} cannot be reached.",
        _TEXT_SAFE,
        "Check that it is running and that its address is right, then try again.",
    ),
    "auth_failed": (
        "{server} refused the API key.",
        _TEXT_SAFE,
        "Check the key of this server, then try again.",
    ),
    "not_found": (
        "{server} does not know {model}.",
        _TEXT_SAFE,
        "Check the model name and the address of the server.",
    ),
    "rate_limited": (
        "{server} asked to slow down.",
        "Your text is kept and was not sent a second time.",
        "Try again in {wait}.",
    ),
    "server_error": (
        "{server} answered with an error.",
        "Your text and what had arrived are kept; nothing was sent a second time.",
        "Look at the server, then try again.",
    ),
    "stream_error": (
        "The answer broke off.",
        "What had arrived is kept, and nothing was sent a second time.",
        "Send again if you want a new answer.",
    ),
    "timed_out": (
        "The answer stopped coming.",
        "What had arrived is kept, and nothing was sent a second time.",
        "Check the server, then send again if you want a new answer.",
    ),
    "outcome_unknown": (
        "It cannot be told whether this reached the model.",
        "Your text is kept, and nothing is sent again by itself.",
        "Look at the server before you send it again.",
    ),
    "request_too_large": (
        "The conversation is larger than what can be handed to the model.",
        "Everything is kept and nothing was sent.",
        "Start a new conversation, or send less text.",
    ),
}

_PROGRAM: dict[str, Parts] = {
    "bad_option": (
        "{option} is not understood.",
        _NOTHING_CHANGED,
        "Run “inkfast --help” for what can be used.",
    ),
    "no_display": (
        "There is no display to open a window on.",
        _NOTHING_CHANGED,
        "Use “inkfast send” in the terminal, or start it in a graphical session.",
    ),
    "unsupported_qt": (
        "This pair of Python and Qt is known to stop without warning.",
        "Nothing was opened or changed.",
        "Install the versions that the README names, then start again.",
    ),
    "settings_damaged": (
        "The settings file cannot be read.",
        "It is left as it is, and the program uses its defaults.",
        "Correct the file, or move it away to start with fresh settings.",
    ),
    "": (
        "Something did not work.",
        "",
        "Try again; if it happens again, run “inkfast doctor” for a report.",
    ),
}

SENTENCES: Mapping[str, Parts] = MappingProxyType({**_STORAGE, **_DRAFTS, **_SESSIONS, **_HOSTS, **_PROGRAM})
