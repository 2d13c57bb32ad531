"""Common parts of the database tables. Each is declared by the module that reads and writes it.

Instants are whole microseconds since 1970 in UTC: exact, ordered, the same in every database. Domain values are stored
whole, as JSON text, next to the columns that are searched or change on their own. ``schema_version`` is the format of
that text.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from sqlalchemy import BigInteger, Connection, Dialect, Integer, MetaData, Table, TypeDecorator
from sqlmodel import Session, SQLModel

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
AutoNumber = BigInteger().with_variant(Integer, "sqlite")
"""A number that the database increments; SQLite does so only for its own integer type."""


class Instant(TypeDecorator[datetime]):
    """An aware datetime as microseconds since the epoch; it comes back in UTC."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002  its signature
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  its signature
        return None if value is None else _EPOCH + value * _MICROSECOND


class Base(SQLModel):
    """Base of our tables, with metadata of their own."""

    metadata: ClassVar[MetaData] = MetaData()


metadata = Base.metadata


def table(row: type[Base]) -> Table:
    """Return the table of a row class, for statements."""
    return metadata.tables[str(row.__tablename__)]


@contextmanager
def open_rows(connection: Connection) -> Iterator[Session]:
    """Open a session of row objects in the connection's transaction, and write what changed when the block ends."""
    with Session(connection) as session:
        yield session
        session.flush()
