"""Common parts of the database tables: their columns, rows, and JSON texts. A module declares the tables it uses.

Instants are whole microseconds since 1970 in UTC: exact, ordered, the same in every database. Domain values are stored
whole, as JSON text, next to the columns that are searched or change on their own. ``schema_version`` is the format of
that text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ValidationError
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

from fateforger.errors import InternalError, StoreUnavailable

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
B = TypeVar("B", bound=Base)


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


def find_row(connection: Connection, row: type[B], key: object) -> B | None:
    """Return the row object with a primary key. Changes to it are not written."""
    with Session(connection) as session:
        return session.get(row, key)


def put_row(connection: Connection, row: Base) -> None:
    """Write a row in place of the one with its primary key, or as a new one."""
    with open_rows(connection) as rows:
        rows.merge(row)


@contextmanager
def open_rows(connection: Connection) -> Iterator[Session]:
    """Open a session of row objects in the connection's transaction, and write what changed when the block ends."""
    with Session(connection) as session:
        yield session
        session.flush()


JOURNAL_VERSION = 2
"""Format of transactions, ops and heads. 2 adds what events hold beyond the managed fields."""

SESSION_VERSION = 3
"""Format of planning sessions.

2 adds the clock, the basis of a plan, and the events a calendar left out; 3 has the fields in groups.
"""

OUTBOX_VERSION = 3
"""Format of outgoing messages. 3 adds replies."""

CONSTRAINT_VERSION = 1
"""Format of constraint records."""

TASK_VERSION = 3
"""Format of the tasks of a queue. 2 adds reminders, 3 the states of a workflow since the latest step."""

PROPOSAL_VERSION = 1
"""Format of agents' proposals."""

M = TypeVar("M", bound=BaseModel)


def expect_version(what: str, found: int, known: int) -> None:
    """Refuse a value that a newer program has written. Raises ``StoreUnavailable``."""
    if found > known:
        raise StoreUnavailable(
            f"{what} was saved by a newer fateforger (format {found}, this one knows {known}); please upgrade."
        )


def parse(model: type[M], text: str, what: str) -> M:
    """Parse a stored text. Raises ``StoreUnavailable`` when it is damaged."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        where = ".".join(map(str, problem["loc"])) or "its start"
        raise StoreUnavailable(f"{what} cannot be read from the database: {problem['msg']} at {where}.") from error


def parse_mapping(text: str, what: str) -> Mapping[str, Any]:
    """Parse a stored JSON object. Raises ``StoreUnavailable`` when it is damaged."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise StoreUnavailable(f"{what} cannot be read from the database: {error}.") from error
    if not isinstance(value, dict):
        raise StoreUnavailable(f"{what} cannot be read from the database: it is not an object.")
    return value


def dump_mapping(value: Mapping[str, Any], what: str) -> str:
    """Return the JSON text of a mapping of plain values. Raises ``InternalError`` for other values."""
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InternalError(f"{what} is not JSON: {error}") from error
