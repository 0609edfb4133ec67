"""Store of campaigns: items, results and learnt state in one database, programs as files."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from eqfuzz.campaign.store import schema
from eqfuzz.campaign.store.database import Database
from eqfuzz.campaign.store.epochs import epochs, set_committed
from eqfuzz.campaign.store.errors import StoreError
from eqfuzz.campaign.store.files import ProgramFiles
from eqfuzz.campaign.store.items import Items
from eqfuzz.campaign.store.reader import DONE, StoreReader
from eqfuzz.campaign.store.records import (
    Campaign,
    CorpusEntry,
    EpochResult,
    Json,
)
from eqfuzz.closeable import Closeable

_CHUNK = 500
"""Rows in one statement: SQLite has a limit of 32,766 values."""


class Store(StoreReader, Closeable):
    """A store of campaigns; any number of processes and threads may use it at once.

    Every method is one transaction. All raise StoreError, and StoreUnavailable where a retry may help.
    """

    def __init__(self, database: Database, files: ProgramFiles) -> None:
        super().__init__(database)
        self._database = database
        self._files = files
        self.items = Items(database)
        self._shared: set[str] = set()

    @classmethod
    def open(cls, url: str | sa.URL, folder: Path) -> Store:
        """The store in the database at ``url`` with its files below ``folder``; created if missing."""
        return cls(Database(url), ProgramFiles(folder))

    def close(self) -> None:
        self._database.close()

    # Programs

    def put_program(self, text: str) -> str:
        """Store the text of a program; returns its digest."""
        digest = self._files.put(text)
        if not self._database.is_sqlite and digest not in self._shared:
            values = {"digest": digest, "text": text.encode("utf-8", "surrogatepass")}
            with self._database.writing() as connection:
                connection.execute(self._database.insert(schema.programs).values(**values).on_conflict_do_nothing())
            self._shared.add(digest)
        return digest

    def program(self, digest: str) -> str:
        """The text of a program, also of one that another machine has put into the database."""
        if not self._database.is_sqlite and not self._files.path(digest).exists():
            table = schema.programs
            with self._database.reading() as connection:
                data = connection.scalar(sa.select(table.c.text).where(table.c.digest == digest))
            if data is not None:
                self._files.put(data.decode("utf-8", "surrogatepass"))
        return self._files.get(digest)

    def program_file(self, digest: str) -> Path:
        """File of a program after ``program`` was called."""
        return self._files.path(digest)

    # Campaigns

    def open_campaign(self, name: str, seed: int, settings: Json, versions: Json, now: float) -> Campaign:
        """The campaign of this name; created with these settings if missing. ``now`` is Unix time."""
        values = {"name": name, "seed": seed, "settings": settings, "versions": versions, "created": now}
        with self._database.writing() as connection:
            statement = self._database.insert(schema.campaigns).values(**values, planned=0, settled=0)
            connection.execute(statement.on_conflict_do_nothing())
        campaign = self.campaign(name)
        assert campaign is not None
        return campaign

    # Learnt state

    def commit_epoch(self, campaign: int, epoch: int, result: EpochResult) -> bool:
        """Store the result of the next epoch; False where another process has committed it."""
        with self._database.writing() as connection:
            if epochs(connection, campaign).committed != epoch - 1:
                return False
            reached = [
                {"campaign": campaign, "feature": feature, "epoch": epoch, "number": number}
                for feature, number in sorted(result.features.items())
            ]
            for rows in _chunks(reached):
                connection.execute(self._database.insert(schema.features).on_conflict_do_nothing(), rows)
            self._add_entries(connection, campaign, result.entries)
            connection.execute(schema.arms.delete().where(schema.arms.c.campaign == campaign))
            arms = [{"campaign": campaign, **dataclasses.asdict(arm)} for arm in result.arms]
            if arms:
                connection.execute(schema.arms.insert(), arms)
            self._join_lines(connection, campaign, result.lines)
            point = {"campaign": campaign, "epoch": epoch, "point": dict(result.point)}
            connection.execute(schema.curve.insert(), [point])
            set_committed(connection, campaign, epoch)
        return True

    def replace_corpus(self, campaign: int, entries: Sequence[CorpusEntry]) -> None:
        """Replace the corpus by ``entries``."""
        with self._database.writing() as connection:
            connection.execute(schema.corpus.delete().where(schema.corpus.c.campaign == campaign))
            self._add_entries(connection, campaign, entries)

    # Checks

    def problems(self, campaign: int) -> list[str]:
        """Inconsistencies of the campaign's records, one line each: of the database itself, missing programs."""
        problems = self._database.problems()
        cases, corpus = schema.cases, schema.corpus
        with self._database.reading() as connection:
            planned, committed = epochs(connection, campaign)
            states = connection.execute(
                sa.select(cases.c.epoch, cases.c.state).where(cases.c.campaign == campaign)
            ).all()
            digests = set(connection.scalars(sa.select(cases.c.program).where(cases.c.campaign == campaign)))
            digests |= set(connection.scalars(sa.select(corpus.c.program).where(corpus.c.campaign == campaign)))
            points = connection.execute(
                sa.select(sa.func.count()).select_from(schema.curve).where(schema.curve.c.campaign == campaign)
            ).scalar_one()
        per_epoch = Counter(epoch for epoch, _ in states)
        if sorted(per_epoch) != list(range(1, planned + 1)):
            problems.append(f"{planned} epochs are planned, but there are items of epochs {sorted(per_epoch)}")
        if any(epoch <= committed and state != DONE for epoch, state in states):
            problems.append(f"epochs up to {committed} are committed, but not all of their items are done")
        if points != committed:
            problems.append(f"{committed} epochs are committed, but the curve has {points} points")
        for digest in sorted(digests):
            try:
                self.program(digest)
            except StoreError as error:
                problems.append(str(error))
        return problems

    # Helpers

    def _add_entries(self, connection: sa.Connection, campaign: int, entries: Sequence[CorpusEntry]) -> None:
        table = schema.corpus
        last = sa.select(sa.func.coalesce(sa.func.max(table.c.position), 0)).where(table.c.campaign == campaign)
        position = connection.execute(last).scalar_one()
        for number, entry in enumerate(entries, position + 1):
            row = {
                **{field.name: getattr(entry, field.name) for field in dataclasses.fields(entry)},
                "arms": dict(entry.arms),
                "rules": list(entry.rules),
                "features": sorted(entry.features),
                "settings": dict(entry.settings),
                "settings_digest": entry.settings_digest,
            }
            values = self._database.insert(table).values(campaign=campaign, position=number, **row)
            connection.execute(values.on_conflict_do_nothing())

    def _join_lines(self, connection: sa.Connection, campaign: int, added: Mapping[str, bytes]) -> None:
        before = _lines(connection, campaign)
        for file, bitmap in sorted(added.items()):
            old = before.get(file, b"")
            joined = int.from_bytes(old, "little") | int.from_bytes(bitmap, "little")
            data = joined.to_bytes((joined.bit_length() + 7) // 8, "little")
            if data != old:
                statement = self._database.insert(schema.lines).values(campaign=campaign, file=file, bitmap=data)
                update = statement.on_conflict_do_update(index_elements=["campaign", "file"], set_={"bitmap": data})
                connection.execute(update)


def _lines(connection: sa.Connection, campaign: int) -> dict[str, bytes]:
    table = schema.lines
    rows = connection.execute(sa.select(table.c.file, table.c.bitmap).where(table.c.campaign == campaign))
    return {row.file: row.bitmap for row in rows}


def _chunks(rows: list[dict[str, Any]]) -> Iterable[list[dict[str, Any]]]:
    return (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK))
