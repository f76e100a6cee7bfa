"""Advisory file locks: no heartbeat, no expiry; the system frees them with the process.

A second process can therefore never declare a live worker interrupted (spec/drafts.md, "Leases").
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import filelock

from runtime.base.clock import Clock
from runtime.base.errors import EnvironmentFault
from runtime.storage.lockfiles import Kind, lease_path, looks_held

_POLL_SECONDS = 0.02
_SWEPT_AT_MOST = 500
_ONCE: tuple[Kind, ...] = ("request", "publication")


@dataclass(slots=True)
class Lease:
    """A held lease. ``release`` is harmless when repeated."""

    kind: Kind
    _lock: filelock.BaseFileLock

    def release(self) -> None:
        self._lock.release()


class LeaseBook:
    """Takes leases below one folder; file names are hashes of the resolved identity."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def try_acquire(self, kind: Kind, *identity: str) -> Lease | None:
        """The lease, or None while anyone (this process included) holds it.

        Raises :class:`EnvironmentFault` ``lease_unavailable`` if the lock file cannot be used.
        """
        return self._take(kind, self._path(kind, identity))

    def _take(self, kind: Kind, path: Path) -> Lease | None:
        # No soft fallback: a marker file would outlive a killed holder, which is what leases exist to avoid.
        lock = filelock.FileLock(
            os.fspath(path),
            mode=0o600,
            thread_local=False,
            fallback_to_soft=False,
            preserve_lock_file=True,
        )
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            return None
        except (OSError, NotImplementedError) as error:
            raise EnvironmentFault("lease_unavailable", errno=getattr(error, "errno", None)) from error
        return Lease(kind, lock)

    async def acquire(self, kind: Kind, *identity: str, seconds: float) -> Lease | None:
        """Wait up to ``seconds`` for the lease; None if it is still held then."""
        deadline = self._clock.monotonic() + seconds
        while True:
            lease = self.try_acquire(kind, *identity)
            if lease is not None or self._clock.monotonic() >= deadline:
                return lease
            await self._clock.sleep(_POLL_SECONDS)

    def is_held(self, kind: Kind, *identity: str) -> bool:
        """Whether a live process holds the lease right now.

        Looking shares the lock for an instant: two lookers never meet, but a ``try_acquire`` in that instant fails.
        """
        return looks_held(self._folder, kind, *identity)

    def forget(self, kind: Kind, *identity: str) -> None:
        """Remove the file of a free lease whose identity is never used again."""
        with contextlib.suppress(OSError):
            self._path(kind, identity).unlink(missing_ok=True)

    def sweep(self, at_most: int = _SWEPT_AT_MOST) -> int:
        """Remove files that nobody holds, for identities that come once: a send, an operation.

        Each is removed by its holder, and the lock library gives up a lock whose file has gone, so nobody ever
        holds a lease that another one can take too. Workers' and owners' files stay: those try once and do not wait.
        Returns how many were removed.
        """
        removed = 0
        for kind in _ONCE:
            for path in islice(self._folder.glob(f"{kind}-*.lock"), at_most - removed):
                with contextlib.suppress(EnvironmentFault, OSError):
                    lease = self._take(kind, path)
                    if lease is None:
                        continue
                    try:
                        path.unlink()
                        removed += 1
                    finally:
                        lease.release()
        return removed

    def _path(self, kind: Kind, identity: tuple[str, ...]) -> Path:
        return lease_path(self._folder, kind, identity)
