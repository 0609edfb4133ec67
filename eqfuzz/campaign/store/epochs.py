"""How far a campaign is."""

from __future__ import annotations

from typing import NamedTuple

import sqlalchemy as sa

from eqfuzz.campaign.store import schema


class Epochs(NamedTuple):
    """How many epochs of a campaign are planned, and how many settled."""

    planned: int
    settled: int


def epochs(connection: sa.Connection, campaign: int) -> Epochs:
    """As they stand; nobody else changes them before the transaction ends."""
    table = schema.campaigns
    chosen = sa.select(table.c.planned, table.c.settled).where(table.c.id == campaign).with_for_update()
    return Epochs(*connection.execute(chosen).one())


def set_epochs(connection: sa.Connection, campaign: int, **numbers: int) -> None:
    """From now on this many are ``planned``, or ``settled``."""
    table = schema.campaigns
    connection.execute(table.update().where(table.c.id == campaign).values(**numbers))
