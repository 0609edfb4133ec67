"""Numbers of planned and committed epochs, as the database has them."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa

from eqfuzz.campaign.store import schema


class Epochs(NamedTuple):
    """Numbers of epochs of a campaign."""

    planned: int
    committed: int


def epochs(connection: sa.Connection, campaign: int) -> Epochs:
    """The current numbers, locked until the transaction ends."""
    table = schema.campaigns
    chosen = sa.select(table.c.planned, table.c.settled).where(table.c.id == campaign).with_for_update()
    return Epochs(*connection.execute(chosen).one())


def set_planned(connection: sa.Connection, campaign: int, planned: int) -> None:
    table = schema.campaigns
    connection.execute(table.update().where(table.c.id == campaign).values(planned=planned))


def set_committed(connection: sa.Connection, campaign: int, committed: int) -> None:
    table = schema.campaigns
    connection.execute(table.update().where(table.c.id == campaign).values(settled=committed))
