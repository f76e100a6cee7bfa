"""Tables of ``state-v1.sqlite`` that belong to the project tree: workspaces and topics.

A topic is the row of a conversation in the tree and owns its title. Order, pin and group come with the
features that use them.
"""

from __future__ import annotations

TABLES = """
CREATE TABLE workspaces (
  id TEXT PRIMARY KEY,
  scope TEXT NOT NULL CHECK (scope IN ('project','global')),
  root TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  CHECK ((scope = 'global') = (root = ''))
) STRICT;
INSERT INTO workspaces (id, scope, root, name, created_at) VALUES ('global', 'global', '', '', 0);

CREATE TABLE topics (
  id TEXT PRIMARY KEY,
  workspace_id TEXT REFERENCES workspaces (id),
  title TEXT NOT NULL DEFAULT '',
  title_source TEXT NOT NULL DEFAULT 'none' CHECK (title_source IN ('none','first_line','job','manual')),
  created_at INTEGER NOT NULL
) STRICT;
"""
