"""Snapshot v5: what makes two requests the same, and what is refused."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from drafts.model import DraftContent, DraftSettings
from drafts.snapshot import Snapshot, fingerprint, freeze, read_snapshot, request_object, source_digest
from runtime.base.errors import EnvironmentFault, RejectedFault
from runtime.base.handover import Place

PLACE = Place("global", "global")
CONTENT = DraftContent("plan", 4, 4, {"attachments": [{"name": "a.txt"}, {"name": "b.txt"}]})
SETTINGS = DraftSettings(model="local:small", model_source="default", sampling={"temperature": 0.5})


def frozen(content: DraftContent = CONTENT, settings: DraftSettings = SETTINGS, request: str = "req-1") -> Snapshot:
    return freeze(request, PLACE, content, settings)


def test_fingerprint_is_the_sha256_of_the_canonical_request_with_its_volatile_members_blanked() -> None:
    expected = json.dumps(
        {
            "version": 5,
            "request_id": "",
            "source": [],
            "place": {"workspace_id": "global", "scope": "global", "root": ""},
            "content": {"text": "plan", "attachments": [{"name": "a.txt"}, {"name": "b.txt"}]},
            "settings": {
                "model": "",
                "model_source": "default",
                "instructions": "",
                "sampling": {"temperature": 0.5},
                "effort": "",
            },
        },
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    assert fingerprint(frozen()) == hashlib.sha256(expected.encode()).hexdigest()


@pytest.mark.parametrize(
    "same",
    [
        frozen(request="req-2"),
        frozen(replace(CONTENT, text="  plan\n")),
        frozen(replace(CONTENT, caret=0, anchor=2)),
        frozen(settings=replace(SETTINGS, model="scripted:demo")),
    ],
)
def test_request_id_outer_blanks_caret_and_inherited_model_do_not_change_the_fingerprint(same: Snapshot) -> None:
    assert fingerprint(same) == fingerprint(frozen())


@pytest.mark.parametrize(
    "other",
    [
        frozen(replace(CONTENT, text="plan b")),
        frozen(replace(CONTENT, parts={"attachments": [{"name": "b.txt"}, {"name": "a.txt"}]})),
        frozen(settings=replace(SETTINGS, model_source="explicit")),
        frozen(settings=replace(SETTINGS, instructions="be brief")),
        freeze("req-1", Place("w1", "project", "/w"), CONTENT, SETTINGS),
    ],
)
def test_text_order_settings_and_place_change_the_fingerprint(other: Snapshot) -> None:
    assert fingerprint(other) != fingerprint(frozen())


def test_source_digest_keeps_the_exact_text_and_drops_preview_urls_and_the_inherited_model() -> None:
    first = source_digest(CONTENT, SETTINGS)
    assert source_digest(replace(CONTENT, text="plan "), SETTINGS) != first
    assert source_digest(CONTENT, replace(SETTINGS, model="")) == first
    previewed = {"attachments": [{"name": "a.txt", "preview_url": "blob:1"}, {"name": "b.txt"}]}
    assert source_digest(replace(CONTENT, parts=previewed), SETTINGS) == first
    explicit = replace(SETTINGS, model_source="explicit")
    assert source_digest(CONTENT, explicit) != source_digest(CONTENT, replace(explicit, model="scripted:demo"))


def test_a_stored_snapshot_reads_back_with_the_resolved_model_and_the_exact_source() -> None:
    snapshot = frozen().with_model("scripted:demo")
    stored = json.loads(json.dumps(request_object(snapshot)))
    read = read_snapshot(stored)
    assert (read.settings.model, read.content.text, read.content.parts, read.place, read.request_id) == (
        "scripted:demo",
        "plan",
        CONTENT.parts,
        PLACE,
        "req-1",
    )
    assert read.source[1]["model"] == "local:small"
    assert "preview" not in json.dumps(request_object(frozen(DraftContent("x", parts={"a": [{"preview_url": "b"}]}))))


@pytest.mark.parametrize("version", [6, 4, None, "5"])
def test_a_snapshot_of_an_unknown_version_is_refused(version: object) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        read_snapshot({**request_object(frozen()), "version": version})  # type: ignore[dict-item]
    assert caught.value.code == "unknown_snapshot_version"


def test_a_snapshot_that_lacks_a_member_is_damaged() -> None:
    with pytest.raises(EnvironmentFault) as caught:
        read_snapshot({"version": 5})
    assert caught.value.code == "record_damaged"


def test_text_that_is_not_unicode_cannot_be_sent() -> None:
    with pytest.raises(RejectedFault) as caught:
        fingerprint(frozen(DraftContent("\ud800")))
    assert caught.value.code == "text_unsendable"
