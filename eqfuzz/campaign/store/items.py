"""What campaigns have to do: items handed out to workers, taken back, and what came of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa

from eqfuzz.campaign.store import schema
from eqfuzz.campaign.store.database import Database
from eqfuzz.campaign.store.epochs import epochs, set_epochs
from eqfuzz.campaign.store.records import Claim, Item, Json, StoredFinding

OPEN, CLAIMED, DONE = "open", "claimed", "done"


class Items:
    """The items of a store's campaigns, used by any number of processes and threads at once.

    Every method is one transaction and raises StoreError; StoreUnavailable where the trouble may pass.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_epoch(self, campaign: int, epoch: int, items: Sequence[Item]) -> bool:
        """Add the next epoch's items; False where somebody else was first."""
        with self._database.writing() as connection:
            if epochs(connection, campaign).planned != epoch - 1:
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
            set_epochs(connection, campaign, planned=epoch)
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
        statement = self._database.insert(schema.workers).values(name=worker, host=host, pid=pid, beat=now)
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

    def finish(self, claim: Claim, outcome: Json, found: Sequence[StoredFinding], now: float) -> bool:
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
                statement = self._database.insert(findings).values(**row)
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

    def states(self, campaign: int) -> dict[str, int]:
        """How many items are ``open``, ``claimed`` and ``done``."""
        cases = schema.cases
        counted = sa.select(cases.c.state, sa.func.count()).where(cases.c.campaign == campaign).group_by(cases.c.state)
        with self._database.reading() as connection:
            found = {row[0]: row[1] for row in connection.execute(counted)}
        return {state: found.get(state, 0) for state in (OPEN, CLAIMED, DONE)}


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
