"""The frozen request of one operation: snapshot v5, its fingerprint and its source digest (spec/drafts.md section 6).

A snapshot is what a retry replays. Its version is independent of the database's; a newer one is refused,
never reinterpreted. Caret and selection are not part of it: moving the caret is not a different request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from rfc8785 import CanonicalizationError

from drafts.model import DraftContent, DraftSettings
from drafts.records import content_object, read_content, read_settings, settings_object
from runtime.base.canonical import JsonValue, digest
from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.base.handover import JsonObject, Place, Scope

VERSION = 5
_VIEW = ("caret", "anchor")
_PREVIEW = frozenset({"preview_url", "previewUrl"})


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What is going to be executed. ``settings.model`` is as chosen until :meth:`with_model` freezes the resolved one.

    ``source`` is ``[content, settings]`` exactly as they stood in the draft.
    """

    request_id: str
    place: Place
    content: DraftContent
    settings: DraftSettings
    source: Sequence[JsonObject]

    def with_model(self, model: str) -> Snapshot:
        """The same request with its strict model reference; the fingerprint is taken before this."""
        return replace(self, settings=replace(self.settings, model=model))


def freeze(request_id: str, place: Place, content: DraftContent, settings: DraftSettings) -> Snapshot:
    """The snapshot of a draft as it stands now; preview URLs are never stored."""
    kept = _object(_without_previews(_without_view(content_object(content))))
    return Snapshot(request_id, place, read_content(kept), settings, (kept, settings_object(settings)))


def fingerprint(snapshot: Snapshot) -> str:
    """SHA-256 of the request without request id, source content and inherited model, text trimmed.

    Raises :class:`RejectedFault` ``text_unsendable`` for text that is not valid Unicode.
    """
    request = dict(request_object(snapshot))
    settings = settings_object(snapshot.settings)
    request["request_id"] = ""
    request["source"] = []
    request["content"] = {**_without_view(content_object(snapshot.content)), "text": snapshot.content.text.strip()}
    request["settings"] = {**settings, "model": ""} if _inherits(snapshot.settings) else settings
    return _digest(request)


def source_digest(content: DraftContent, settings: DraftSettings) -> str:
    """SHA-256 of ``[content, settings]`` with the exact text, without preview URLs and inherited model.

    Raises :class:`RejectedFault` ``text_unsendable``.
    """
    kept = settings_object(settings)
    if _inherits(settings):
        kept = {name: value for name, value in kept.items() if name != "model"}
    return _digest([_without_previews(_without_view(content_object(content))), kept])


def request_object(snapshot: Snapshot) -> JsonObject:
    """The JSON object of ``request_json``."""
    return {
        "version": VERSION,
        "request_id": snapshot.request_id,
        "place": {
            "workspace_id": snapshot.place.workspace_id,
            "scope": snapshot.place.scope,
            "root": snapshot.place.root,
        },
        "content": _without_view(content_object(snapshot.content)),
        "settings": settings_object(snapshot.settings),
        "source": list(snapshot.source),
    }


def read_snapshot(request: JsonObject) -> Snapshot:
    """The snapshot of a stored request.

    Raises :class:`EnvironmentFault` ``unknown_snapshot_version`` or ``record_damaged``.
    """
    version = request.get("version")
    if version != VERSION:
        raise EnvironmentFault("unknown_snapshot_version", known=VERSION)
    place, content, settings = (_object(request.get(name)) for name in ("place", "content", "settings"))
    source = request.get("source")
    return Snapshot(
        request_id=str(request.get("request_id", "")),
        place=Place(str(place.get("workspace_id", "")), cast("Scope", place.get("scope")), str(place.get("root", ""))),
        content=read_content(content),
        settings=read_settings(settings),
        source=[_object(part) for part in source] if isinstance(source, list | tuple) else [],
    )


def _inherits(settings: DraftSettings) -> bool:
    return settings.model_source == "default"


def _digest(value: JsonValue) -> str:
    try:
        return digest(value)
    except CanonicalizationError as error:
        raise RejectedFault("text_unsendable", type(error).__name__) from error


def _object(value: JsonValue) -> JsonObject:
    if not isinstance(value, Mapping):
        raise EnvironmentFault("record_damaged", "a frozen request lacks a member")
    return value


def _without_view(content: JsonObject) -> JsonObject:
    return {name: value for name, value in content.items() if name not in _VIEW}


def _without_previews(value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return {name: _without_previews(member) for name, member in value.items() if name not in _PREVIEW}
    if isinstance(value, list | tuple):
        return [_without_previews(member) for member in value]
    return value
