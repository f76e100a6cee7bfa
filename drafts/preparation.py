"""Steps 2 to 4 of first execution: save, validate, expand. Everything that may refuse before a reservation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from drafts.begin import BeginRequest
from drafts.capture import Capture
from drafts.gateway import SessionGateway
from drafts.model import DraftContent, DraftSettings
from drafts.records import content_object
from drafts.snapshot import Snapshot
from drafts.store import DraftStore
from runtime.base.errors import RejectedFault
from runtime.base.handover import JsonObject, Place

HISTORY_COMMANDS = frozenset({"/new", "/clear", "/compact"})
"""Management commands act on a history that a draft does not have (spec/drafts.md section 8)."""

_NOT_READY = ("missing", "pending")


@dataclass(frozen=True, slots=True)
class Prepared:
    """What *begin* reserves and what is sent: the frozen request and the expanded payload."""

    request: BeginRequest
    execution: JsonObject


async def prepare(store: DraftStore, gateway: SessionGateway, captured: Capture) -> Prepared:
    """Save the captured version, then validate and expand it; nothing is reserved.

    Raises :class:`RejectedFault`: ``conflict``, ``converted``, ``discarded``, ``operation_locked`` (the save lost),
    ``command_unavailable``, ``attachment_unreadable``, ``workspace_unavailable``, ``model_unavailable``.
    """
    revision = await save_captured(store, captured)
    check_commands(captured.content)
    model, execution = await validate(gateway, captured.snapshot)
    draft = store.by_id(captured.draft_id)  # its row may have turned out to be an older one of the same key
    request = BeginRequest(
        captured.draft_id if draft is None else draft.id,
        revision,
        captured.snapshot.with_model(model),
        captured.fingerprint,
        captured.source_digest,
    )
    return Prepared(request, execution)


async def save_captured(store: DraftStore, captured: Capture) -> int:
    """The revision that holds exactly the captured version. Raises :class:`RejectedFault` with the save's outcome."""
    saved = await store.save(captured.draft_id)
    if saved.outcome != "saved":
        raise RejectedFault(saved.outcome)
    if saved.edit_version != captured.edit_version:
        raise RejectedFault("conflict", "the draft changed while it was being captured")
    return saved.revision


async def validate(gateway: SessionGateway, snapshot: Snapshot) -> tuple[str, JsonObject]:
    """The strict model reference and the execution payload. Starts nothing, reserves nothing."""
    check_attachments(snapshot.content)
    await gateway.check_place(snapshot.place)
    model = await resolve(gateway, snapshot.settings)
    return model, await expand(gateway, snapshot.content, snapshot.place)


async def validate_frozen(gateway: SessionGateway, snapshot: Snapshot) -> JsonObject:
    """The payload of a request that is continued: the frozen model must still be that one, never another."""
    frozen = snapshot.settings.model
    check_attachments(snapshot.content)
    await gateway.check_place(snapshot.place)
    if not frozen or await gateway.resolve_model(frozen) != frozen:
        raise RejectedFault("model_unavailable", model=frozen)
    return await expand(gateway, snapshot.content, snapshot.place)


async def resolve(gateway: SessionGateway, settings: DraftSettings) -> str:
    """An inherited model is the live default; an explicit one stays what was chosen (section 7)."""
    if settings.model_source == "default":
        return await gateway.resolve_model("")
    if not settings.model:
        raise RejectedFault("model_unavailable", model="")
    return await gateway.resolve_model(settings.model)


async def expand(gateway: SessionGateway, content: DraftContent, place: Place) -> JsonObject:
    """The execution payload; a refusal keeps its code and loses whatever might name a path."""
    try:
        return await gateway.expand(content_object(content), place)
    except RejectedFault as fault:
        detail = {
            name: value
            for name, value in fault.detail.items()
            if not (isinstance(value, str) and ("/" in value or "\\" in value))
        }
        raise RejectedFault(fault.code, "", **detail) from None


def check_commands(content: DraftContent) -> None:
    """Raises :class:`RejectedFault` ``command_unavailable``; a path that starts with a slash is text."""
    word = content.text.strip().partition("\n")[0].partition(" ")[0]
    if word in HISTORY_COMMANDS:
        raise RejectedFault("command_unavailable", command=word.removeprefix("/"))


def check_attachments(content: DraftContent) -> None:
    """Raises :class:`RejectedFault` ``attachment_unreadable`` for a part that is known to be missing or not ready."""
    attachments = content.parts.get("attachments", ())
    listed = attachments if isinstance(attachments, list | tuple) else ()
    broken = sum(1 for entry in listed if not isinstance(entry, Mapping) or entry.get("state") in _NOT_READY)
    if broken:
        raise RejectedFault("attachment_unreadable", count=broken)
