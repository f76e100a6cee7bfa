"""Failures of hosts, with the one fact that recovery needs: may the provider have been called?"""

from __future__ import annotations

from runtime.base.errors import EnvironmentFault


class HostFault(EnvironmentFault):
    """``called=False`` proves that no request left; ``called=True`` says only that one may have.

    Codes: ``host_unavailable``, ``host_crashed``, ``model_missing``, ``model_damaged``, ``engine_failed``,
    ``server_unreachable``, ``auth_failed``, ``not_found``, ``rate_limited``, ``server_error``,
    ``stream_error``, ``timed_out``, ``outcome_unknown``. ``message`` may carry the server's own words.
    """

    def __init__(self, code: str, message: str = "", *, called: bool, **detail: str | float | bool | None) -> None:
        super().__init__(code, message, called=called, **detail)
        self.called = called
