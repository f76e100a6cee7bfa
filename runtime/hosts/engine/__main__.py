"""``python -m runtime.hosts.engine``: the process that runs the embedded model."""

from __future__ import annotations

import sys

from runtime.hosts.engine.child import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
