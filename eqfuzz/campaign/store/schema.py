"""The tables of a store. ``migrations/`` makes them; a test compares the two."""

from __future__ import annotations

import sqlalchemy as sa

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_name)s",
    "uq": "uq_%(table_name)s_%(column_0_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = sa.MetaData(naming_convention=NAMES)


def _campaign() -> sa.Column[int]:
    return sa.Column("campaign", sa.Integer, sa.ForeignKey("campaigns.id", ondelete="CASCADE"), primary_key=True)


campaigns = sa.Table(
    "campaigns",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, nullable=False, unique=True),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("settings", sa.JSON, nullable=False),
    sa.Column("versions", sa.JSON, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("planned", sa.Integer, nullable=False),
    sa.Column("settled", sa.Integer, nullable=False),
)

cases = sa.Table(
    "cases",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("campaign", sa.Integer, sa.ForeignKey("campaigns.id", ondelete="CASCADE"), nullable=False),
    sa.Column("epoch", sa.Integer, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("program", sa.String, nullable=False),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("arms", sa.JSON, nullable=False),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("state", sa.String, nullable=False),
    sa.Column("worker", sa.String, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("came", sa.String, nullable=False),
    sa.Column("outcome", sa.JSON, nullable=False),
    sa.Column("finished", sa.Double),
    sa.UniqueConstraint("campaign", "epoch", "number"),
    sa.Index("ix_cases_state", "campaign", "state", "id"),
    sa.Index("ix_cases_worker", "worker", "state"),
)

programs = sa.Table(
    "programs",
    metadata,
    sa.Column("digest", sa.String, primary_key=True),
    sa.Column("text", sa.LargeBinary, nullable=False),
)
"""On a server only, whose users may share no folder: SQLite has the files beside it."""

findings = sa.Table(
    "findings",
    metadata,
    _campaign(),
    sa.Column("id", sa.String, primary_key=True),
    sa.Column("kind", sa.String, nullable=False),
    sa.Column("fingerprint", sa.String, nullable=False),
    sa.Column("bucket", sa.String, nullable=False),
    sa.Column("issue", sa.String, nullable=False),
    sa.Column("seed", sa.String, nullable=False),
    sa.Column("epoch", sa.Integer, nullable=False),
    sa.Column("report", sa.JSON, nullable=False),
)

corpus = sa.Table(
    "corpus",
    metadata,
    _campaign(),
    sa.Column("program", sa.String, primary_key=True),
    sa.Column("settings_digest", sa.String, primary_key=True, server_default=""),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("parent", sa.String, nullable=False),
    sa.Column("arms", sa.JSON, nullable=False),
    sa.Column("rules", sa.JSON, nullable=False),
    sa.Column("features", sa.JSON, nullable=False),
    sa.Column("cost", sa.Double, nullable=False),
    sa.Column("settings", sa.JSON, nullable=False, server_default="{}"),
)

features = sa.Table(
    "features",
    metadata,
    _campaign(),
    sa.Column("feature", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("epoch", sa.Integer, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
)

arms = sa.Table(
    "arms",
    metadata,
    _campaign(),
    sa.Column("dimension", sa.String, primary_key=True),
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("reward", sa.Double, nullable=False),
    sa.Column("cost", sa.Double, nullable=False),
    sa.Column("pulls", sa.Integer, nullable=False),
)

lines = sa.Table(
    "lines",
    metadata,
    _campaign(),
    sa.Column("file", sa.String, primary_key=True),
    sa.Column("bitmap", sa.LargeBinary, nullable=False),
)

curve = sa.Table(
    "curve",
    metadata,
    _campaign(),
    sa.Column("epoch", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("point", sa.JSON, nullable=False),
)

workers = sa.Table(
    "workers",
    metadata,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("host", sa.String, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("beat", sa.Double, nullable=False),
)
