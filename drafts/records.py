"""Between records and the JSON columns of the drafts store. Unknown members are kept, never dropped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from drafts.model import DraftContent, DraftSettings
from runtime.base.errors import EnvironmentFault
from runtime.base.handover import JsonObject
from runtime.base.jsontypes import JsonValue

_CONTENT = ("text", "caret", "anchor")
_SETTINGS = ("model", "model_source", "instructions", "sampling", "effort")


def content_object(content: DraftContent) -> JsonObject:
    """The JSON object of ``content_json``."""
    return {**content.parts, "text": content.text, "caret": content.caret, "anchor": content.anchor}


def settings_object(settings: DraftSettings) -> JsonObject:
    """The JSON object of ``settings_json``."""
    return {
        **settings.extra,
        "model": settings.model,
        "model_source": settings.model_source,
        "instructions": settings.instructions,
        "sampling": dict(settings.sampling),
        "effort": settings.effort,
    }


def dump(value: JsonObject) -> str:
    """Compact JSON text for a column; falls back to ASCII escapes so that even a lone surrogate survives."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text


def load(text: str) -> dict[str, JsonValue]:
    """A JSON object. Raises :class:`EnvironmentFault` ``record_damaged``."""
    try:
        value: Any = json.loads(text)
    except ValueError as error:
        raise EnvironmentFault("record_damaged", "a stored record is not JSON") from error
    if not isinstance(value, dict):
        raise EnvironmentFault("record_damaged", "a stored record is not an object")
    return cast("dict[str, JsonValue]", value)


def read_content(value: Mapping[str, JsonValue]) -> DraftContent:
    """The content of a JSON object."""
    parts = {name: member for name, member in value.items() if name not in _CONTENT}
    return DraftContent(_text(value, "text"), _whole(value, "caret"), _whole(value, "anchor"), parts)


def read_settings(value: Mapping[str, JsonValue]) -> DraftSettings:
    """The settings of a JSON object; a missing ``model_source`` reads as ``explicit`` if a model is named."""
    model = _text(value, "model")
    source = value.get("model_source", "explicit" if model else "default")
    sampling = value.get("sampling")
    numbers = (
        {name: float(number) for name, number in sampling.items() if isinstance(number, int | float)}
        if isinstance(sampling, Mapping)
        else {}
    )
    return DraftSettings(
        model=model,
        model_source=source if source in ("default", "explicit") else "default",
        instructions=_text(value, "instructions"),
        sampling=numbers,
        effort=_text(value, "effort"),
        extra={name: member for name, member in value.items() if name not in _SETTINGS},
    )


def _text(value: Mapping[str, JsonValue], name: str) -> str:
    member = value.get(name, "")
    return member if isinstance(member, str) else ""


def _whole(value: Mapping[str, JsonValue], name: str) -> int:
    member = value.get(name, 0)
    return member if isinstance(member, int) and not isinstance(member, bool) else 0
