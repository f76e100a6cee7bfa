"""The one composition root: joins drafts and runtime. Qt-free; the window and the command line use it alike.

The two databases open apart from each other, so that a broken state file never takes unsent text hostage:
:func:`open_drafts` needs the drafts file alone, :func:`open_services` adds the sessions.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from drafts.follow_up import FollowUp
from drafts.journal import EditJournal
from drafts.recovery import Recovery, RecoveryReport
from drafts.schema import SCHEMA as DRAFTS_SCHEMA
from drafts.store import DraftStore
from drafts.submission import FirstExecution
from runtime.base.clock import Clock
from runtime.base.folder import DataFolder
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.catalogue import ModelCatalogue
from runtime.hosts.registry import HostRegistry
from runtime.sessions.controller import SessionController
from runtime.sessions.gateway import SessionsGateway
from runtime.sessions.store import SessionStore
from runtime.settings.store import SettingsStore
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook
from runtime.workspaces.registry import WorkspaceRegistry

OnBug = Callable[[BaseException], None]


@dataclass(slots=True)
class DraftSide:
    """What unsent text needs: nothing of sessions."""

    folder: DataFolder
    clock: Clock
    tasks: TaskSupervisor
    leases: LeaseBook
    database: Database
    journal: EditJournal
    drafts: DraftStore


@dataclass(slots=True)
class Services:
    """Everything the program offers, made once and handed to window and command line."""

    side: DraftSide
    settings: SettingsStore
    catalogue: ModelCatalogue
    hosts: HostRegistry
    state: Database
    workspaces: WorkspaceRegistry
    sessions: SessionStore
    controller: SessionController
    first: FirstExecution
    follow: FollowUp
    recovery: Recovery
