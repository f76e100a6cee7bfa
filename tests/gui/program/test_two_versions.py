"""A draft that another process has changed too: both texts are there, and a person can go on (spec/drafts.md 1.6)."""

from __future__ import annotations

import contextlib
import json

import apsw
import pytest

from tests.gui.program.hand import Hand
from tests.gui.program.window_run import Window

_THEIRS = json.dumps({"text": "theirs", "caret": 6, "anchor": 6})


async def _collide(hand: Hand) -> None:
    """Another process commits a revision between two saves of this window."""
    hand.type("mine")
    await hand.saved()
    path = hand.stored.folder.drafts_database
    with contextlib.closing(apsw.Connection(str(path))) as other:
        other.set_busy_timeout(5_000)
        other.execute(
            "UPDATE drafts SET revision = revision + 1, content_json = ? WHERE status = 'active'", (_THEIRS,)
        ).fetchall()
    hand.type(" too")
    await hand.until(lambda: "changed in another window" in hand.said, "words about two versions")


@pytest.mark.parametrize(("action", "text"), [("keep_mine", "mine too"), ("keep_other", "theirs")])
def test_the_chosen_version_stays_and_can_be_sent(window: Window, action: str, text: str) -> None:
    window.settings("scripted:fast")

    async def scenario(hand: Hand) -> None:
        await _collide(hand)
        assert hand.text == "mine too"
        await hand.press(action)
        await hand.until(lambda: hand.banner is None, "no banner any more")
        assert hand.text == text
        hand.enter()
        await hand.until(lambda: hand.is_at(text), "the conversation")
        await hand.until(lambda: not hand.running(), "the end of the answer")

    window.run(scenario)


def test_the_version_that_was_not_chosen_is_still_stored(window: Window) -> None:
    async def scenario(hand: Hand) -> None:
        await _collide(hand)
        await hand.press("keep_other")
        await hand.until(lambda: hand.banner is None, "no banner any more")
        copies = hand.stored.drafts("SELECT json_extract(content_json, '$.text') FROM conflicts")
        assert ("mine too",) in copies

    window.run(scenario)
