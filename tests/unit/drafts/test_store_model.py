"""A state machine: a person types, saves, navigates, is killed and returns; a second process interferes.

The model is one string for each draft. What the machine checks after every rule: what is on the screen is what
the model says, and after a kill nothing that was typed is missing (as the draft, a copy or an earlier version).
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from drafts.model import DraftKey, TextEdit
from drafts.open_draft import OpenDraft
from runtime.base.folder import DataFolder
from tests.fakes.clock import FakeClock
from tests.unit.drafts.conftest import GLOBAL, Desk

KEYS = [DraftKey.workspace("global"), DraftKey.session("c1")]
PIECES = st.sampled_from(["a", "bc", "👋", "字\n", " ", "\ud83d", "longer words "])


class DraftsMachine(RuleBasedStateMachine):
    """One window, and sometimes another process, over one data folder."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="drafts-model-"))
        self.runner = asyncio.Runner()
        self.clock = FakeClock()
        self.model: dict[DraftKey, str] = dict.fromkeys(KEYS, "")
        self.disturbed: set[DraftKey] = set()

    def _do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    @initialize()
    def start(self) -> None:
        self.folder = DataFolder(self.root)
        self.folder.prepare()
        self.desk: Desk = self._do(Desk.open(self.folder, self.clock))
        self.open: dict[DraftKey, OpenDraft] = {}

    @rule(key=st.sampled_from(KEYS))
    def go_to(self, key: DraftKey) -> None:
        self.open[key] = self._do(self.desk.store.open(key, GLOBAL))

    @rule(key=st.sampled_from(KEYS), text=PIECES, where=st.floats(0, 1), removed=st.integers(0, 3))
    def edit(self, key: DraftKey, text: str, where: float, removed: int) -> None:
        if key not in self.open:
            self.go_to(key)
        draft = self.open[key]
        at = round(where * draft.text_units)
        removed = min(removed, draft.text_units - at)
        units = self.model[key].encode("utf-16-le", "surrogatepass")
        typed = text.encode("utf-16-le", "surrogatepass")
        self.model[key] = (units[: 2 * at] + typed + units[2 * (at + removed) :]).decode("utf-16-le", "surrogatepass")
        self._do(self._edit(draft, TextEdit(at, removed, text)))

    async def _edit(self, draft: OpenDraft, edit: TextEdit) -> None:
        self.desk.store.edit(draft.id, edit, edit.position, edit.position)

    @rule(key=st.sampled_from(KEYS))
    def save(self, key: DraftKey) -> None:
        if key in self.open:
            result = self._do(self.desk.store.save(self.open[key].id))
            assert result.outcome == "saved" or key in self.disturbed

    @rule(seconds=st.sampled_from([0.1, 0.3, 1.2, 61.0]))
    def time_passes(self, seconds: float) -> None:
        self._do(self.clock.advance(seconds))

    @rule(key=st.sampled_from(KEYS))
    def another_process_types(self, key: DraftKey) -> None:
        """It sees what is saved; from then on the window's next edit loses, unless it has nothing unsaved."""

        async def work() -> str:
            other = await Desk.open(self.folder, self.clock)
            draft = await other.store.open(key, GLOBAL)
            other.type(draft, "other ")
            await other.store.save(draft.id)
            await other.close()
            return draft.text

        text = self._do(work())
        if key in self.open:
            self.disturbed.add(key)
        else:
            self.model[key] = text

    @precondition(lambda self: self.disturbed)
    @rule(keep=st.booleans())
    def settle_conflicts(self, keep: bool) -> None:
        for key in sorted(self.disturbed, key=str):
            self.go_to(key)
            draft, mine = self.open[key], self.model[key]
            if keep:
                assert self._do(self.desk.store.keep_mine(draft.id)).outcome == "saved"
            else:
                if draft.is_dirty or draft.conflict_id:
                    self._do(self.desk.store.save(draft.id))
                draft = self.open[key] = self._do(self.desk.store.reload(draft.id))
                self.model[key] = draft.text
                self._somewhere(draft, mine)
        self.disturbed.clear()

    @rule(twice=st.booleans())
    def kill_and_return(self, twice: bool) -> None:
        self._do(self.desk.die())
        self.desk = self._do(Desk.open(self.folder, self.clock))
        if twice:
            first = self._do(self.desk.store.recover_journals())
            assert self._do(self.desk.store.recover_journals()).drafts == 0 or first.postponed
        self.open = {}
        for key in KEYS:
            self.go_to(key)
            if key in self.disturbed:
                self._somewhere(self.open[key], self.model[key])
                self.model[key] = self.open[key].text
        self.disturbed.clear()

    @invariant()
    def the_screen_shows_the_model(self) -> None:
        for key, draft in getattr(self, "open", {}).items():
            assert draft.text.encode("utf-16-le", "surrogatepass") == self.model[key].encode(
                "utf-16-le", "surrogatepass"
            ), key

    def _somewhere(self, draft: OpenDraft, text: str) -> None:
        """Promise 6: the losing text is in the draft, a copy, an earlier version, or pieces in one."""
        earlier = self._do(self.desk.store.earlier(draft.id))
        kept = [
            draft.text,
            *(copy.content.text for copy in self._do(self.desk.store.conflicts(draft.id))),
            *(version.content.text for version in earlier),
        ]
        pieces = [version.content.text for version in earlier if version.revision < 1]
        assert (
            not text.strip()
            or any(text.strip() in one for one in kept)
            or any(all(line in text for line in one.split("\n")) for one in pieces)
        ), (text, kept)

    def teardown(self) -> None:
        if hasattr(self, "desk"):
            self._do(self.desk.close())
        self.runner.close()
        shutil.rmtree(self.root)


DraftsMachine.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestDrafts = DraftsMachine.TestCase
