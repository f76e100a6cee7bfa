"""Events below Qt: ``subscribe(callback)`` returns ``unsubscribe``; one bridge turns them into signals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Event = TypeVar("Event")


class Subscribers(Generic[Event]):
    """An ordered list of callbacks for one closed set of frozen event types.

    Publishing runs on the loop's thread, in subscription order. A callback that raises is a bug: the
    exception is handed to ``on_error`` so that the publisher's durable work is never undone by a listener.
    """

    def __init__(self, on_error: Callable[[BaseException], None]) -> None:
        self._callbacks: dict[int, Callable[[Event], None]] = {}
        self._next = 0
        self._on_error = on_error

    def subscribe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Register ``callback``; calling the result twice is harmless."""
        token = self._next
        self._next += 1
        self._callbacks[token] = callback

        def unsubscribe() -> None:
            self._callbacks.pop(token, None)

        return unsubscribe

    def publish(self, event: Event) -> None:
        for callback in list(self._callbacks.values()):
            try:
                callback(event)
            except Exception as error:  # noqa: BLE001 - the dispatcher: one listener must not silence the others
                self._on_error(error)
