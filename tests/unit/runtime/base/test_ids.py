"""Ids are UUIDv7 with a prefix, sorted by their millisecond."""

from __future__ import annotations

import time
import uuid

from runtime.base.ids import new_id, uuid7


def test_an_id_is_a_version_7_uuid_of_this_moment() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid.UUID(uuid7())
    after = time.time_ns() // 1_000_000
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert before <= made.int >> 80 <= after


def test_ids_are_unique_and_carry_their_kind() -> None:
    made = {new_id("drf") for _ in range(10_000)}
    assert len(made) == 10_000
    assert all(one.startswith("drf-") and uuid.UUID(one[4:]).version == 7 for one in made)
