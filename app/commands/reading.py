"""``inkfast drafts`` and ``inkfast sessions``: reading never starts a host."""

from __future__ import annotations

from app.commands.output import iso, print_json, print_lines, write
from app.compose import DraftSide
from drafts.model import DraftSummary
from runtime.base.errors import RejectedFault
from runtime.sessions.model import Item, Session
from runtime.sessions.store import SessionStore

_EVERYTHING = 1_000_000


async def list_drafts(side: DraftSide, as_json: bool) -> int:
    """Active drafts with content, newest first."""
    found = [summary for summary in await side.drafts.summaries() if summary.has_content]
    if as_json:
        print_json({"drafts": [_draft_row(summary) for summary in found]})
    else:
        print_lines(
            f"{s.id}  {iso(s.updated_at)}  r{s.revision}  {s.phase or s.save_state}  {s.first_line}" for s in found
        )
    return 0


async def show_draft(side: DraftSide, draft_id: str, as_json: bool) -> int:
    """One draft with its text. Raises ``draft_unknown``."""
    draft = await side.drafts.show(draft_id)
    if draft is None:
        raise RejectedFault("draft_unknown")
    if not as_json:
        text = draft.content.text
        write(text if text.endswith("\n") else text + "\n")
        return 0
    print_json(
        {
            "draft": {
                "id": draft.id,
                "surface": str(draft.key.surface),
                "workspace": draft.place.root,
                "scope": draft.place.scope,
                "revision": draft.revision,
                "status": draft.status,
                "text": draft.content.text,
                "model": draft.settings.model,
                "model_source": draft.settings.model_source,
                "created_at": iso(draft.created_at),
                "updated_at": iso(draft.updated_at),
            }
        }
    )
    return 0


async def discard_draft(side: DraftSide, draft_id: str, as_json: bool) -> int:
    """Discard the revision that is stored now; refused while an operation holds it or another process edits it."""
    draft = await side.drafts.show(draft_id)
    if draft is None or draft.status != "active":
        raise RejectedFault("draft_unknown")
    opened = await side.drafts.open(draft.key, draft.place)
    result = await side.drafts.discard(opened.id, opened.revision)
    if result.outcome != "discarded":
        raise RejectedFault(result.outcome)
    if as_json:
        print_json({"draft": {"id": draft_id, "status": "discarded"}})
    else:
        print_lines([f"Discarded {draft_id}."])
    return 0


async def list_sessions(sessions: SessionStore, as_json: bool) -> int:
    """Conversations, newest activity first."""
    found = await sessions.list(_EVERYTHING)
    if as_json:
        print_json({"sessions": [_session_row(session) for session in found]})
    else:
        print_lines(
            f"{s.id}  {iso(s.last_activity)}  {s.turn_state or '-'}  {s.title or 'New conversation'}" for s in found
        )
    return 0


async def show_session(sessions: SessionStore, session_id: str, as_json: bool) -> int:
    """One conversation with its items in order. Raises ``session_unknown``."""
    session = await sessions.get(session_id)
    if session is None:
        raise RejectedFault("session_unknown")
    items = await sessions.items(session_id, limit=_EVERYTHING)
    turns = await sessions.turns(session_id, limit=_EVERYTHING)
    if not as_json:
        write("".join(f"{item.kind}: {item.text}\n" for item in items))
        return 0
    print_json(
        {
            "session": {
                **_session_row(session),
                "items": [_item_row(item) for item in items],
                "turns": [
                    {
                        "id": turn.id,
                        "state": str(turn.state),
                        "error_code": turn.error_code,
                        "finish_reason": turn.finish_reason,
                        "started_at": iso(turn.started_at),
                        "ended_at": iso(turn.ended_at) if turn.ended_at is not None else None,
                    }
                    for turn in turns
                ],
            }
        }
    )
    return 0


def _draft_row(summary: DraftSummary) -> dict[str, object]:
    return {
        "id": summary.id,
        "surface": str(summary.key.surface),
        "workspace": summary.place.root,
        "scope": summary.place.scope,
        "revision": summary.revision,
        "first_line": summary.first_line,
        "state": summary.save_state,
        "phase": summary.phase,
        "updated_at": iso(summary.updated_at),
    }


def _session_row(session: Session) -> dict[str, object]:
    return {
        "id": session.id,
        "title": session.title,
        "workspace": session.place.root,
        "scope": session.place.scope,
        "requested": dict(session.requested),
        "observed": dict(session.observed),
        "state": str(session.presence),
        "turn_state": str(session.turn_state) if session.turn_state else None,
        "items": session.item_count,
        "created_at": iso(session.created_at),
        "last_activity": iso(session.last_activity),
    }


def _item_row(item: Item) -> dict[str, object]:
    return {
        "id": item.id,
        "seq": item.seq,
        "turn": item.turn_id,
        "kind": item.kind,
        "state": item.state,
        "text": item.text,
        "data": dict(item.data),
        "created_at": iso(item.created_at),
    }
