"""Where everything lies: the data folder of DESIGN.md as one value."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from runtime.base.errors import EnvironmentFault
from runtime.base.loading import load_now
from runtime.base.record import record


def usual_root() -> Path:
    """The platform's user data folder. On Linux the rule is short and spares the start a library; a relative
    ``XDG_DATA_HOME`` is ignored, as the XDG specification asks."""
    if sys.platform == "linux":
        home = os.environ.get("XDG_DATA_HOME", "").strip()
        return Path(home if os.path.isabs(home) else os.path.expanduser("~/.local/share"), "Inkfast")
    return load_now("platformdirs").user_data_path("Inkfast", appauthor=False)


@record
class DataFolder:
    """Paths below one root; nothing is created until :meth:`prepare`."""

    root: Path

    @staticmethod
    def locate(option: str | None) -> DataFolder:
        """``--data-dir``, then ``INKFAST_HOME``, then the platform's user data folder."""
        chosen = option or os.environ.get("INKFAST_HOME") or ""
        root = Path(chosen) if chosen else usual_root()
        return DataFolder(Path(os.path.abspath(root.expanduser())))

    @property
    def drafts_database(self) -> Path:
        return self.root / "desktop" / "drafts-v1.sqlite"

    @property
    def draft_journal(self) -> Path:
        return self.root / "desktop" / "draft-journal"

    @property
    def leases(self) -> Path:
        return self.root / "desktop" / "draft-workers"

    @property
    def state_database(self) -> Path:
        return self.root / "state-v1.sqlite"

    @property
    def blobs(self) -> Path:
        return self.root / "blobs"

    @property
    def models(self) -> Path:
        return self.root / "models"

    @property
    def settings(self) -> Path:
        return self.root / "settings.json"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def crash(self) -> Path:
        return self.root / "crash"

    def prepare(self) -> None:
        """Create the folders with mode 0700.

        Raises :class:`EnvironmentFault` ``data_folder_unusable`` if the root cannot be created, read or
        written; existing files are left as they are.
        """
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            for folder in (
                self.drafts_database.parent,
                self.draft_journal,
                self.leases,
                self.blobs,
                self.models,
                self.logs,
                self.crash,
            ):
                folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise EnvironmentFault("data_folder_unusable", str(error), errno=error.errno) from error
        if not os.access(self.root, os.R_OK | os.W_OK | os.X_OK):
            raise EnvironmentFault("data_folder_unusable", "no permission")
