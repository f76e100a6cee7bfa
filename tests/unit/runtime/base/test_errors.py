"""A fault carries a code and content-free facts."""

from __future__ import annotations

import pytest

from runtime.base.errors import EnvironmentFault, Fault, RejectedFault


def test_a_fault_is_known_by_its_code() -> None:
    fault = EnvironmentFault("disk_full", "No space left on device", errno=28)
    assert (fault.code, str(fault), fault.detail["errno"]) == ("disk_full", "No space left on device", 28)
    assert str(RejectedFault("empty_draft")) == "empty_draft"


def test_facts_cannot_be_changed_afterwards() -> None:
    fault = Fault("code", count=1)
    with pytest.raises(TypeError):
        fault.detail["count"] = 2  # type: ignore[index]


def test_whose_fault_it_is_can_be_told_apart() -> None:
    assert not issubclass(EnvironmentFault, RejectedFault)
    assert not issubclass(RejectedFault, EnvironmentFault)
