"""What the window shows of one conversation besides its text: banner, save state, chips, menus."""

from __future__ import annotations

from collections.abc import Sequence

from app.banner_texts import (
    BannerText,
    conflict_banner,
    discarded_elsewhere_banner,
    recovery_banner,
    save_error_banner,
    turn_banner,
)
from app.composer.models import ModelChoice
from app.composer.panel import ComposerPanel
from app.conversation.status import save_status
from app.first_paint import NEW, Painted, place_name
from app.sentences import sentence
from drafts.model import DraftSettings
from drafts.open_draft import OpenDraft
from drafts.phases import Operation, Phase
from runtime.hosts.catalogue import ModelEntry
from runtime.sessions.model import Session, Turn, TurnState

_QUIET = frozenset({Phase.ACCEPTED, Phase.CANCELLED, Phase.ABANDONED})
_STATES = {
    TurnState.ADMITTED: "starting",
    TurnState.STARTING: "waiting",
    TurnState.RUNNING: "answering",
    TurnState.AWAITING_APPROVAL: "waits for you",
    TurnState.INTERRUPTING: "stopping",
}


def choices(entries: Sequence[ModelEntry]) -> list[ModelChoice]:
    """The picker's rows; why one cannot be chosen is said in words."""
    return [
        ModelChoice(e.reference, e.name, e.note, e.available, "" if e.available else sentence(e.reason).what)
        for e in entries
    ]


def draft_banner(draft: OpenDraft, operation: Operation | None, refusal: BannerText | None) -> BannerText | None:
    """One banner: a text in danger first, then two versions, then the attempt to send, then the last refusal."""
    if draft.status == "discarded":
        return discarded_elsewhere_banner()
    if draft.state == "error" and draft.error_code:
        return save_error_banner(draft.error_code)
    if draft.state == "conflict":
        return conflict_banner()
    if operation is not None and operation.draft_id == draft.id and operation.phase is not Phase.ACCEPTED:
        edited = operation.phase in _QUIET and (draft.is_dirty or draft.revision > operation.draft_revision)
        banner = None if edited else recovery_banner(operation.phase, operation.error_code)
        if banner is not None:
            return banner
    return refusal


def session_banner(draft: OpenDraft, refusal: BannerText | None, last: Turn | None) -> BannerText | None:
    """As :func:`draft_banner`; then what can be done about a last turn that did not end well."""
    first = draft_banner(draft, None, refusal)
    if first is not None or last is None:
        return first
    return turn_banner(last.state.value)


def show_save_state(painted: Painted, panel: ComposerPanel, draft: OpenDraft) -> None:
    """Chip, status line and the window's own mark, all for the version in the editor."""
    panel.set_save_state(draft.state, draft.revision, draft.error_code)
    shown = draft.state if draft.has_content or draft.revision else None
    painted.window.status_line.set_status(save_status(shown, draft.revision, draft.error_code))
    painted.window.setWindowModified(draft.state != "saved")


def show_model(panel: ComposerPanel, entries: Sequence[ModelEntry], settings: DraftSettings, default: str) -> None:
    """The model in force; a default draft shows the live default."""
    inherited = settings.model_source == "default"
    current = default if inherited else settings.model
    title = next((entry.name for entry in entries if entry.reference == default), default)
    panel.set_models(choices(entries), current, inherited, title)


def show_session(painted: Painted, session: Session, workspace: str = "") -> None:
    """Title, place and the model as it was reported."""
    header = painted.session_page.header
    header.set_title(session.title or NEW)
    header.set_workspace(workspace or place_name(session.place))
    reported = session.observed.get("model")
    header.set_model(_model_words(session, reported if isinstance(reported, str) else ""))
    painted.window.status_line.set_host(_host_words(session))
    painted.window.set_subject(session.title or NEW)


def _model_words(session: Session, reported: str) -> str:
    if _provider(session) == "scripted":
        return "scripted, no model"
    return reported or "model not reported"


def _host_words(session: Session) -> str:
    provider = _provider(session)
    if provider == "local":
        return "llama.cpp · on this computer"
    return "scripted demo, no model" if provider == "scripted" else provider


def _provider(session: Session) -> str:
    """The part of the requested model's reference that says who answers."""
    requested = session.requested.get("model")
    return requested.partition(":")[0] if isinstance(requested, str) else ""


def show_turn(painted: Painted, turn: Turn | None) -> None:
    """The state chip, and Stop instead of Send while a turn runs."""
    words = _STATES.get(turn.state, "") if turn is not None else ""
    painted.session_page.header.set_state(words)
    painted.session_page.composer.set_running(bool(words))
    if not words:
        painted.session_page.composer.set_notice("")
