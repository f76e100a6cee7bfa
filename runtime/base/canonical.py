"""One byte sequence for one value: canonical JSON and digests over it (RFC 8785).

Used for fingerprints, source digests and "is the stored content what was sent?".
"""

from __future__ import annotations

import hashlib

import rfc8785

from runtime.base.jsontypes import JsonValue

__all__ = ["JsonValue", "canonical_json", "digest"]


def canonical_json(value: JsonValue) -> bytes:
    """UTF-8 bytes with sorted keys and no spaces.

    Raises ``rfc8785.CanonicalizationError`` for NaN, integers beyond 2^53, keys that are not strings and text
    with a lone surrogate.
    """
    return rfc8785.dumps(value)  # type: ignore[arg-type]  # rfc8785 annotates concrete containers only


def digest(value: JsonValue) -> str:
    """Lower-case hexadecimal SHA-256 over :func:`canonical_json`."""
    return hashlib.sha256(canonical_json(value)).hexdigest()
