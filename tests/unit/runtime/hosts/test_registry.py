"""From a model reference to its host, and what is handed to it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runtime.base.clock import SystemClock
from runtime.base.errors import RejectedFault
from runtime.base.tasks import TaskSupervisor
from runtime.hosts.agent.sources import ServerSource, is_loopback, proxy_for
from runtime.hosts.catalogue import BUILT_IN_DEFAULT, ModelCatalogue
from runtime.hosts.engine.process import EngineEndpoint
from runtime.hosts.engine.weights import LocalModel, LocalModels
from runtime.hosts.faults import HostFault
from runtime.hosts.port import Binding, HostProgress, HostSettings, Prompt
from runtime.hosts.registry import HostRegistry, Suppliers
from runtime.settings.model import Server
from runtime.settings.store import SettingsStore
from tests.fakes.fake_provider import FakeProvider
from tests.fakes.own_agent import listen


@dataclass
class Keys:
    """Keys in memory."""

    kept: dict[str, str] = field(default_factory=dict[str, str])

    async def get(self, name: str) -> str:
        return self.kept.get(name, "")


@dataclass
class Engine:
    """An engine that is a fake provider; counts leases."""

    provider: FakeProvider
    held: int = 0
    asked: list[str] = field(default_factory=list[str])

    async def ensure(self, model: LocalModel, on_progress: Callable[[HostProgress], None]) -> EngineEndpoint:
        self.asked.append(model.name)
        on_progress(HostProgress("engine_starting", model.title))
        return EngineEndpoint(self.provider.base_url, "random-key", model.name, 4096)

    @asynccontextmanager
    async def lease(
        self, model: LocalModel, on_progress: Callable[[HostProgress], None]
    ) -> AsyncGenerator[EngineEndpoint, None]:
        self.held += 1
        yield await self.ensure(model, on_progress)
        self.held -= 1


@dataclass
class House:
    """A registry and a catalogue over one data folder."""

    registry: HostRegistry
    catalogue: ModelCatalogue
    settings: SettingsStore
    keys: Keys
    engine: Engine
    models: Path


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House, None]:
    bugs: list[BaseException] = []
    tasks = TaskSupervisor("hosts", bugs.append)
    folder = tmp_path / "models"
    folder.mkdir()
    async with FakeProvider() as provider:
        settings = SettingsStore.load(tmp_path / "settings.json", bugs.append)
        keys, engine, models = Keys(), Engine(provider), LocalModels(folder)
        suppliers = Suppliers(settings, keys, engine, models, SystemClock(), str(tmp_path))
        registry = HostRegistry(suppliers, tasks)
        yield House(registry, ModelCatalogue(settings, models), settings, keys, engine, folder)
        await registry.close()
        await tasks.close()
    assert bugs == []


def gguf(folder: Path, name: str) -> None:
    (folder / f"{name}.gguf").write_bytes(b"GGUF" + bytes(60))


async def test_a_local_model_is_asked_through_the_engine_while_it_is_held(house: House) -> None:
    gguf(house.models, "tiny")
    host, model = await house.registry.host_for("local:tiny")
    session = await host.open(Binding("ses-1", ""), HostSettings(model=model))
    assert session.capabilities.context_tokens == 4096
    provider = house.engine.provider
    heard = await listen(session, Prompt("hello"))  # type: ignore[arg-type]
    assert heard.text == "Ink holds fast." and heard.progress == ["engine_starting"] and house.engine.held == 0
    assert provider.last.headers["authorization"] == "Bearer random-key"
    assert provider.last.json["model"] == "tiny"


async def test_a_server_is_asked_as_it_is_configured_now_with_its_key(house: House) -> None:
    house.settings.update(servers=(Server(id="box", name="Box", base_url="http://127.0.0.1:1/v1", models=("m",)),))
    house.keys.kept["box"] = "sk-1"
    host, model = await house.registry.host_for("box:m:7b")
    assert model == "m:7b"
    session = await host.open(Binding("ses-1", ""), HostSettings(model=model))
    provider = house.engine.provider
    house.settings.update(servers=(Server(id="box", name="Box", base_url=provider.base_url, models=("m",)),))
    assert (await listen(session, Prompt("hello"))).end == "completed"  # type: ignore[arg-type]
    assert provider.last.headers["authorization"] == "Bearer sk-1" and provider.last.json["model"] == "m:7b"
    house.settings.update(servers=())
    assert (await listen(session, Prompt("hello"))).end == "model_unavailable"  # type: ignore[arg-type]


@pytest.mark.parametrize("reference", ["", "local", "local:", "nobody:m", ":m"])
async def test_a_reference_without_a_provider_is_refused(house: House, reference: str) -> None:
    with pytest.raises(RejectedFault, match="model_unavailable"):
        await house.registry.host_for(reference)


async def test_the_scripted_host_needs_no_agent(house: House) -> None:
    host, model = await house.registry.host_for("scripted:fast")
    session = await host.open(Binding("ses-1", ""), HostSettings(model=model))
    assert (await listen(session, Prompt("hello"))).text.startswith("**Scripted answer.**")  # type: ignore[arg-type]
    assert (await house.registry.host_for("scripted:demo"))[0] is host


async def test_a_missing_local_model_is_a_fault_before_anything_starts(house: House) -> None:
    host, model = await house.registry.host_for("local:absent")
    with pytest.raises(HostFault, match="model_missing") as caught:
        await host.open(Binding("ses-1", ""), HostSettings(model=model))
    assert not caught.value.called and house.engine.asked == []


async def test_the_catalogue_lists_what_is_there_without_asking_anyone(house: House) -> None:
    gguf(house.models, "tiny")
    server = Server(id="box", name="Box", base_url=house.engine.provider.base_url, models=("m", "n"))
    house.settings.update(servers=(server,))
    entries = house.catalogue.entries()
    assert [entry.reference for entry in entries] == [BUILT_IN_DEFAULT, "local:tiny", "box:m", "box:n", "scripted:demo"]
    assert all(entry.available for entry in entries) and entries[0].note
    assert house.engine.provider.requests == [] and house.engine.asked == []


async def test_an_empty_choice_is_the_live_default_and_every_choice_is_strict(house: House) -> None:
    assert await house.catalogue.resolve("") == BUILT_IN_DEFAULT
    house.settings.update(
        servers=(Server(id="box", name="Box", base_url="http://box/v1", models=("m",)),), default_model="box:m"
    )
    assert await house.catalogue.resolve("") == "box:m"
    assert await house.catalogue.resolve("scripted:slow") == "scripted:slow"
    for choice in ("box:other", "nobody:m", "local:absent"):
        with pytest.raises(RejectedFault) as caught:
            await house.catalogue.resolve(choice)
        assert caught.value.code == "model_unavailable"
    house.settings.update(engine_enabled=False)
    with pytest.raises(RejectedFault) as caught:
        await house.catalogue.resolve(BUILT_IN_DEFAULT)
    assert caught.value.detail["reason"] == "engine_disabled"


async def test_testing_a_connection_is_one_get(house: House) -> None:
    provider = house.engine.provider
    server = Server(id="box", name="Box", base_url=provider.base_url)
    assert await house.catalogue.list_server_models(server, "sk-1") == ["fake-model", "other-model"]
    assert [(request.method, request.target) for request in provider.requests] == [("GET", "/v1/models")]
    assert provider.requests[0].headers["authorization"] == "Bearer sk-1"
    provider.behaviour = "401"
    with pytest.raises(HostFault, match="Incorrect API key") as caught:
        await house.catalogue.list_server_models(server)
    assert (caught.value.code, caught.value.called) == ("auth_failed", False)
    await provider.stop()
    with pytest.raises(HostFault) as caught:
        await house.catalogue.list_server_models(server)
    assert caught.value.code == "server_unreachable"


async def test_N01_only_a_remote_server_that_trusts_it_gets_the_systems_proxy(
    monkeypatch: pytest.MonkeyPatch, house: House
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    remote = Server(id="far", name="Far", base_url="http://far.invalid/v1", trust_proxy=True)
    assert proxy_for(remote) == "http://127.0.0.1:9"
    assert proxy_for(remote.model_copy(update={"trust_proxy": False})) == ""
    for address in ("http://127.0.0.1:1/v1", "http://localhost:1/v1", "http://[::1]:1/v1", "http://127.8.9.1/v1"):
        assert is_loopback(address) and proxy_for(remote.model_copy(update={"base_url": address})) == ""
    house.settings.update(servers=(remote,))
    source = ServerSource("far", lambda: house.settings.current, house.keys)
    async with source.lease("m", lambda _: None) as endpoint:
        assert endpoint.proxy == "http://127.0.0.1:9" and endpoint.limits.silence == 300


def test_what_the_start_imports_pulls_in_no_heavy_library() -> None:
    code = (
        "import sys, runtime.hosts.registry, runtime.hosts.catalogue, runtime.hosts.port, runtime.settings.peek\n"
        "print([name for name in ('acp', 'pydantic', 'httpx2', 'openai', 'pydantic_ai', 'keyring')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
