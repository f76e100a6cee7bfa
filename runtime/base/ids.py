"""Identities, chosen before the first try so that a retry is recognisable.

UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits, so ids sort roughly by creation.
"""

from __future__ import annotations

import os
import time


def uuid7() -> str:
    """A version 7 UUID of the current millisecond, in the usual form. Light: the first paint needs no uuid module."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80
    value |= 0x7 << 76
    value |= ((random >> 62) & 0xFFF) << 64
    value |= 0b10 << 62
    value |= random & 0x3FFF_FFFF_FFFF_FFFF
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def new_id(prefix: str) -> str:
    """``<prefix>-<uuid7>``, for example ``drf-0193…`` for a draft."""
    return f"{prefix}-{uuid7()}"
