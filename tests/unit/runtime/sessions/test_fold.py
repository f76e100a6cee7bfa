"""Snapshot and events give one list, whatever the order they arrive in."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from runtime.sessions.events import ItemAppended, ItemExtended, ItemSettled, SessionEvent, TurnChanged
from runtime.sessions.fold import ConversationFold
from runtime.sessions.model import Item, Turn, TurnState


def _item(seq: int, text: str, state: str = "final", kind: str = "user") -> Item:
    return Item(f"i{seq}", "s", seq, "t", kind, state, text, {}, "", 1, 0)  # type: ignore[arg-type]


def _turn(state: TurnState) -> Turn:
    return Turn("t", "s", "sub", state, "", "", "own", "", 0, 1 if state.is_terminal else None)


def _history() -> tuple[list[SessionEvent], list[tuple[list[Item], list[Turn]]]]:
    """What happens in a conversation, and what the store holds after each step."""
    events: list[SessionEvent] = []
    states: list[tuple[list[Item], list[Turn]]] = [([], [])]

    def step(items: list[Item], turn: TurnState, *happened: SessionEvent) -> None:
        for event in happened:
            events.append(event)
            states.append((items, [_turn(turn)]))

    user = _item(1, "question")
    step([user], TurnState.ADMITTED, ItemAppended(user))
    step([user], TurnState.ADMITTED, TurnChanged(_turn(TurnState.ADMITTED)))
    step([user], TurnState.RUNNING, TurnChanged(_turn(TurnState.RUNNING)))
    answer = _item(2, "ab", "streaming", "assistant")
    step([user, answer], TurnState.RUNNING, ItemAppended(answer))
    text = "ab"
    for piece in ("cd", "e", "fgh", "i", "jk"):
        event = ItemExtended("s", "i2", len(text), piece)
        text += piece
        step([user, replace(answer, text=text)], TurnState.RUNNING, event)
    done = replace(answer, text=text, state="final")
    step([user, done], TurnState.RUNNING, ItemSettled(done))
    step([user, done], TurnState.COMPLETED, TurnChanged(_turn(TurnState.COMPLETED)))
    return events, states


@given(st.data())
def test_any_interleaving_of_snapshots_and_events_gives_the_same_list(data: st.DataObject) -> None:
    events, states = _history()
    subscribed = data.draw(st.integers(0, len(events)))
    fold = ConversationFold("s")
    snapshots = sorted(data.draw(st.lists(st.integers(subscribed, len(events)), max_size=4)))
    # A snapshot is delivered after every event that was published before it was read, at the latest at the end.
    for index in range(subscribed, len(events)):
        for taken in [snapshot for snapshot in snapshots if snapshot == index]:
            fold.merge(*states[taken])
        fold.apply(events[index])
        if data.draw(st.booleans()):
            fold.apply(events[index])  # twice is once
        if snapshots and data.draw(st.booleans()):
            fold.merge(*states[data.draw(st.sampled_from(snapshots))])  # late, early or old
    fold.merge(*states[max(snapshots, default=len(events))])
    expected_items, expected_turns = states[-1]
    assert fold.items == expected_items
    assert fold.turns == {turn.id: turn for turn in expected_turns}


def test_events_ahead_of_the_snapshot_wait_for_it() -> None:
    fold = ConversationFold("s")
    assert fold.apply(ItemExtended("s", "i2", 2, "cd")) is None
    fold.merge([_item(1, "q"), _item(2, "ab", "streaming", "assistant")])
    assert [item.text for item in fold.items] == ["q", "abcd"]


def test_an_ended_turn_never_shows_running_again() -> None:
    fold = ConversationFold("s")
    fold.apply(TurnChanged(_turn(TurnState.CANCELLED)))
    fold.apply(TurnChanged(_turn(TurnState.RUNNING)))
    fold.merge([], [_turn(TurnState.RUNNING)])
    assert fold.turns["t"].state is TurnState.CANCELLED


def test_an_older_page_goes_in_front() -> None:
    fold = ConversationFold("s")
    fold.merge([_item(4, "d"), _item(5, "e")])
    fold.merge([_item(1, "a"), _item(2, "b"), _item(3, "c")])
    assert [item.seq for item in fold.items] == [1, 2, 3, 4, 5]


def test_another_conversation_s_events_are_ignored() -> None:
    fold = ConversationFold("other")
    for event in _history()[0]:
        assert fold.apply(event) is None
    assert fold.items == [] and fold.turns == {}
