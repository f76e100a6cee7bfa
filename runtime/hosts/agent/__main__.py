"""The child process: ``python -m runtime.hosts.agent``. Standard output is the protocol, nothing else."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from importlib.metadata import version

from acp import run_agent, stdio_streams

from runtime.base.tasks import TaskSupervisor
from runtime.hosts.agent.server import OwnAgent

_MOST_LINE_BYTES = 50 * 1024 * 1024


class _ContentFree(logging.Formatter):
    """Names and types only: messages of libraries may quote what a person or a model wrote."""

    def format(self, record: logging.LogRecord) -> str:
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else ""
        own = record.getMessage() if record.name.startswith("runtime.") else ""
        return " ".join(part for part in (record.levelname, record.name, own, kind) if part)


def _log_to_stderr() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_ContentFree())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


def _reserve_stdout() -> None:
    """Keep the pipe for the protocol; whatever else prints (a C library too) goes to standard error."""
    pipe = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.stdout = os.fdopen(pipe, "w", encoding="utf-8")


def _bug(error: BaseException) -> None:
    logging.getLogger("runtime.hosts.agent").error("bug %s", type(error).__name__)


async def _serve() -> None:
    """Until standard input ends. The write buffer is kept empty: a notice that was sent has left the process."""
    tasks = TaskSupervisor("agent", _bug)
    reader, writer = await stdio_streams(limit=_MOST_LINE_BYTES)
    if os.name != "nt":
        writer.transport.set_write_buffer_limits(high=0)
        sys.stdout = sys.stderr
    try:
        await run_agent(OwnAgent(version("inkfast"), tasks), writer, reader, use_unstable_protocol=True)  # pyright: ignore[reportArgumentType]
    finally:
        await tasks.close()


def main() -> None:
    """Interrupts belong to the window: it ends this process by closing its input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _log_to_stderr()
    _reserve_stdout()
    asyncio.run(_serve())


if __name__ == "__main__":
    main()
