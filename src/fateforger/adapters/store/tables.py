"""Common parts of the database tables. Each is declared by the module that reads and writes it.

Instants are whole microseconds since 1970 in UTC: exact, ordered, the same in every database. Domain values are stored
whole, as JSON text, next to the columns that are searched or change on their own. ``schema_version`` is the format of
that text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Dialect,
    Index,
    Integer,
    MetaData,
    Table,
    TypeDecorator,
    select,
    text,
)
from sqlmodel import Session, SQLModel
from sqlmodel.sql.expression import SelectOfScalar

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
        return to_microseconds(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  its signature
        return None if value is None else _EPOCH + value * _MICROSECOND


def to_microseconds(instant: datetime) -> int:
    """Return the microseconds since 1970, as an :class:`Instant` is stored."""
    return (instant - _EPOCH) // _MICROSECOND


class Base(SQLModel):
    """Base of our tables, with metadata of their own."""

    metadata: ClassVar[MetaData] = MetaData()


R = TypeVar("R")


def table(row: type[Base]) -> Table:
    """Return the table of a row class, for statements."""
    return Base.metadata.tables[str(row.__tablename__)]


def list_tables(dialect: str) -> tuple[Table, ...]:
    """Return the tables of a database, in an order in which rows can be added."""
    return tuple(each for each in Base.metadata.sorted_tables if each.info.get("only", dialect) == dialect)


def build_partial_index(name: str, *columns: str, where: str) -> Index:
    """Return an index of the rows that meet a condition."""
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


def find_rows(connection: Connection, query: SelectOfScalar[R]) -> Sequence[R]:
    """Return the row objects that a query finds. Changes to them are not written."""
    with Session(connection) as session:
        return session.exec(query).all()


AT_ONCE = 500
"""Rows that one statement of :func:`iter_keys` reads."""


def iter_keys(connection: Connection, key: ColumnElement[str], *conditions: ColumnElement[bool]) -> Iterator[str]:
    """Yield the different values of an indexed text column in order, a page at a time."""
    query = select(key).where(*conditions).distinct().order_by(key).limit(AT_ONCE)
    page = connection.execute(query).scalars().all()
    while page:
        yield from page
        page = connection.execute(query.where(key > page[-1])).scalars().all() if len(page) == AT_ONCE else ()


@contextmanager
def open_rows(connection: Connection) -> Iterator[Session]:
    """Open a session of row objects in the connection's transaction, and write what changed when the block ends."""
    with Session(connection) as session:
        yield session
        session.flush()
