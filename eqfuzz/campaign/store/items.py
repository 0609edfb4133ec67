"""Items of campaigns: leased to workers, released or completed, with their outcomes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

import sqlalchemy as sa

from eqfuzz.campaign.store import schema
from eqfuzz.campaign.store.database import Database
from eqfuzz.campaign.store.epochs import epochs, set_planned
from eqfuzz.campaign.store.outcome import Outcome, Symptom
from eqfuzz.campaign.store.reader import CLAIMED, DONE, OPEN, item_of
from eqfuzz.campaign.store.records import Item, Lease, StoredFinding


class Items:
    """The items of all campaigns of a store; any number of processes and threads may use them at once.

    Every method is one transaction. All raise StoreError, and StoreUnavailable where a retry may help.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_epoch(self, campaign: int, epoch: int, items: Sequence[Item]) -> bool:
        """Add the items of the next epoch; False where another process has planned it."""
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
            set_planned(connection, campaign, epoch)
        return True

    def lease(self, campaign: int, worker: str) -> Lease | None:
        """Lease the first open item to ``worker``; None where there is none."""
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
        return Lease(row.id, item_of(dict(row._mapping)), worker, attempt)

    def release_worker(self, worker: str) -> int:
        """Release all leases of ``worker``, which do not count as attempts; returns their number."""
        with self._database.writing() as connection:
            number = _release(connection, worker)
            connection.execute(schema.workers.delete().where(schema.workers.c.name == worker))
        return number

    def release_unknown(self, worker: str, held: Collection[int]) -> int:
        """Release the leases of ``worker`` on items other than ``held``: it may not have received an answer."""
        with self._database.writing() as connection:
            return _release(connection, worker, held)

    def fail(self, lease: Lease) -> bool:
        """End a lease whose attempt has failed, and counts; False where it has expired."""
        with self._database.writing() as connection:
            released = schema.cases.update().where(*_is_held(lease)).values(state=OPEN, worker="")
            return connection.execute(released).rowcount == 1

    def heartbeat(self, worker: str, host: str, pid: int, now: float) -> None:
        """Record that ``worker`` is alive at Unix time ``now``."""
        statement = self._database.insert(schema.workers).values(name=worker, host=host, pid=pid, beat=now)
        with self._database.writing() as connection:
            connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_={"beat": now}))

    def release_expired(self, now: float, after: float) -> int:
        """Release the leases of workers without a heartbeat for ``after`` seconds; returns their number."""
        cases, workers = schema.cases, schema.workers
        with self._database.writing() as connection:
            silent = list(connection.scalars(sa.select(workers.c.name).where(workers.c.beat < now - after)))
            if not silent:
                return 0
            held = (cases.c.worker.in_(silent), cases.c.state == CLAIMED)
            number = connection.execute(cases.update().where(*held).values(state=OPEN, worker="")).rowcount
            connection.execute(workers.delete().where(workers.c.name.in_(silent)))
        return number

    def complete(self, lease: Lease, outcome: Outcome, findings: Sequence[StoredFinding], now: float) -> bool:
        """Store the result of a leased item. False, and nothing is stored, where the lease has expired.

        True where the same lease was completed before: this is a retry after a lost answer. A finding that is stored
        already stays as it is, but for its epoch, which is the earliest, regardless of scheduling.
        """
        cases, table = schema.cases, schema.findings
        done = {"state": DONE, "came": outcome.state, "outcome": outcome.to_json(), "finished": now}
        with self._database.writing() as connection:
            if connection.execute(cases.update().where(*_is_held(lease)).values(**done)).rowcount != 1:
                return connection.execute(sa.select(cases.c.id).where(*_is_held(lease, DONE))).first() is not None
            campaign = connection.execute(sa.select(cases.c.campaign).where(cases.c.id == lease.case)).scalar_one()
            rows = [
                {"campaign": campaign, **dataclasses.asdict(one)} for one in sorted(findings, key=lambda one: one.id)
            ]
            for row in rows:
                statement = self._database.insert(table).values(**row)
                connection.execute(
                    statement.on_conflict_do_update(
                        index_elements=["campaign", "id"],
                        set_={"epoch": row["epoch"]},
                        where=table.c.epoch > row["epoch"],
                    )
                )
        return True

    def results_of_epoch(self, campaign: int, epoch: int) -> list[tuple[Item, Outcome]] | None:
        """The items of ``epoch`` in order, with their outcomes; None while it is not planned or not all are done."""
        cases = schema.cases
        chosen = sa.select(cases).where(cases.c.campaign == campaign, cases.c.epoch == epoch).order_by(cases.c.number)
        with self._database.reading() as connection:
            rows = connection.execute(chosen).all()
        if not rows or any(row.state != DONE for row in rows):
            return None
        return [(item_of(dict(row._mapping)), Outcome.model_validate(row.outcome)) for row in rows]

    def draw_counts(self, campaign: int) -> dict[str, int]:
        """How often each seed was planned, by its name."""
        cases = schema.cases
        counted = sa.select(cases.c.name, sa.func.count()).where(cases.c.campaign == campaign).group_by(cases.c.name)
        with self._database.reading() as connection:
            return {row[0]: row[1] for row in connection.execute(counted)}

    def invalid_seeds(self, campaign: int, until: int) -> set[str]:
        """Names of seeds that are invalid or whose items were lost, up to epoch ``until``."""
        cases = schema.cases
        where = (cases.c.campaign == campaign, cases.c.epoch <= until, cases.c.came.in_(("invalid", "lost")))
        with self._database.reading() as connection:
            return set(connection.scalars(sa.select(cases.c.name).where(*where).distinct()))

    def symptoms(self, campaign: int, until: int) -> dict[str, set[Symptom]]:
        """Confirmed symptoms of originals up to epoch ``until``, by the digest of their text."""
        cases = schema.cases
        chosen = sa.select(cases.c.program, cases.c.outcome["shown"]).where(
            cases.c.campaign == campaign, cases.c.epoch <= until, cases.c.came == "done"
        )
        by_digest: dict[str, set[Symptom]] = {}
        with self._database.reading() as connection:
            for digest, symptoms in connection.execute(chosen):
                if symptoms:
                    by_digest.setdefault(digest, set()).update(map(tuple, symptoms))
        return by_digest


def _release(connection: sa.Connection, worker: str, but: Collection[int] = ()) -> int:
    cases = schema.cases
    released = {"state": OPEN, "worker": "", "attempt": cases.c.attempt - 1}
    mine = (cases.c.worker == worker, cases.c.state == CLAIMED, cases.c.id.not_in(sorted(but)))
    return connection.execute(cases.update().where(*mine).values(**released)).rowcount


def _is_held(lease: Lease, state: str = CLAIMED) -> tuple[sa.ColumnElement[bool], ...]:
    cases = schema.cases.c
    return (
        cases.id == lease.case,
        cases.state == state,
        cases.worker == lease.worker,
        cases.attempt == lease.attempt,
    )
