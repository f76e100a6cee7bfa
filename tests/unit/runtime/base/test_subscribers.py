"""Events reach everyone in order; one listener's bug silences nobody."""

from __future__ import annotations

from runtime.base.subscribers import Subscribers


def test_events_reach_subscribers_in_order_until_they_leave() -> None:
    seen: list[tuple[str, int]] = []
    subscribers: Subscribers[int] = Subscribers(lambda error: None)
    leave = subscribers.subscribe(lambda event: seen.append(("a", event)))
    subscribers.subscribe(lambda event: seen.append(("b", event)))
    subscribers.publish(1)
    leave()
    leave()
    subscribers.publish(2)
    assert seen == [("a", 1), ("b", 1), ("b", 2)]


def test_a_listener_that_raises_is_reported_and_the_others_hear() -> None:
    seen: list[int] = []
    bugs: list[BaseException] = []
    subscribers: Subscribers[int] = Subscribers(bugs.append)

    def broken(event: int) -> None:
        raise ValueError(event)

    subscribers.subscribe(broken)
    subscribers.subscribe(seen.append)
    subscribers.publish(1)
    assert seen == [1]
    assert [str(bug) for bug in bugs] == ["1"]


def test_leaving_and_joining_while_an_event_is_under_way_is_safe() -> None:
    seen: list[str] = []
    subscribers: Subscribers[int] = Subscribers(lambda error: None)

    def once(event: int) -> None:
        seen.append("once")
        leave()
        subscribers.subscribe(lambda later: seen.append("late"))

    leave = subscribers.subscribe(once)
    subscribers.publish(1)
    subscribers.publish(2)
    assert seen == ["once", "late"]
