"""What a server said, and what its status means."""

from __future__ import annotations

import json
from typing import Any, cast

from runtime.base.redaction import redact

_MOST_CHARACTERS = 2000
_CODES = {401: "auth_failed", 403: "auth_failed", 404: "not_found", 429: "rate_limited"}


def status_code(status: int) -> str:
    """The code of :class:`~runtime.hosts.faults.HostFault` for an HTTP status that is not 200."""
    return _CODES.get(status, "server_error")


def server_words(body: object) -> str:
    """The server's own message from an error body of any usual shape, at most 2,000 characters.

    Some servers quote the key that they refuse: it is removed before anybody stores or shows the words.
    """
    if isinstance(body, dict):
        members = cast("dict[str, Any]", body)
        for key in ("error", "message", "detail"):
            if members.get(key):
                return server_words(members[key])
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False) if body else ""
    return redact(text[:_MOST_CHARACTERS])
