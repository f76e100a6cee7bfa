"""The newest wish wins (spec/drafts.md section 5)."""

from __future__ import annotations

from app.navigation import Navigation


def test_a_claim_supersedes_every_earlier_one_at_once() -> None:
    navigation = Navigation()
    first = navigation.claim()
    assert navigation.is_newest(first)
    second = navigation.claim()
    assert navigation.is_newest(second) and not navigation.is_newest(first)


def test_looking_at_the_newest_claims_nothing() -> None:
    navigation = Navigation()
    claimed = navigation.claim()
    assert navigation.current() == claimed and navigation.is_newest(claimed)
