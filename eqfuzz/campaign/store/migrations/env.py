"""Alembic runs this for every migration, on the connection that ``database.migrate`` gives it."""

from alembic import context

from eqfuzz.campaign.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
