"""What a server offers, asked by GET from the window's process on a person's request."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import httpx2

from runtime.hosts.agent.sources import proxy_for
from runtime.hosts.agent.words import server_words, status_code
from runtime.hosts.faults import HostFault
from runtime.settings.model import Server

_SECONDS = 10.0
_MOST_BYTES = 4 * 1024 * 1024


async def list_models(server: Server, key: str) -> list[str]:
    """Model names in the server's order. Raises :class:`HostFault`, always with ``called=False``."""
    headers = {"user-agent": "Inkfast", **({"authorization": f"Bearer {key}"} if key else {})}
    try:
        async with (
            asyncio.timeout(_SECONDS),
            httpx2.AsyncClient(trust_env=False, proxy=proxy_for(server) or None, follow_redirects=False) as client,
            client.stream("GET", f"{server.base_url}/models", headers=headers) as response,
        ):
            body = await _bounded(response)
    except TimeoutError as error:
        raise HostFault("timed_out", called=False) from error
    except httpx2.HTTPError as error:
        raise HostFault("server_unreachable", str(error), called=False) from error
    if response.status_code != 200:
        raise HostFault(
            status_code(response.status_code), server_words(_json(body)), called=False, status=response.status_code
        )
    return _names(_json(body))


async def _bounded(response: httpx2.Response) -> bytes:
    body = b""
    async for data in response.aiter_bytes():
        body += data
        if len(body) > _MOST_BYTES:
            raise HostFault("server_error", "answer too long", called=False)
    return body


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")


def _names(found: object) -> list[str]:
    entries = cast("dict[str, Any]", found).get("data") if isinstance(found, dict) else None
    if not isinstance(entries, list):
        raise HostFault("server_error", "no list of models", called=False)
    names = [cast("dict[str, Any]", entry).get("id") for entry in cast("list[Any]", entries) if isinstance(entry, dict)]
    return [name for name in names if isinstance(name, str) and name]
