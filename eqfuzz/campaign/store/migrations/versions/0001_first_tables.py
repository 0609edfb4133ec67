"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "campaigns",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("versions", sa.JSON(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("planned", sa.Integer(), nullable=False),
        sa.Column("settled", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_campaigns"),
        sa.UniqueConstraint("name", name="uq_campaigns_name"),
    )
    op.create_table(
        "workers",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("beat", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_workers"),
    )
    op.create_table(
        "arms",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("dimension", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("reward", sa.Double(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.Column("pulls", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name="fk_arms_campaign", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("campaign", "dimension", "name", name="pk_arms"),
    )
    op.create_table(
        "cases",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("program", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("arms", sa.JSON(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("worker", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("came", sa.String(), nullable=False),
        sa.Column("outcome", sa.JSON(), nullable=False),
        sa.Column("finished", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name="fk_cases_campaign", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_cases"),
        sa.UniqueConstraint("campaign", "epoch", "number", name="uq_cases_campaign"),
    )
    op.create_index("ix_cases_state", "cases", ["campaign", "state", "id"], unique=False)
    op.create_index("ix_cases_worker", "cases", ["worker", "state"], unique=False)
    op.create_table(
        "corpus",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("program", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("parent", sa.String(), nullable=False),
        sa.Column("arms", sa.JSON(), nullable=False),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("features", sa.JSON(), nullable=False),
        sa.Column("cost", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name="fk_corpus_campaign", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("campaign", "program", name="pk_corpus"),
    )
    op.create_table(
        "curve",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("epoch", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("point", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name="fk_curve_campaign", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("campaign", "epoch", name="pk_curve"),
    )
    op.create_table(
        "features",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("feature", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name="fk_features_campaign", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("campaign", "feature", name="pk_features"),
    )
    op.create_table(
        "findings",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("bucket", sa.String(), nullable=False),
        sa.Column("issue", sa.String(), nullable=False),
        sa.Column("seed", sa.String(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name="fk_findings_campaign", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("campaign", "id", name="pk_findings"),
    )
    op.create_table(
        "lines",
        sa.Column("campaign", sa.Integer(), nullable=False),
        sa.Column("file", sa.String(), nullable=False),
        sa.Column("bitmap", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["campaign"], ["campaigns.id"], name="fk_lines_campaign", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("campaign", "file", name="pk_lines"),
    )
