"""The engine process: llama.cpp's server on loopback, for one parent and one key.

Protocol: the first line of standard input is the API key; one JSON line on standard output says ``ready`` with
the port, or ``failed`` with a code; standard error is the log; the end of standard input ends the process.
While the weights load, the native constructor keeps the interpreter's lock, so the end of input is noticed only
after it: a parent in a hurry terminates the process, and on Linux the kernel does when the parent dies.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import xllamacpp  # pyright: ignore[reportMissingTypeStubs]

from runtime.hosts.engine.gguf import DamagedWeights, read_header

_native: Any = xllamacpp  # it has no annotations
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_PROMPT_CACHE_MIB = 256
_FAILED = 3


def main(arguments: Sequence[str]) -> int:
    """Serve until standard input ends. Exit status 3 after a ``failed`` line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    options = _options(arguments)
    _die_with(options.parent)
    output = _protocol_output()
    key = sys.stdin.buffer.readline().decode().strip()
    if not key:
        return _fail(output, "engine_failed", "no key on standard input")
    threading.Thread(target=_end_with_input, name="engine stdin", daemon=True).start()
    try:
        header = read_header(options.model)
    except DamagedWeights as error:
        return _fail(output, "model_damaged", str(error))
    except OSError as error:
        return _fail(output, "model_missing", error.strerror or "not readable")
    if header.trained_context:
        options.context = min(options.context, header.trained_context)
    try:
        server = _native.Server(_parameters(options, key))
    except RuntimeError as error:
        return _fail(output, "engine_failed", str(error))
    _say(output, event="ready", port=int(str(server.listening_address).rpartition(":")[2]))
    threading.Event().wait()  # the server lives in its own threads; the end of input ends everything
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="runtime.hosts.engine", allow_abbrev=False)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--alias", required=True)
    parser.add_argument("--context", type=int, default=8192, help="tokens; never more than the model was trained for")
    parser.add_argument("--threads", type=int, default=max(1, _cores() - 1))
    parser.add_argument("--parent", type=int, default=os.getppid(), help="process id that this one must not outlive")
    return parser.parse_args(arguments)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _parameters(options: argparse.Namespace, key: str) -> Any:
    """Loopback only, a port of the system's choice, nothing served but the model's own endpoints behind the key."""
    parameters = _native.CommonParams()
    parameters.model.path = str(options.model)
    parameters.model_alias = {options.alias}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.cors_origins = ""
    parameters.cors_methods = ""
    parameters.cors_headers = ""
    parameters.cors_credentials = False
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.endpoint_metrics = False
    parameters.offline = True
    parameters.n_ctx = options.context
    parameters.n_parallel = 1
    parameters.cache_ram_mib = _PROMPT_CACHE_MIB
    parameters.cpuparams.n_threads = options.threads
    parameters.cpuparams_batch.n_threads = options.threads
    return parameters


def _die_with(parent: int) -> None:
    """Let the kernel end this process with its parent (Linux); elsewhere the end of input does."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the request was in place
        os._exit(0)


def _protocol_output() -> int:
    """A private copy of standard output; whatever native code prints there goes to the log instead."""
    output = os.dup(1)
    os.dup2(2, 1)
    return output


def _end_with_input() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


def _say(output: int, **message: str | int) -> None:
    os.write(output, json.dumps(message).encode() + b"\n")


def _fail(output: int, code: str, reason: str) -> int:
    _say(output, event="failed", code=code, reason=reason)
    return _FAILED
