"""Where campaigns live: work handed out and taken back, and what was learnt, in one database; programs as files."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from eqfuzz.campaign.store import schema
from eqfuzz.campaign.store.database import Database, StoreError, StoreUnavailable
from eqfuzz.campaign.store.files import Files
from eqfuzz.campaign.store.records import (
    Arm,
    Campaign,
    Claim,
    CorpusEntry,
    Item,
    Json,
    KeptFinding,
    Settlement,
)

__all__ = ["Store", "StoreError", "StoreUnavailable"]

OPEN, CLAIMED, DONE = "open", "claimed", "done"

_CHUNK = 500
"""Rows in one statement: SQLite has a limit of 32,766 values."""


class Store:
    """A store of campaigns, used by any number of processes and threads at once.

    Every method is one transaction and raises StoreError; StoreUnavailable where the trouble may pass.
    """

    def __init__(self, database: Database, files: Files) -> None:
        self._database = database
        self._files = files
        self._shared: set[str] = set()

    @classmethod
    def open(cls, url: str, folder: Path) -> Store:
        """The store in the database at ``url`` with its files below ``folder``; made where it is not there."""
        return cls(Database(url), Files(folder))

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
                connection.execute(self._insert(schema.programs).values(**values).on_conflict_do_nothing())
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
            statement = self._insert(schema.campaigns).values(**values, planned=0, settled=0)
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

    # Work

    def add_epoch(self, campaign: int, epoch: int, items: Sequence[Item]) -> bool:
        """Add the next epoch's items; False where somebody else was first."""
        with self._database.writing() as connection:
            if self._counts(connection, campaign)[0] != epoch - 1:
                return False
            rows = [
                {
                    **dataclasses.asdict(item),
                    "arms": dict(item.arms),
                    "campaign": campaign,
                    "state": OPEN,
                    "worker": "",
                    "attempt": 0,
                    "came": "",
                    "outcome": {},
                }
                for item in items
            ]
            if any(item.epoch != epoch for item in items):
                raise ValueError(f"an item is not of epoch {epoch}")
            if rows:
                connection.execute(schema.cases.insert(), rows)
            self._update_campaign(connection, campaign, planned=epoch)
        return True

    def claim(self, campaign: int, worker: str) -> Claim | None:
        """The first item that nobody has, for ``worker``; None where there is none just now."""
        cases = schema.cases
        first = (
            sa.select(cases)
            .where(cases.c.campaign == campaign, cases.c.state == OPEN)
            .order_by(cases.c.id)
            .limit(1)
            .with_for_update(skip_locked=True)
        )
        with self._database.writing() as connection:
            row = connection.execute(first).one_or_none()
            if row is None:
                return None
            attempt = row.attempt + 1
            taken = {"state": CLAIMED, "worker": worker, "attempt": attempt}
            connection.execute(cases.update().where(cases.c.id == row.id).values(**taken))
        return Claim(row.id, _item(row), worker, attempt)

    def hand_back(self, worker: str) -> int:
        """What ``worker`` holds can be claimed again, and was not attempted; returns how many there were."""
        with self._database.writing() as connection:
            number = _release(connection, worker)
            connection.execute(schema.workers.delete().where(schema.workers.c.name == worker))
        return number

    def hand_back_but(self, worker: str, held: Collection[int]) -> int:
        """The same without the cases ``held``: for a worker that may not have heard what it was given."""
        with self._database.writing() as connection:
            return _release(connection, worker, held)

    def give_up(self, claim: Claim) -> bool:
        """The claimed item can be claimed again; the attempt counts. False where the claim has been lost already."""
        with self._database.writing() as connection:
            released = schema.cases.update().where(*_is_held(claim)).values(state=OPEN, worker="")
            return connection.execute(released).rowcount == 1

    def beat(self, worker: str, host: str, pid: int, now: float) -> None:
        """``worker`` is alive."""
        statement = self._insert(schema.workers).values(name=worker, host=host, pid=pid, beat=now)
        with self._database.writing() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"beat": now}))

    def abandoned(self, now: float, after: float) -> int:
        """Take back what workers hold that have not beaten for ``after`` seconds; returns how many items."""
        cases, workers = schema.cases, schema.workers
        with self._database.writing() as connection:
            silent = list(connection.scalars(sa.select(workers.c.name).where(workers.c.beat < now - after)))
            if not silent:
                return 0
            held = (cases.c.worker.in_(silent), cases.c.state == CLAIMED)
            number = connection.execute(cases.update().where(*held).values(state=OPEN, worker="")).rowcount
            connection.execute(workers.delete().where(workers.c.name.in_(silent)))
        return number

    def holders(self, campaign: int) -> list[str]:
        """The workers that hold items."""
        cases = schema.cases
        held = sa.select(cases.c.worker).where(cases.c.campaign == campaign, cases.c.state == CLAIMED).distinct()
        with self._database.reading() as connection:
            return sorted(connection.scalars(held))

    def finish(self, claim: Claim, outcome: Json, found: Sequence[KeptFinding], now: float) -> bool:
        """Store what came of a claimed item. False, and nothing is stored, where the claim has been lost.

        True where the same claim is done already: then an answer was lost on its way, and this is asked again. A
        finding that is there stays as it was told first; only its epoch is the earliest, whoever was faster.
        """
        cases, findings = schema.cases, schema.findings
        done = {"state": DONE, "came": outcome["state"], "outcome": dict(outcome), "finished": now}
        with self._database.writing() as connection:
            if connection.execute(cases.update().where(*_is_held(claim)).values(**done)).rowcount != 1:
                return connection.execute(sa.select(cases.c.id).where(*_is_held(claim, DONE))).first() is not None
            campaign = connection.execute(sa.select(cases.c.campaign).where(cases.c.id == claim.case)).scalar_one()
            rows = [{"campaign": campaign, **dataclasses.asdict(one)} for one in sorted(found, key=lambda one: one.id)]
            for row in rows:
                statement = self._insert(findings).values(**row)
                connection.execute(
                    statement.on_conflict_do_update(
                        index_elements=["campaign", "id"],
                        set_={"epoch": row["epoch"]},
                        where=findings.c.epoch > row["epoch"],
                    )
                )
        return True

    def outcomes(self, campaign: int, epoch: int) -> list[tuple[Item, Json]] | None:
        """What came of the items of ``epoch``, by number; None while it is not planned or not done."""
        cases = schema.cases
        chosen = sa.select(cases).where(cases.c.campaign == campaign, cases.c.epoch == epoch).order_by(cases.c.number)
        with self._database.reading() as connection:
            rows = connection.execute(chosen).all()
        if not rows or any(row.state != DONE for row in rows):
            return None
        return [(_item(row), row.outcome) for row in rows]

    def finished(self, campaign: int, after: int) -> list[Json]:
        """What came of the done items of epochs later than ``after``."""
        cases = schema.cases
        where = (cases.c.campaign == campaign, cases.c.epoch > after, cases.c.state == DONE)
        with self._database.reading() as connection:
            return list(connection.scalars(sa.select(cases.c.outcome).where(*where).order_by(cases.c.id)))

    def draws(self, campaign: int) -> dict[str, int]:
        """How often each seed was planned, by its name."""
        cases = schema.cases
        counted = sa.select(cases.c.name, sa.func.count()).where(cases.c.campaign == campaign).group_by(cases.c.name)
        with self._database.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(counted)}

    def invalid(self, campaign: int, until: int) -> set[str]:
        """The names of seeds that were invalid, or lost, up to epoch ``until``."""
        cases = schema.cases
        where = (cases.c.campaign == campaign, cases.c.epoch <= until, cases.c.came.in_(("invalid", "lost")))
        with self._database.reading() as connection:
            return set(connection.scalars(sa.select(cases.c.name).where(*where).distinct()))

    def shown(self, campaign: int, until: int) -> dict[str, set[tuple[str, ...]]]:
        """What originals have shown up to epoch ``until``, by the digest of their program."""
        cases = schema.cases
        chosen = sa.select(cases.c.program, cases.c.outcome["shown"]).where(
            cases.c.campaign == campaign, cases.c.epoch <= until, cases.c.came == "done"
        )
        found: dict[str, set[tuple[str, ...]]] = {}
        with self._database.reading() as connection:
            for program, shown in connection.execute(chosen):
                if shown:
                    found.setdefault(program, set()).update(map(tuple, shown))
        return found

    # What was learnt

    def settle(self, campaign: int, epoch: int, settlement: Settlement) -> bool:
        """Store what the next epoch taught; False where somebody else was first."""
        with self._database.writing() as connection:
            if self._counts(connection, campaign)[1] != epoch - 1:
                return False
            reached = [
                {"campaign": campaign, "feature": feature, "epoch": epoch, "number": number}
                for feature, number in sorted(settlement.features.items())
            ]
            for rows in _chunks(reached):
                connection.execute(self._insert(schema.features).on_conflict_do_nothing(), rows)
            self._add_entries(connection, campaign, settlement.entries)
            connection.execute(schema.arms.delete().where(schema.arms.c.campaign == campaign))
            arms = [{"campaign": campaign, **dataclasses.asdict(arm)} for arm in settlement.arms]
            if arms:
                connection.execute(schema.arms.insert(), arms)
            self._join_lines(connection, campaign, settlement.lines)
            point = {"campaign": campaign, "epoch": epoch, "point": dict(settlement.point)}
            connection.execute(schema.curve.insert(), [point])
            self._update_campaign(connection, campaign, settled=epoch)
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

    def findings(self, campaign: int) -> list[KeptFinding]:
        """In order of their first epoch and id."""
        table = schema.findings
        chosen = sa.select(table).where(table.c.campaign == campaign).order_by(table.c.epoch, table.c.id)
        with self._database.reading() as connection:
            rows = connection.execute(chosen).all()
        names = [field.name for field in dataclasses.fields(KeptFinding)]
        return [KeptFinding(**{name: row._mapping[name] for name in names}) for row in rows]

    # Looking after it

    def states(self, campaign: int) -> dict[str, int]:
        """How many items are ``open``, ``claimed`` and ``done``."""
        cases = schema.cases
        counted = sa.select(cases.c.state, sa.func.count()).where(cases.c.campaign == campaign).group_by(cases.c.state)
        with self._database.reading() as connection:
            found = {row[0]: row[1] for row in connection.execute(counted)}
        return {state: found.get(state, 0) for state in (OPEN, CLAIMED, DONE)}

    def problems(self, campaign: int) -> list[str]:
        """What is wrong with the campaign's records, a line each: with the database itself, with programs missing."""
        found = self._database.problems()
        cases, corpus = schema.cases, schema.corpus
        with self._database.reading() as connection:
            planned, settled = self._counts(connection, campaign)
            epochs = connection.execute(
                sa.select(cases.c.epoch, cases.c.state).where(cases.c.campaign == campaign)
            ).all()
            digests = set(connection.scalars(sa.select(cases.c.program).where(cases.c.campaign == campaign)))
            digests |= set(connection.scalars(sa.select(corpus.c.program).where(corpus.c.campaign == campaign)))
            points = connection.execute(
                sa.select(sa.func.count()).select_from(schema.curve).where(schema.curve.c.campaign == campaign)
            ).scalar_one()
        per_epoch = Counter(epoch for epoch, _ in epochs)
        if sorted(per_epoch) != list(range(1, planned + 1)):
            found.append(f"{planned} epochs are planned, but there are items of epochs {sorted(per_epoch)}")
        if any(epoch <= settled and state != DONE for epoch, state in epochs):
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

    def _insert(self, table: sa.Table) -> Any:
        return sqlite.insert(table) if self._database.is_sqlite else postgresql.insert(table)

    def _counts(self, connection: sa.Connection, campaign: int) -> tuple[int, int]:
        """Epochs planned and settled; nobody else changes them before the transaction ends."""
        table = schema.campaigns
        chosen = sa.select(table.c.planned, table.c.settled).where(table.c.id == campaign).with_for_update()
        row = connection.execute(chosen).one()
        return row.planned, row.settled

    def _update_campaign(self, connection: sa.Connection, campaign: int, **values: int) -> None:
        table = schema.campaigns
        connection.execute(table.update().where(table.c.id == campaign).values(**values))

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
            values = self._insert(table).values(campaign=campaign, position=number, **row)
            connection.execute(values.on_conflict_do_nothing())

    def _join_lines(self, connection: sa.Connection, campaign: int, added: Mapping[str, bytes]) -> None:
        before = _lines(connection, campaign)
        for file, bitmap in sorted(added.items()):
            old = before.get(file, b"")
            joined = int.from_bytes(old, "little") | int.from_bytes(bitmap, "little")
            data = joined.to_bytes((joined.bit_length() + 7) // 8, "little")
            if data != old:
                statement = self._insert(schema.lines).values(campaign=campaign, file=file, bitmap=data)
                update = statement.on_conflict_do_update(index_elements=["campaign", "file"], set_={"bitmap": data})
                connection.execute(update)


def _item(row: Any) -> Item:
    return Item(row.epoch, row.number, row.program, row.name, row.arms, row.options)


def _release(connection: sa.Connection, worker: str, but: Collection[int] = ()) -> int:
    cases = schema.cases
    released = {"state": OPEN, "worker": "", "attempt": cases.c.attempt - 1}
    mine = (cases.c.worker == worker, cases.c.state == CLAIMED, cases.c.id.not_in(sorted(but)))
    return connection.execute(cases.update().where(*mine).values(**released)).rowcount


def _is_held(claim: Claim, state: str = CLAIMED) -> tuple[sa.ColumnElement[bool], ...]:
    cases = schema.cases.c
    return (
        cases.id == claim.case,
        cases.state == state,
        cases.worker == claim.worker,
        cases.attempt == claim.attempt,
    )


def _lines(connection: sa.Connection, campaign: int) -> dict[str, bytes]:
    table = schema.lines
    rows = connection.execute(sa.select(table.c.file, table.c.bitmap).where(table.c.campaign == campaign))
    return {row.file: row.bitmap for row in rows}


def _chunks(rows: list[dict[str, Any]]) -> Iterable[list[dict[str, Any]]]:
    return (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK))
