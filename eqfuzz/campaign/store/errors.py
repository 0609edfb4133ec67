"""Errors of a store, in one line each."""

from __future__ import annotations

import errno
import re
import sqlite3
from pathlib import Path

DISK_FULL = "disk full"
LOCKED = "database locked"
GONE = "database gone"


class StoreError(Exception):
    """The store cannot be used; ``str()`` is one line."""


class StoreUnavailable(StoreError):
    """The store cannot be used just now, for a ``cause`` that may pass: ``disk full``, ``database locked`` or
    ``database gone``. Nothing was changed."""

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


_PASSING_SQLITE = {
    sqlite3.SQLITE_FULL: DISK_FULL,
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
}
_FULL_WHEN = re.compile(r"disk I/O error|unable to open database file|No space left on device", re.IGNORECASE)


def sqlite_error(error: sqlite3.Error, place: str) -> StoreError:
    """The error of SQLite's driver, in the database at ``place``."""
    text = str(error)
    line = f"{place}: {text.splitlines()[0] if text else type(error).__name__}"
    cause = _PASSING_SQLITE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    if cause is None and _FULL_WHEN.search(text):
        cause = DISK_FULL  # a full disk also keeps SQLite from growing the index of its log
    return StoreError(line) if cause is None else StoreUnavailable(cause, line)


def file_error(error: OSError, path: Path) -> StoreError:
    """The same for a file beside the database."""
    line = f"{path}: {error.strerror}"
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return StoreUnavailable(DISK_FULL, line) if full else StoreError(line)
