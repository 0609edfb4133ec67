"""Database of a store: engine, transactions, migrations, and errors in one line."""

from __future__ import annotations

import logging
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from eqfuzz.campaign.store.errors import DISK_FULL, GONE, LOCKED, StoreError, StoreUnavailable, sqlite_error
from eqfuzz.campaign.store.sqlite_file import BUSY_SECONDS

_PATIENCE_WITH_SERVERS = {
    "connect_timeout": 5,
    # A machine that vanishes says nothing, and the kernel would wait two hours for it.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
_MIGRATING = 0x65716675  # the key of PostgreSQL's advisory lock; any number that no other program takes


class Database:
    """SQLite (in WAL) or PostgreSQL, by URL. Every transaction is whole or not at all."""

    def __init__(self, url: str | sa.URL) -> None:
        """Raises StoreError for a URL that cannot be used; the tables are made or brought up to date."""
        try:
            parsed = sa.make_url(url)
        except ArgumentError:
            raise StoreError(
                f"--db: not the URL of a database (sqlite:///FILE, postgresql://…): {_hidden(str(url))}"
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
        connect = {"timeout": BUSY_SECONDS} if self.is_sqlite else _PATIENCE_WITH_SERVERS
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

    def rows(self, query: str, **values: Any) -> list[Mapping[str, Any]]:
        """The rows that a query gives for its ``:names``, in a transaction of its own. Raises StoreError."""
        with self.reading() as connection:
            return [dict(row._mapping) for row in connection.execute(sa.text(query), values)]

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


_TRANSIENT_STATES = ("08", "53", "57", "40", "55P03")
"""Classes of SQLSTATE that pass: connection, resources, operator's intervention, rolled back for another, lock held."""


def _in_words(error: SQLAlchemyError, place: str) -> StoreError:
    original = getattr(error, "orig", None)
    text = str(original or error)
    line = f"{place}: {text.splitlines()[0] if text else type(error).__name__}"
    if not isinstance(error, DBAPIError):
        return StoreError(line)
    if isinstance(original, sqlite3.Error):
        return sqlite_error(original, place)
    state = getattr(original, "sqlstate", None)
    if state is None:  # there was no answer: no connection, or it broke
        return StoreUnavailable(GONE, line)
    if state == "53100":
        return StoreUnavailable(DISK_FULL, line)
    if state.startswith(("40", "55P03")):
        return StoreUnavailable(LOCKED, line)
    return StoreUnavailable(GONE, line) if state.startswith(_TRANSIENT_STATES) else StoreError(line)


def _hidden(url: str) -> str:
    return re.sub(r"://[^@/]*@", "://…@", url)
