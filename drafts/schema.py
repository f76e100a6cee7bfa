"""The layout of ``desktop/drafts-v1.sqlite``, schema v5 (spec/drafts.md section 3)."""

from __future__ import annotations

import apsw

from runtime.storage.schema import Schema

VERSION = 5
_TABLES = """
CREATE TABLE drafts (
  id TEXT PRIMARY KEY,
  surface TEXT NOT NULL CHECK (surface IN ('workspace','session','dock','form','attached')),
  key TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('project','global')),
  workspace_root TEXT NOT NULL,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  content_json TEXT NOT NULL,
  settings_json TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active','converted','discarded')),
  generation INTEGER NOT NULL,
  journal_writer TEXT NOT NULL DEFAULT '',
  journal_seq INTEGER NOT NULL DEFAULT 0,
  pending_submission_id TEXT NOT NULL DEFAULT '',
  pending_revision INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX drafts_active ON drafts (surface, key) WHERE status = 'active';
CREATE INDEX drafts_recent ON drafts (status, updated_at DESC);

CREATE TABLE operations (
  id TEXT PRIMARY KEY,
  draft_id TEXT NOT NULL REFERENCES drafts (id),
  workspace_id TEXT NOT NULL,
  draft_revision INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  topic_id TEXT NOT NULL,
  submission_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  request_json TEXT NOT NULL,
  execution_json TEXT,
  phase TEXT NOT NULL,
  error_code TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '' CHECK (length(error) <= 500),
  request_id TEXT NOT NULL,
  source_digest TEXT NOT NULL,
  operation_revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX operations_request ON operations (draft_id, request_id);
CREATE UNIQUE INDEX operations_submission ON operations (submission_id);
CREATE INDEX operations_draft ON operations (draft_id, created_at);
CREATE INDEX operations_live ON operations (phase)
  WHERE phase NOT IN ('accepted','terminal_failed','cancelled','abandoned');

CREATE TABLE conflicts (
  id TEXT PRIMARY KEY,
  draft_id TEXT NOT NULL REFERENCES drafts (id),
  expected_revision INTEGER NOT NULL,
  actual_revision INTEGER NOT NULL,
  content_json TEXT NOT NULL,
  settings_json TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX conflicts_draft ON conflicts (draft_id, created_at);

CREATE TABLE revisions (
  draft_id TEXT NOT NULL REFERENCES drafts (id),
  revision INTEGER NOT NULL,
  content_json TEXT NOT NULL,
  settings_json TEXT NOT NULL,
  saved_at INTEGER NOT NULL,
  PRIMARY KEY (draft_id, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE restore_state (
  slot TEXT PRIMARY KEY,
  surface_json TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
"""


def _create(connection: apsw.Connection) -> None:
    connection.execute(_TABLES).fetchall()


SCHEMA = Schema(name="drafts", version=VERSION, application_id=0x494E4B44, create=_create)
