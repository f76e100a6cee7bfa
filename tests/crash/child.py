"""The process that the crash tests kill: ``python -m tests.crash.child module:function DATA_DIR``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from runtime.base.folder import DataFolder
from runtime.base.loading import load_now


def main(arguments: list[str]) -> int:
    scenario, root = arguments
    module, _, function = scenario.partition(":")
    folder = DataFolder(Path(root))
    folder.prepare()
    asyncio.run(getattr(load_now(f"tests.crash.{module}"), function)(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
