"""What the window shows of one conversation besides its text: banner, save state, chips, menus."""

from __future__ import annotations

from collections.abc import Sequence

from app.banner_texts import BannerText, conflict_banner, recovery_banner, save_error_banner
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
    TurnState.ADMITTED: "starting", TurnState.STARTING: "waiting", TurnState.RUNNING: "answering",
    TurnState.AWAITING_APPROVAL: "waits for you", TurnState.INTERRUPTING: "stopping",
}


def choices(entries: Sequence[ModelEntry]) -> list[ModelChoice]:
    """The picker's rows; why one cannot be chosen is said in words."""
    return [ModelChoice(e.reference, e.name, e.note, e.available, "" if e.available else sentence(e.reason).what)
            for e in entries]


def draft_banner(draft: OpenDraft, operation: Operation | None, refusal: BannerText | None) -> BannerText | None:
    """One banner: a text in danger first, then two versions, then the attempt to send, then the last refusal."""
    if draft.state == "error" and draft.error_code:
        return save_error_banner(draft.error_code)
    if draft.state == "conflict":
        return conflict_banner()
    if operation is not None and operation.draft_id == draft.id and operation.phase is not Phase.ACCEPTED:
        edited = operation.phase in _QUIET and draft.is_dirty
        banner = None if edited else recovery_banner(operation.phase, operation.error_code)
        if banner is not None:
            return banner
    return refusal


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
    header.set_model(reported if isinstance(reported, str) and reported else "model not reported")
    host = session.observed.get("host")
    painted.window.status_line.set_host(host if isinstance(host, str) and host else "")
    painted.window.set_subject(session.title or NEW)


def show_turn(painted: Painted, turn: Turn | None) -> None:
    """The state chip, and Stop instead of Send while a turn runs."""
    words = _STATES.get(turn.state, "") if turn is not None else ""
    painted.session_page.header.set_state(words)
    painted.session_page.composer.set_running(bool(words))
    if not words:
        painted.session_page.composer.set_notice("")
