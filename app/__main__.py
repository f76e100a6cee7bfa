"""``python -m app`` and the ``inkfast`` script.

Light, because every start passes here: the usual one, without arguments, goes straight to the window and loads
neither the parser nor the commands.
"""

from __future__ import annotations

import gc
import sys

from runtime.base.folder import DataFolder
from runtime.base.loading import load_now


def main() -> None:
    """Entry point of the console script."""
    if len(sys.argv) > 1:
        sys.exit(load_now("app.cli").main())
    gc.disable()  # no collection before the first paint; the boot code turns it on again
    sys.exit(load_now("app.boot").start(DataFolder.locate(None), None, safe_mode=False))


if __name__ == "__main__":
    main()
