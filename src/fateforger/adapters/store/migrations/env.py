"""Alembic's environment. The program supplies the connection, inside its transaction."""

from __future__ import annotations

from typing import Any

from alembic import context

from fateforger.adapters.store.database import VERSION_TABLE
from fateforger.adapters.store.store import metadata


def is_declared(thing: Any, name: str | None, kind: str, _reflected: bool, _other: Any) -> bool:  # noqa: FBT001  Alembic's signature
    """Leave Procrastinate's tables to its own migrations, and those of the other kind of database aside."""
    table = thing if kind == "table" else getattr(thing, "table", None)
    if str(name if table is None else table.name).startswith("procrastinate_"):
        return False
    dialect = context.get_context().dialect.name
    return table is None or bool(table.info.get("only", dialect) == dialect)


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
        include_object=is_declared,
    )

with context.begin_transaction():
    context.run_migrations()
