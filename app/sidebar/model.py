"""The rows of the project tree as a Qt model: flat, replaced as a whole, cheap at 5,000 rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from app.markup import escaped
from app.sidebar.rows import RowKind, TreeRow, clean_title

ROW_ROLE = Qt.ItemDataRole.UserRole
_Index = QModelIndex | QPersistentModelIndex
_ROOT = QModelIndex()
_OPENABLE = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren


class TreeModel(QAbstractListModel):
    """Read-only but for titles: a new title is announced, and shown when the store says so."""

    renamed = Signal(str, str)
    """Session id and the title that a person typed."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._rows: list[TreeRow] = []
        self._places: dict[tuple[RowKind, str], int] = {}

    @property
    def rows(self) -> Sequence[TreeRow]:
        return self._rows

    def replace(self, rows: Sequence[TreeRow]) -> None:
        """Show ``rows``: only changed lines are announced when the lines are the same ones, else a reset."""
        places = {row.key: place for place, row in enumerate(rows)}
        if places == self._places:
            before, self._rows = self._rows, list(rows)
            for place, (old, new) in enumerate(zip(before, self._rows, strict=True)):
                if old != new:
                    index = self.index(place, 0)
                    self.dataChanged.emit(index, index)
            return
        self.beginResetModel()
        self._rows = list(rows)
        self._places = places
        self.endResetModel()

    def find(self, key: tuple[RowKind, str]) -> QModelIndex:
        """The index of a row, invalid if there is none."""
        place = self._places.get(key)
        return QModelIndex() if place is None else self.index(place, 0)

    def row(self, index: _Index) -> TreeRow | None:
        return self._rows[index.row()] if index.isValid() and index.row() < len(self._rows) else None

    def rowCount(self, parent: _Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index)
        if row is None:
            return None
        if role == ROW_ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return row.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.spoken
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"<p>{escaped(row.title)}</p>"
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        row, title = self.row(index), clean_title(str(value))
        if row is None or row.kind != "session" or not title or title == row.title:
            return False
        self.renamed.emit(row.id, title)
        return True

    def flags(self, index: _Index) -> Qt.ItemFlag:
        row = self.row(index)
        if row is None:
            return Qt.ItemFlag.NoItemFlags
        if row.kind == "workspace":
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemNeverHasChildren
        return _OPENABLE | Qt.ItemFlag.ItemIsEditable if row.kind == "session" else _OPENABLE
