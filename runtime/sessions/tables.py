"""Tables of ``state-v1.sqlite`` that belong to conversations (spec/sessions.md sections 1 and 2).

The schema itself holds the promises that must survive a bug above it: one live turn per session, a turn ends
once, a stored item does not change, a receipt never changes.
"""

from __future__ import annotations

VERSION = 1
TABLES = """
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  topic_id TEXT NOT NULL REFERENCES topics (id),
  workspace_id TEXT REFERENCES workspaces (id),
  presence TEXT NOT NULL CHECK (presence IN ('unbound','open','archived','trashed','erased')),
  requested_json TEXT NOT NULL,
  observed_json TEXT NOT NULL DEFAULT '{}',
  host_session_id TEXT NOT NULL DEFAULT '',
  last_seq INTEGER NOT NULL DEFAULT 0,
  item_count INTEGER NOT NULL DEFAULT 0,
  turn_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_activity INTEGER NOT NULL,
  accepted_at INTEGER,
  CHECK (presence <> 'open' OR workspace_id IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX sessions_topic ON sessions (topic_id);
CREATE INDEX sessions_recent ON sessions (last_activity DESC, id DESC)
  WHERE presence = 'open' AND accepted_at IS NOT NULL;

CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  number INTEGER NOT NULL,
  submission_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('admitted','starting','running','awaiting_approval','interrupting',
    'completed','interrupted','timed_out','failed','cancelled','unknown')),
  owner TEXT NOT NULL,
  error_code TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '' CHECK (length(error) <= 500),
  finish_reason TEXT NOT NULL DEFAULT '',
  detail_json TEXT NOT NULL DEFAULT '{}',
  started_at INTEGER NOT NULL,
  called_at INTEGER,
  answered_at INTEGER,
  ended_at INTEGER,
  UNIQUE (session_id, number),
  CHECK ((ended_at IS NULL) =
    (state IN ('admitted','starting','running','awaiting_approval','interrupting')))
) STRICT;
CREATE UNIQUE INDEX turns_submission ON turns (submission_id);
CREATE UNIQUE INDEX turns_live ON turns (session_id) WHERE ended_at IS NULL;
CREATE TRIGGER turns_end_once BEFORE UPDATE ON turns WHEN OLD.ended_at IS NOT NULL
  BEGIN SELECT RAISE(ABORT, 'a turn ends once'); END;

CREATE TABLE items (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  seq INTEGER NOT NULL CHECK (seq >= 1),
  turn_id TEXT NOT NULL REFERENCES turns (id),
  kind TEXT NOT NULL CHECK (kind IN ('user','assistant','reasoning_summary','tool_call','tool_result','plan',
    'approval','notice','error')),
  state TEXT NOT NULL CHECK (state IN ('streaming','final','interrupted')),
  parent_item TEXT NOT NULL DEFAULT '',
  branch INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  data_json TEXT NOT NULL DEFAULT '{}',
  text TEXT NOT NULL,
  UNIQUE (session_id, seq)
) STRICT;
CREATE INDEX items_streaming ON items (turn_id) WHERE state = 'streaming';
CREATE TRIGGER items_append_only BEFORE UPDATE ON items WHEN OLD.state <> 'streaming'
  BEGIN SELECT RAISE(ABORT, 'a stored item does not change'); END;

CREATE TABLE item_chunks (
  item_id TEXT NOT NULL REFERENCES items (id),
  start INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (item_id, start)
) STRICT;

CREATE TABLE receipts (
  submission_id TEXT PRIMARY KEY CHECK (length(submission_id) BETWEEN 1 AND 256),
  version INTEGER NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  turn_id TEXT NOT NULL REFERENCES turns (id),
  fingerprint TEXT NOT NULL,
  accepted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER receipts_fixed BEFORE UPDATE ON receipts
  BEGIN SELECT RAISE(ABORT, 'a receipt does not change'); END;
"""
