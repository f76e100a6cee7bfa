"""The fake provider as a process of its own: it outlives the program that is killed, and keeps counting."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fakes.program import ROOT

MODEL = "fake:fake-model"


class ProviderProcess:
    """Use as a context manager; ``folder`` gets the log of POSTs."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._log = folder / "posts.jsonl"
        self._options = options
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    def __enter__(self) -> ProviderProcess:
        command = [sys.executable, "-m", "tests.fakes.fake_provider", "--log", str(self._log), *self._options]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
                 ) -> None:  # fmt: skip
        assert self._process is not None and self._process.stdout is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def posts(self) -> list[Any]:
        """The bodies that were posted, oldest first."""
        if not self._log.exists():
            return []
        return [json.loads(line)["body"] for line in self._log.read_text(encoding="utf-8").splitlines()]


def choose_server(settings: Path, port: int) -> None:
    """Settings, written before the program starts: one server on loopback, its model is the default."""
    settings.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    server = {"id": "fake", "name": "Fake", "base_url": f"http://127.0.0.1:{port}/v1", "models": ["fake-model"]}
    settings.write_text(json.dumps({"version": 1, "servers": [server], "default_model": MODEL}), encoding="utf-8")
