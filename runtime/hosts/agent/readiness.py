"""Is the model ready? Asked by GET, so that the one POST happens once and at the right time (case P20)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import httpx2

from runtime.hosts.agent.transport import CallFailed
from runtime.hosts.agent.wire import Endpoint, Failure

_PROBE_SECONDS = 5.0
_LOADING = 503


async def wait_until_ready(
    client: httpx2.AsyncClient, endpoint: Endpoint, loading: Callable[[], Awaitable[None]]
) -> None:
    """Return when ``GET /models`` no longer says 503; ``loading`` is called once if it does.

    Any other answer, a slow one included, says nothing against the POST. Raises :class:`CallFailed`
    (``server_unreachable``, ``timed_out``), always with ``called=False``. Can be cancelled at any time.
    """
    told = False
    clock = asyncio.get_running_loop().time
    deadline = clock() + endpoint.limits.ready
    while await _status(client, endpoint) == _LOADING:
        if not told:
            told = True
            await loading()
        if clock() >= deadline:
            raise CallFailed(Failure(code="timed_out", message="model is still loading", called=False, status=_LOADING))
        await asyncio.sleep(endpoint.limits.probe_pause)


async def _status(client: httpx2.AsyncClient, endpoint: Endpoint) -> int:
    url = endpoint.base_url.rstrip("/") + "/models"
    headers = {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    try:
        async with asyncio.timeout(_PROBE_SECONDS), client.stream("GET", url, headers=headers) as response:
            return response.status_code
    except TimeoutError:
        return 0
    except CallFailed as error:
        if error.failure.code == "server_unreachable":
            raise
        return 0
