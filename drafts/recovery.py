"""Recovery at startup: what each unfinished operation has become (spec/drafts.md section 6).

Runs after the stores are open and journals are folded. Starts no host, dispatches nothing, and running it
three times in a row gives the same result as once.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from drafts import operations
from drafts.phases import Operation
from drafts.settlement import Outcome, Settled
from drafts.watch import settle_free
from drafts.workbench import Workbench
from runtime.base.errors import Fault

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecoveryReport:
    """What was found, oldest operation first."""

    settled: tuple[Settled, ...]

    @property
    def counts(self) -> Mapping[str, int]:
        """How many operations had each outcome."""
        return Counter(one.outcome.value for one in self.settled)

    def of(self, outcome: Outcome) -> tuple[Settled, ...]:
        """The operations with this outcome."""
        return tuple(one for one in self.settled if one.outcome is outcome)


class Recovery:
    """Applies the table to everything that is unsettled; operations with a live worker are left to it."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench

    async def reconcile(self) -> RecoveryReport:
        """Settle what can be settled. A fault stops one operation, never the others.

        Then the lock files of sends that are over go: there are two of each, and nobody else removes them.
        """
        found = await self._bench.database.read(operations.unsettled)
        report = RecoveryReport(tuple([await self._settle(operation) for operation in found]))
        swept = self._bench.leases.sweep()
        log.info("operations reconciled", extra={"counts": dict(report.counts), "count": swept})
        return report

    async def _settle(self, operation: Operation) -> Settled:
        try:
            return await settle_free(self._bench, operation.id)
        except Fault as fault:
            if not operation.phase.is_editable:
                self._bench.hold(operation)
            return Settled(operation, Outcome.FAILED, fault.code)
