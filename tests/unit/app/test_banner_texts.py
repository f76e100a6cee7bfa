"""The banner says which row of the recovery table it is and offers only what that row allows."""

from __future__ import annotations

import pytest

from app.banner_texts import (
    RECEIPT_FOUND,
    BannerText,
    conflict_banner,
    discarded_elsewhere_banner,
    recovery_banner,
    save_error_banner,
)
from drafts import operations
from drafts.phases import Phase

SAID = [phase for phase in Phase if phase is not Phase.ACCEPTED]


def _ids(banner: BannerText | None) -> list[str]:
    assert banner is not None
    return [action.id for action in banner.actions]


@pytest.mark.parametrize("phase", SAID)
def test_every_phase_but_accepted_has_a_banner(phase: Phase) -> None:
    banner = recovery_banner(phase, "host_unavailable")
    assert banner is not None and banner.title and banner.text
    assert sum(action.primary for action in banner.actions) <= 1


def test_no_operation_and_an_accepted_one_need_no_banner() -> None:
    assert recovery_banner(None) is None
    assert recovery_banner(Phase.ACCEPTED) is None


def test_an_interrupted_send_offers_continue_and_keep_as_draft() -> None:
    banner = recovery_banner(Phase.RESUME_REQUIRED)
    assert _ids(banner) == ["continue", "cancel"]
    assert banner is not None and banner.title == "You were interrupted before this was sent."


def test_a_failed_host_names_the_reason_and_offers_the_same_send_again() -> None:
    banner = recovery_banner(Phase.RUNTIME_FAILED, "model_missing", detail={"model": "qwen3"})
    assert banner is not None and "qwen3" in banner.title
    assert [action.label for action in banner.actions] == ["Try again", "Keep as draft"]


def test_an_unknown_outcome_is_never_offered_to_be_resumed() -> None:
    banner = recovery_banner(Phase.DISPATCH_UNKNOWN)
    assert _ids(banner) == ["check_again", "send_as_new", "keep_as_draft"]
    assert banner is not None and banner.tone == "warn" and "not known" in banner.title


@pytest.mark.parametrize("phase", [Phase.RESERVED, Phase.STARTING, Phase.DISPATCHING, Phase.DISPATCHING_SHELL])
def test_work_in_progress_can_be_cancelled(phase: Phase) -> None:
    banner = recovery_banner(phase)
    assert _ids(banner) == ["cancel"]
    assert banner is not None and banner.busy


def test_a_requested_cancel_claims_nothing_and_offers_nothing() -> None:
    banner = recovery_banner(Phase.CANCEL_REQUESTED)
    assert _ids(banner) == []
    assert banner is not None and "not sent" not in banner.text and "Nothing" not in banner.text


def test_a_terminal_failure_leaves_editable_text_and_a_new_send() -> None:
    banner = recovery_banner("terminal_failed", "session_busy")
    assert _ids(banner) == ["send"]
    assert banner is not None and "can be changed" in banner.text


@pytest.mark.parametrize("code", ["session_archived", "session_trashed", "session_erased"])
def test_a_lifecycle_conflict_names_what_became_of_the_conversation(code: str) -> None:
    banner = recovery_banner(Phase.TERMINAL_FAILED, code)
    assert _ids(banner) == ["new_conversation"]
    assert banner is not None and banner.title.startswith("The conversation that this was going to was ")


def test_an_unknown_outcome_claims_nothing_even_if_its_conversation_was_erased() -> None:
    banner = recovery_banner(Phase.DISPATCH_UNKNOWN, "session_erased")
    assert banner is not None and "was erased" in banner.text
    assert "nothing was sent" not in banner.text.lower() and "check_again" in _ids(banner)


def test_what_is_in_the_way_of_continuing_is_said_with_the_interruption() -> None:
    banner = recovery_banner(Phase.RESUME_REQUIRED, "workspace_unavailable")
    assert banner is not None and "folder of this workspace is not available" in banner.text
    assert _ids(banner) == ["continue", "cancel"]


def test_a_receipt_that_turns_up_late_is_told() -> None:
    assert RECEIPT_FOUND == operations.RECEIPT_FOUND
    banner = recovery_banner(Phase.ABANDONED, RECEIPT_FOUND)
    assert banner is not None and banner.title == "The earlier send did arrive."


def test_a_conflict_says_that_both_texts_are_safe() -> None:
    assert "Both texts are safe" in conflict_banner().text


def test_a_save_error_says_that_the_text_is_in_memory_and_offers_a_copy() -> None:
    banner = save_error_banner("disk_full")
    assert banner.title == "The disk is full."
    assert "not saved yet" in banner.text and _ids(banner) == ["save_copy"]


def test_a_draft_discarded_elsewhere_keeps_what_is_seen() -> None:
    assert "still here" in discarded_elsewhere_banner().text
