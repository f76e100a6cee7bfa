"""Who runs a turn: one lease per process, taken at start, freed by the system when the process dies."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.base.errors import EnvironmentFault
from runtime.base.ids import new_id
from runtime.storage.leases import Lease, LeaseBook


@dataclass(frozen=True, slots=True)
class OwnerLease:
    """Proof to other processes that the turns of ``owner_id`` are alive."""

    owner_id: str
    _lease: Lease
    _leases: LeaseBook

    @staticmethod
    def take(leases: LeaseBook) -> OwnerLease:
        """Take a lease under a new owner id. Raises :class:`EnvironmentFault` ``lease_unavailable``."""
        owner_id = new_id("own")
        lease = leases.try_acquire("owner", "process", owner_id)
        if lease is None:
            raise EnvironmentFault("lease_unavailable")
        return OwnerLease(owner_id, lease, leases)

    @property
    def leases(self) -> LeaseBook:
        """Where the owners of other turns can be looked up."""
        return self._leases

    def release(self) -> None:
        """At exit, after the last turn has ended. Harmless when repeated."""
        self._lease.release()
        self._leases.forget("owner", "process", self.owner_id)


def is_alive(leases: LeaseBook, owner_id: str) -> bool:
    """Whether the process that owns a turn lives (this one included)."""
    return leases.is_held("owner", "process", owner_id)
