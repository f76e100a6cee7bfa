"""The one composition root: joins drafts and runtime. Qt-free; the window and the command line use it alike.

The two databases open apart from each other, so that a broken state file never takes unsent text hostage:
:func:`open_drafts` needs the drafts file alone, :func:`open_services` adds the sessions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from drafts.follow_up import FollowUp
from drafts.journal import EditJournal
from drafts.recovery import Recovery, RecoveryReport
from drafts.schema import SCHEMA as DRAFTS_SCHEMA
from drafts.store import DraftStore
from drafts.submission import FirstExecution
from drafts.workbench import Workbench
from runtime.base.clock import Clock
from runtime.base.errors import EnvironmentFault
from runtime.base.folder import DataFolder
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.catalogue import ModelCatalogue
from runtime.hosts.engine.supervisor import EngineSupervisor
from runtime.hosts.engine.weights import LocalModels
from runtime.hosts.registry import HostRegistry, Suppliers
from runtime.sessions.admission import Admission
from runtime.sessions.controller import SessionController
from runtime.sessions.gateway import SessionsGateway
from runtime.sessions.owner import OwnerLease
from runtime.sessions.recovery import interrupt_dead_turns
from runtime.sessions.schema import open_state
from runtime.sessions.store import SessionStore
from runtime.settings.secrets import SecretStore
from runtime.settings.store import SettingsStore
from runtime.storage.database import Database
from runtime.storage.leases import LeaseBook
from runtime.workspaces.registry import WorkspaceRegistry

OnBug = Callable[[BaseException], None]


@dataclass(frozen=True, slots=True)
class DraftSide:
    """What unsent text needs: nothing of sessions."""

    folder: DataFolder
    clock: Clock
    on_bug: OnBug
    tasks: TaskSupervisor
    leases: LeaseBook
    database: Database
    drafts: DraftStore

    async def close(self) -> None:
        """End autosave and the database; text that is not confirmed stays in the journal."""
        await self.tasks.close()
        await self.drafts.close()
        await self.database.close()


@dataclass(frozen=True, slots=True)
class Services:
    """Everything the program offers, made once and handed to window and command line."""

    side: DraftSide
    tasks: TaskSupervisor
    settings: SettingsStore
    secrets: SecretStore
    models: LocalModels
    catalogue: ModelCatalogue
    engine: EngineSupervisor
    hosts: HostRegistry
    state: Database
    owner: OwnerLease
    workspaces: WorkspaceRegistry
    sessions: SessionStore
    controller: SessionController
    gateway: SessionsGateway
    first: FirstExecution
    follow: FollowUp
    recovery: Recovery

    async def reconcile(self) -> RecoveryReport:
        """What a start settles, before any list is shown: dead turns, journals, operations, follow-ups."""
        await interrupt_dead_turns(self.sessions, self.side.leases)
        await self.side.drafts.recover_journals()
        await self.follow.reconcile()
        report = await self.recovery.reconcile()
        await self.first.watch()
        return report

    async def close_hosts(self) -> None:
        """End running turns as interrupted, then the child processes."""
        await self.controller.close()
        await self.hosts.close()
        await self.engine.close()

    async def close(self) -> None:
        """End what :func:`open_services` began; the draft side has its own end."""
        await self.tasks.close()
        await self.state.close()
        self.owner.release()


async def open_drafts(folder: DataFolder, clock: Clock, on_bug: OnBug, journal: EditJournal | None = None) -> DraftSide:
    """Open the drafts store. ``journal`` is the one that the first paint already writes to.

    Raises :class:`EnvironmentFault` as ``Database.open`` does, and ``data_folder_unusable``.
    """
    folder.prepare()
    leases = LeaseBook(folder.leases, clock)
    tasks = TaskSupervisor("drafts", on_bug)
    database = await Database.open(folder.drafts_database, DRAFTS_SCHEMA)
    journal = journal or EditJournal.open(folder.draft_journal)
    drafts = DraftStore(database, journal, leases, clock, tasks)
    return DraftSide(folder, clock, on_bug, tasks, leases, database, drafts)


async def open_services(side: DraftSide) -> Services:
    """Open the state store and join it with ``side``. Starts no host and no engine.

    Raises :class:`EnvironmentFault` as ``Database.open`` does.
    """
    tasks = TaskSupervisor("services", side.on_bug)
    folder, clock = side.folder, side.clock
    state = await open_state(folder.state_database)
    try:
        owner = OwnerLease.take(side.leases)
    except BaseException:
        await state.close()
        raise
    settings = load_settings(folder, side.on_bug)
    secrets = SecretStore(folder.root / "secrets.json")
    models = LocalModels(folder.models)
    engine = EngineSupervisor(clock, tasks, settings.current.engine_idle_seconds, side.on_bug)
    hosts = HostRegistry(Suppliers(settings, secrets, engine, models, clock, os.fspath(folder.root)), tasks)
    catalogue = ModelCatalogue(settings, models)
    sessions = SessionStore(state, clock, side.on_bug)
    workspaces = WorkspaceRegistry(state, clock)
    controller = SessionController(sessions, hosts, owner, clock, tasks)
    gateway = SessionsGateway(sessions, Admission(sessions, owner), controller, workspaces, catalogue, tasks)
    bench = Workbench(side.drafts, side.database, gateway, side.leases, clock, tasks)
    return Services(
        side=side,
        tasks=tasks,
        settings=settings,
        secrets=secrets,
        models=models,
        catalogue=catalogue,
        engine=engine,
        hosts=hosts,
        state=state,
        owner=owner,
        workspaces=workspaces,
        sessions=sessions,
        controller=controller,
        gateway=gateway,
        first=FirstExecution(bench),
        follow=FollowUp(bench),
        recovery=Recovery(bench),
    )


def load_settings(folder: DataFolder, on_bug: OnBug) -> SettingsStore:
    """The settings, or readable defaults that refuse to overwrite a file that cannot be used."""
    try:
        return SettingsStore.load(folder.settings, on_bug)
    except EnvironmentFault as refusal:
        return SettingsStore.defaults(folder.settings, refusal, on_bug)
