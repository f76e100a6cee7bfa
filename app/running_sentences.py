"""Failures of what runs: sessions, hosts, the program itself. Data only."""

from __future__ import annotations

from app.sentence_parts import NOTHING_CHANGED, NOTHING_SENT, TEXT_SAFE, Parts

SESSIONS: dict[str, Parts] = {
    "session_busy": (
        "The previous answer is still being written.",
        NOTHING_SENT,
        "Wait for the answer or stop it, then send.",
    ),
    "session_archived": (
        "This conversation is archived.",
        NOTHING_SENT,
        "Unarchive it to go on, or start a new conversation.",
    ),
    "session_trashed": (
        "This conversation is in the trash.",
        NOTHING_SENT,
        "Restore it to go on, or start a new conversation.",
    ),
    "session_erased": (
        "This conversation was erased.",
        NOTHING_SENT,
        "Start a new conversation with this text.",
    ),
    "session_unknown": (
        "This conversation does not exist.",
        NOTHING_CHANGED,
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
    "turn_unknown": (
        "This answer does not exist any more.",
        NOTHING_SENT,
        "Open the conversation again.",
    ),
    "not_last_turn": (
        "Only the last answer of a conversation can be asked for again.",
        NOTHING_SENT,
        "Send a new message instead.",
    ),
    "empty_title": (
        "A title needs at least one visible character.",
        "The title is as it was.",
        "Type a title, then save it.",
    ),
    "content_missing": (
        "The stored message cannot be found.",
        "The rest of the conversation is kept, and nothing was sent.",
        "Send the message again.",
    ),
    "bad_payload": (
        "This message cannot be sent as it is.",
        NOTHING_SENT,
        "Type it again, then send.",
    ),
    "bad_submission_id": (
        "This send has no usable identity.",
        NOTHING_SENT,
        "Send it again.",
    ),
}

HOSTS: dict[str, Parts] = {
    "model_unavailable": (
        "The chosen model is not available: {model}.",
        "Your text is kept, nothing was sent, and no other model was used instead.",
        "Choose another model or add its server.",
    ),
    "model_missing": (
        "The file of {model} is missing.",
        NOTHING_SENT,
        "Add the file with “inkfast models add FILE”, or choose another model.",
    ),
    "model_damaged": (
        "The file of {model} is damaged or not a GGUF model.",
        "Your text is kept, nothing was sent, and the file is left as it is.",
        "Add an intact copy of the file, or choose another model.",
    ),
    "engine_failed": (
        "The local engine did not start.",
        TEXT_SAFE,
        "Try again, or choose another model.",
    ),
    "host_unavailable": (
        "The program that runs this model could not be started.",
        NOTHING_SENT,
        "Try again, or choose another model.",
    ),
    "host_crashed": (
        "The program that runs this model ended unexpectedly.",
        "Your text and what had arrived of the answer are kept; nothing was sent again.",
        "Send again when you are ready.",
    ),
    "server_unreachable": (
        "{server} cannot be reached.",
        TEXT_SAFE,
        "Check that it is running and that its address is right, then try again.",
    ),
    "auth_failed": (
        "{server} refused the API key.",
        TEXT_SAFE,
        "Check the key of this server, then try again.",
    ),
    "not_found": (
        "{server} does not know {model}.",
        TEXT_SAFE,
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
    "context_too_large": (
        "The conversation is larger than what can be handed to the model.",
        "Everything is kept and nothing was sent.",
        "Start a new conversation, or send less text.",
    ),
    "setting_unsupported": (
        "{model} does not support one of the chosen settings.",
        NOTHING_SENT,
        "Clear instructions, sampling and effort, or choose another model.",
    ),
    "file_unreadable": (
        "The file cannot be read.",
        NOTHING_CHANGED,
        "Check the name and its permissions, then try again.",
    ),
    "model_name_unusable": (
        "The name of this file cannot be used as the name of a model.",
        NOTHING_CHANGED,
        "Rename the file, then add it again.",
    ),
    "model_exists": (
        "There is already a model with this name: {model}.",
        "Nothing was changed; the existing file is untouched.",
        "Rename the new file, then add it again.",
    ),
    "models_unreadable": (
        "The folder with the models cannot be read.",
        "Nothing was changed, and no model was used.",
        "Check its permissions, then try again.",
    ),
}

PROGRAM: dict[str, Parts] = {
    "bad_option": (
        "{option} is not understood.",
        NOTHING_CHANGED,
        "Run “inkfast --help” for what can be used.",
    ),
    "output_failed": (
        "The output could not be written.",
        "What is stored is complete.",
        "Check where the output goes, then look with “inkfast sessions list”.",
    ),
    "no_display": (
        "There is no display to open a window on.",
        NOTHING_CHANGED,
        "Use “inkfast send” in the terminal, or start it in a graphical session.",
    ),
    "unsupported_qt": (
        "This pair of Python and Qt is known to stop without warning.",
        "Nothing was opened or changed.",
        "Install the versions that the README names, then start again.",
    ),
    "": (
        "Something did not work.",
        "",
        "Try again; if it happens again, run “inkfast doctor” for a report.",
    ),
}
