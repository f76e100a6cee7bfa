"""What a database file must look like, and how an older one becomes that."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from runtime.base.record import record

Apply = Callable[[apsw.Connection], None]


@record
class Migration:
    """One named forward step: a file of version ``version - 1`` becomes one of ``version``."""

    version: int
    name: str
    apply: Apply


@record
class Schema:
    """The current layout (``create``, at ``version``) and the ordered steps that lead to it."""

    name: str
    version: int
    application_id: int
    create: Apply
    migrations: tuple[Migration, ...] = ()

    def path_from(self, found: int) -> tuple[Migration, ...] | None:
        """The steps from version ``found`` to the current one, or None if there is no such path."""
        steps = tuple(step for step in self.migrations if step.version > found)
        expected = tuple(range(found + 1, self.version + 1))
        return steps if tuple(step.version for step in steps) == expected else None
