"""``python -m app`` and the ``inkfast`` script."""

from __future__ import annotations

import sys

from app.cli import main as _main


def main() -> None:
    """Entry point of the console script."""
    sys.exit(_main())


if __name__ == "__main__":
    main()
