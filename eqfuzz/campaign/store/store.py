"""Where campaigns live: work handed out and taken back, and what was learnt, in one database; programs as files."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa

from eqfuzz.campaign.store import schema
from eqfuzz.campaign.store.database import Database, StoreError, StoreUnavailable
from eqfuzz.campaign.store.epochs import epochs, set_epochs
from eqfuzz.campaign.store.files import ProgramFiles
from eqfuzz.campaign.store.items import DONE, Items
from eqfuzz.campaign.store.records import (
    Arm,
    Campaign,
    CorpusEntry,
    EpochResult,
    Json,
    StoredFinding,
)

__all__ = ["Store", "StoreError", "StoreUnavailable"]

_CHUNK = 500
"""Rows in one statement: SQLite has a limit of 32,766 values."""


class Store:
    """A store of campaigns, used by any number of processes and threads at once.

    ``items`` is what they have to do. Every method is one transaction and raises StoreError; StoreUnavailable where the
    trouble may pass.
    """

    def __init__(self, database: Database, files: ProgramFiles) -> None:
        self._database = database
        self._files = files
        self.items = Items(database)
        self._shared: set[str] = set()

    @classmethod
    def open(cls, url: str, folder: Path) -> Store:
        """The store in the database at ``url`` with its files below ``folder``; made where it is not there."""
        return cls(Database(url), ProgramFiles(folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    @property
    def place(self) -> str:
        """Where it is, without a password."""
        return self._database.place

    # Programs

    def put_program(self, text: str) -> str:
        """Keep the text of a program; returns its digest."""
        digest = self._files.put(text)
        if not self._database.is_sqlite and digest not in self._shared:
            values = {"digest": digest, "text": text.encode("utf-8", "surrogatepass")}
            with self._database.writing() as connection:
                connection.execute(self._database.insert(schema.programs).values(**values).on_conflict_do_nothing())
            self._shared.add(digest)
        return digest

    def program(self, digest: str) -> str:
        """The text of a program, also of one that a process elsewhere has put into the same database."""
        if not self._database.is_sqlite and not self._files.path(digest).exists():
            table = schema.programs
            with self._database.reading() as connection:
                data = connection.scalar(sa.select(table.c.text).where(table.c.digest == digest))
            if data is not None:
                self._files.put(data.decode("utf-8", "surrogatepass"))
        return self._files.get(digest)

    def program_file(self, digest: str) -> Path:
        """Where a program's text lies once it was asked for."""
        return self._files.path(digest)

    # Campaigns

    def begin(self, name: str, seed: int, settings: Json, versions: Json, now: float) -> Campaign:
        """The campaign of this name, made where there is none."""
        values = {"name": name, "seed": seed, "settings": settings, "versions": versions, "created": now}
        with self._database.writing() as connection:
            statement = self._database.insert(schema.campaigns).values(**values, planned=0, settled=0)
            connection.execute(statement.on_conflict_do_nothing())
        found = self.campaign(name)
        assert found is not None
        return found

    def campaign(self, name: str) -> Campaign | None:
        with self._database.reading() as connection:
            row = connection.execute(sa.select(schema.campaigns).where(schema.campaigns.c.name == name)).one_or_none()
        return None if row is None else Campaign(**row._mapping)

    def campaigns(self) -> list[Campaign]:
        """All, the oldest first."""
        with self._database.reading() as connection:
            rows = connection.execute(sa.select(schema.campaigns).order_by(schema.campaigns.c.id)).all()
        return [Campaign(**row._mapping) for row in rows]

    # What was learnt

    def settle(self, campaign: int, epoch: int, settlement: EpochResult) -> bool:
        """Store what the next epoch taught; False where somebody else was first."""
        with self._database.writing() as connection:
            if epochs(connection, campaign).settled != epoch - 1:
                return False
            reached = [
                {"campaign": campaign, "feature": feature, "epoch": epoch, "number": number}
                for feature, number in sorted(settlement.features.items())
            ]
            for rows in _chunks(reached):
                connection.execute(self._database.insert(schema.features).on_conflict_do_nothing(), rows)
            self._add_entries(connection, campaign, settlement.entries)
            connection.execute(schema.arms.delete().where(schema.arms.c.campaign == campaign))
            arms = [{"campaign": campaign, **dataclasses.asdict(arm)} for arm in settlement.arms]
            if arms:
                connection.execute(schema.arms.insert(), arms)
            self._join_lines(connection, campaign, settlement.lines)
            point = {"campaign": campaign, "epoch": epoch, "point": dict(settlement.point)}
            connection.execute(schema.curve.insert(), [point])
            set_epochs(connection, campaign, settled=epoch)
        return True

    def features(self, campaign: int) -> set[int]:
        column = schema.features.c
        with self._database.reading() as connection:
            return set(connection.scalars(sa.select(column.feature).where(column.campaign == campaign)))

    def arms(self, campaign: int) -> list[Arm]:
        """In order of dimension and name."""
        table = schema.arms
        chosen = sa.select(table).where(table.c.campaign == campaign).order_by(table.c.dimension, table.c.name)
        with self._database.reading() as connection:
            return [Arm(r.dimension, r.name, r.reward, r.cost, r.pulls) for r in connection.execute(chosen)]

    def corpus(self, campaign: int) -> list[CorpusEntry]:
        """In the order in which they entered."""
        table = schema.corpus
        chosen = sa.select(table).where(table.c.campaign == campaign).order_by(table.c.position)
        with self._database.reading() as connection:
            rows = connection.execute(chosen).all()
        return [
            CorpusEntry(r.program, r.name, r.parent, r.arms, tuple(r.rules), frozenset(r.features), r.cost)
            for r in rows
        ]

    def replace_corpus(self, campaign: int, entries: Sequence[CorpusEntry]) -> None:
        """From now on the corpus is ``entries``."""
        with self._database.writing() as connection:
            connection.execute(schema.corpus.delete().where(schema.corpus.c.campaign == campaign))
            self._add_entries(connection, campaign, entries)

    def lines(self, campaign: int) -> dict[str, bytes]:
        """Bitmaps of executed lines (bit n is line n, the least first) by file."""
        with self._database.reading() as connection:
            return _lines(connection, campaign)

    def curve(self, campaign: int) -> list[Json]:
        """A point for each settled epoch."""
        table = schema.curve
        chosen = sa.select(table.c.point).where(table.c.campaign == campaign).order_by(table.c.epoch)
        with self._database.reading() as connection:
            return list(connection.scalars(chosen))

    def findings(self, campaign: int) -> list[StoredFinding]:
        """In order of their first epoch and id."""
        table = schema.findings
        chosen = sa.select(table).where(table.c.campaign == campaign).order_by(table.c.epoch, table.c.id)
        with self._database.reading() as connection:
            rows = connection.execute(chosen).all()
        names = [field.name for field in dataclasses.fields(StoredFinding)]
        return [StoredFinding(**{name: row._mapping[name] for name in names}) for row in rows]

    # Looking after it

    def problems(self, campaign: int) -> list[str]:
        """What is wrong with the campaign's records, a line each: with the database itself, with programs missing."""
        found = self._database.problems()
        cases, corpus = schema.cases, schema.corpus
        with self._database.reading() as connection:
            planned, settled = epochs(connection, campaign)
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
            found.append(f"{planned} epochs are planned, but there are items of epochs {sorted(per_epoch)}")
        if any(epoch <= settled and state != DONE for epoch, state in states):
            found.append(f"epochs up to {settled} are settled, but not all of their items are done")
        if points != settled:
            found.append(f"{settled} epochs are settled, but the curve has {points} points")
        for digest in sorted(digests):
            try:
                self.program(digest)
            except StoreError as error:
                found.append(str(error))
        return found

    # How

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
