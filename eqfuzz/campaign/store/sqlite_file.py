"""A store's SQLite file, read by Python's own driver: to load SQLAlchemy costs more than all that a listing does."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from eqfuzz.campaign.store.errors import StoreError, sqlite_error
from eqfuzz.closeable import Closeable

REVISION = "0003"
"""The last of ``migrations/``: a file of another one is opened by ``Database``, which migrates it."""

BUSY_SECONDS = 5.0
"""How long a connection waits for another's transaction."""


class SqliteFile(Closeable):
    """An open file. Every query is one transaction."""

    def __init__(self, file: Path) -> None:
        """Raises StoreError where it cannot be read."""
        self.place = f"sqlite:///{file}"
        try:  # "rw": to read a file whose writer was killed, its log has to be recovered
            uri = f"file:{quote(str(file))}?mode=rw"
            self._connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        except sqlite3.Error as error:
            raise sqlite_error(error, self.place) from error
        self._connection.row_factory = sqlite3.Row

    def close(self) -> None:
        self._connection.close()

    def is_current(self) -> bool:
        """Whether it has the tables of this version."""
        try:
            return [row["version_num"] for row in self.rows("SELECT version_num FROM alembic_version")] == [REVISION]
        except StoreError:
            return False

    def rows(self, query: str, **values: Any) -> list[Mapping[str, Any]]:
        """The rows that a query gives for its ``:names``. Raises StoreError."""
        try:
            with closing(self._connection.execute(query, values)) as cursor:
                return [dict(row) for row in cursor]
        except sqlite3.Error as error:
            raise sqlite_error(error, self.place) from error
