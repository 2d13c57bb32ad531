"""Alembic's environment. The program supplies the connection, inside its transaction."""

from __future__ import annotations

from alembic import context

from fateforger.adapters.store.database import VERSION_TABLE
from fateforger.adapters.store.store import metadata

if context.is_offline_mode():
    context.configure(
        dialect_name=context.config.attributes["dialect"],
        literal_binds=True,
        version_table=VERSION_TABLE,
    )
else:
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        version_table=VERSION_TABLE,
        render_as_batch=True,
    )

with context.begin_transaction():
    context.run_migrations()
