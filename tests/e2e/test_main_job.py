"""The main job with the embedded model: write, crash, come back, send once, read a real answer, go on."""

from __future__ import annotations

import pytest

from runtime.base.folder import DataFolder
from tests.crash.invariants import check
from tests.e2e.conftest import Start
from tests.e2e.kit import active_texts, answers, counts, painted_text, wait_gone, write_lock
from tests.fakes.program import rows

SAVED = "Say hello in five words."
MORE = " 请用一句话 né 👋"


@pytest.mark.xvfb
@pytest.mark.engine
@pytest.mark.timeout(240)
def test_a_prompt_survives_a_kill_and_is_sent_once(start: Start, folder: DataFolder) -> None:
    person = start()
    person.type(SAVED)
    person.wait_saved(SAVED)
    with write_lock(folder.drafts_database):  # the kill comes before anything of it can be committed
        person.display.paste(MORE)
        person.wait_written(MORE)
        person.program.kill()
    assert active_texts(folder) == [SAVED]
    assert painted_text(folder) == SAVED + MORE

    person = start()
    assert active_texts(folder) == [SAVED + MORE]
    person.display.key(*["BackSpace"] * len(MORE))  # the small model knows no Chinese: it would ramble
    person.wait_saved(SAVED)
    person.display.key("Return")
    person.read_answer(1)
    assert counts(folder) == {"operations": 1, "receipts": 1, "turns": 1, "sessions": 1}
    assert rows(folder.drafts_database, "SELECT phase FROM operations") == [("accepted",)]
    assert SAVED not in active_texts(folder)
    assert rows(folder.state_database, "SELECT text FROM items ORDER BY seq LIMIT 1") == [(SAVED,)]

    person.send("Say hello again, in two words.")
    person.read_answer(2)
    assert counts(folder) == {"operations": 1, "receipts": 2, "turns": 2, "sessions": 1}
    children = person.children()
    assert children, "the engine and the agent are processes of their own"
    assert person.program.quit() == 0
    wait_gone(children)
    check(folder, texts=[SAVED])
    assert len(answers(folder)) == 2
