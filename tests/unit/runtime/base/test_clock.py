"""The machine's clock: milliseconds for records, a monotonic one for durations."""

from __future__ import annotations

import time

from runtime.base.clock import SystemClock


async def test_the_system_clock_tells_wall_time_in_milliseconds_and_never_goes_back() -> None:
    clock = SystemClock()
    assert abs(clock.now_ms() - time.time() * 1000) < 5_000
    before = clock.monotonic()
    await clock.sleep(0.001)
    assert clock.monotonic() >= before + 0.001
