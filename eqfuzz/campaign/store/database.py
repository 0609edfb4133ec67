"""Database of a store: engine, transactions, migrations, and errors in one line."""

from __future__ import annotations

import errno
import logging
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

DISK_FULL = "disk full"
LOCKED = "database locked"
GONE = "database gone"

_BUSY_SECONDS = 5.0
_PATIENCE_WITH_SERVERS = {
    "connect_timeout": 5,
    # A machine that vanishes says nothing, and the kernel would wait two hours for it.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
_MIGRATING = 0x65716675  # the key of PostgreSQL's advisory lock; any number that no other program takes


class StoreError(Exception):
    """The store cannot be used; ``str()`` is one line."""


class StoreUnavailable(StoreError):
    """The store cannot be used just now, for a ``cause`` that may pass: ``disk full``, ``database locked`` or
    ``database gone``. Nothing was changed."""

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


class Database:
    """SQLite (in WAL) or PostgreSQL, by URL. Every transaction is whole or not at all."""

    def __init__(self, url: str) -> None:
        """Raises StoreError for a URL that cannot be used; the tables are made or brought up to date."""
        try:
            parsed = sa.make_url(url)
        except ArgumentError:
            raise StoreError(
                f"--db: not the URL of a database (sqlite:///FILE, postgresql://…): {_hidden(url)}"
            ) from None
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        self.place = parsed.render_as_string(hide_password=True)
        kind = parsed.get_backend_name()
        if kind not in ("sqlite", "postgresql"):
            raise StoreError(f"--db: {kind} is not supported: sqlite:///FILE or postgresql://…")
        self.is_sqlite = kind == "sqlite"
        if self.is_sqlite and not parsed.database:
            raise StoreError("--db: sqlite needs a file: sqlite:///FILE")
        connect = {"timeout": _BUSY_SECONDS} if self.is_sqlite else _PATIENCE_WITH_SERVERS
        # After an error it also logs warnings to stderr.
        logging.getLogger("psycopg").setLevel(logging.ERROR)
        try:
            if self.is_sqlite:
                Path(str(parsed.database)).parent.mkdir(parents=True, exist_ok=True)
            self.engine = sa.create_engine(parsed, connect_args=connect, pool_pre_ping=not self.is_sqlite)
        except OSError as error:
            raise StoreError(f"--db: {parsed.database}: {error.strerror}") from None
        except (ImportError, NoSuchModuleError) as error:
            raise StoreError(f"--db: {kind} needs a driver: pip install 'eqfuzz[postgres]' ({error})") from None
        if self.is_sqlite:
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)
        self._migrate()

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that changes nothing. Raises StoreError."""
        with self._store_errors(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction; on SQLite the only one that writes. Raises StoreError, and then nothing was changed."""
        with self._store_errors(), self.engine.execution_options(writes=True).begin() as connection:
            yield connection

    def insert(self, table: sa.Table) -> Any:
        """An insert that can say what is to become of a conflict, in this database's own dialect."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def close(self) -> None:
        self.engine.dispose()

    def problems(self) -> list[str]:
        """What the database itself finds wrong with its files."""
        if not self.is_sqlite:
            return []
        with self.reading() as connection:
            problems = [row[0] for row in connection.exec_driver_sql("PRAGMA integrity_check")]
            problems += [
                f"{row[0]}: row {row[1]} refers to nothing"
                for row in connection.exec_driver_sql("PRAGMA foreign_key_check")
            ]
        return [line for line in problems if line != "ok"]

    @contextmanager
    def _store_errors(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            raise _in_words(error, self.place) from error

    def _migrate(self) -> None:
        from alembic import command
        from alembic.config import Config
        from alembic.util import CommandError

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
        try:
            with self.writing() as connection:
                if not self.is_sqlite:
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_MIGRATING)))
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
        except CommandError as error:
            raise StoreError(f"{self.place}: was written by a newer eqfuzz ({error})") from None


def _prepare_sqlite(connection: Any, record: object) -> None:
    """Transactions are begun by us (the driver begins them late), and nothing is acknowledged that may be lost."""
    connection.isolation_level = None
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


_PASSING_SQLITE = {
    sqlite3.SQLITE_FULL: DISK_FULL,
    sqlite3.SQLITE_BUSY: LOCKED,
    sqlite3.SQLITE_LOCKED: LOCKED,
}
_FULL_WHEN = re.compile(r"disk I/O error|unable to open database file|No space left on device", re.IGNORECASE)
_TRANSIENT_STATES = ("08", "53", "57", "40", "55P03")
"""Classes of SQLSTATE that pass: connection, resources, operator's intervention, rolled back for another, lock held."""


def _in_words(error: SQLAlchemyError, place: str) -> StoreError:
    text = str(getattr(error, "orig", None) or error)
    line = f"{place}: {text.splitlines()[0] if text else type(error).__name__}"
    if not isinstance(error, DBAPIError):
        return StoreError(line)
    original = error.orig
    code = getattr(original, "sqlite_errorcode", None)
    if isinstance(code, int):
        cause = _PASSING_SQLITE.get(code & 0xFF)
        if cause is None and _FULL_WHEN.search(text):
            cause = DISK_FULL  # a full disk also keeps SQLite from growing the index of its log
        return StoreError(line) if cause is None else StoreUnavailable(cause, line)
    state = getattr(original, "sqlstate", None)
    if state is None:  # there was no answer: no connection, or it broke
        return StoreUnavailable(GONE, line)
    if state == "53100":
        return StoreUnavailable(DISK_FULL, line)
    if state.startswith(("40", "55P03")):
        return StoreUnavailable(LOCKED, line)
    return StoreUnavailable(GONE, line) if state.startswith(_TRANSIENT_STATES) else StoreError(line)


def file_error(error: OSError, path: Path) -> StoreError:
    """The same for a file beside the database."""
    line = f"{path}: {error.strerror}"
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return StoreUnavailable(DISK_FULL, line) if full else StoreError(line)


def _hidden(url: str) -> str:
    return re.sub(r"://[^@/]*@", "://…@", url)
