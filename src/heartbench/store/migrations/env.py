"""What Alembic runs: migrations on the connection, and in the transaction, that the store gives."""

from alembic import context

from heartbench.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
