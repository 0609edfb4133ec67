"""Settings of corpus entries: the same program may be one under several configurations."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("corpus", sa.Column("settings_digest", sa.String(), nullable=False, server_default=""))
    op.add_column("corpus", sa.Column("settings", sa.JSON(), nullable=False, server_default="{}"))
    with op.batch_alter_table("corpus") as table:
        table.drop_constraint("pk_corpus", type_="primary")
        table.create_primary_key("pk_corpus", ["campaign", "program", "settings_digest"])


def downgrade() -> None:
    op.execute("DELETE FROM corpus WHERE settings_digest <> ''")
    with op.batch_alter_table("corpus") as table:
        table.drop_constraint("pk_corpus", type_="primary")
        table.create_primary_key("pk_corpus", ["campaign", "program"])
    with op.batch_alter_table("corpus") as table:
        table.drop_column("settings")
        table.drop_column("settings_digest")
