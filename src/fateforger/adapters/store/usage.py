"""Usage of language models and people's ratings of their output, in SQL."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, Connection, Row, RowMapping, Text, bindparam, insert, select, update
from sqlmodel import Field

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.tables import Base, Instant, table
from fateforger.ports.model import Role, Spent
from fateforger.session.store import Rating


class FeedbackRow(Base, table=True):
    """A person's latest rating of a turn that a model took part in."""

    __tablename__ = "feedback"

    session_id: str = Field(primary_key=True, sa_type=Text)
    turn: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(primary_key=True, sa_type=Text)
    helpful: bool
    prompts: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)


class ModelUsage(Base, table=True):
    """Counts of model calls by day, role and model. No column says who asked or about what."""

    __tablename__ = "model_usage"

    day: date = Field(primary_key=True)
    role: str = Field(primary_key=True, sa_type=Text)
    model: str = Field(primary_key=True, sa_type=Text)
    calls: int = Field(sa_type=BigInteger)
    failed: int = Field(sa_type=BigInteger)
    uncounted: int = Field(sa_type=BigInteger)
    unpriced: int = Field(sa_type=BigInteger)
    prompt_tokens: int = Field(sa_type=BigInteger)
    completion_tokens: int = Field(sa_type=BigInteger)
    nanodollars: int = Field(sa_type=BigInteger)


USAGE = table(ModelUsage)
NANO = 1_000_000_000
"""Billionths of a dollar: cents are too coarse for one call, and sums of floats are inexact."""

_KEYS = (USAGE.c.day, USAGE.c.role, USAGE.c.model)
_THIS = (
    USAGE.c.day == bindparam("of_day"),
    USAGE.c.role == bindparam("of_role"),
    USAGE.c.model == bindparam("of_model"),
)
_COUNTS = tuple(column for column in USAGE.c if column not in set(_KEYS))
_ADD = update(USAGE).where(*_THIS).values({c.name: c + bindparam(f"more_{c.name}") for c in _COUNTS})
_FIRST = insert(USAGE)
_SINCE = select(USAGE).where(USAGE.c.day >= bindparam("first")).order_by(*_KEYS)


class SqlUsage:
    """Implements :class:`fateforger.ports.model.Usage` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, spent: Spent) -> None:
        await self._database.write(lambda connection: _add(connection, spent))

    async def since(self, day: date) -> tuple[Spent, ...]:
        return await self._database.read(
            lambda connection: tuple(_to_spent(row) for row in connection.execute(_SINCE, {"first": day}))
        )


def _add(connection: Connection, spent: Spent) -> None:
    counts = _to_counts(spent)
    key = {"of_day": spent.day, "of_role": spent.role.value, "of_model": spent.model}
    if connection.execute(_ADD, {**key, **{f"more_{name}": count for name, count in counts.items()}}).rowcount == 0:
        connection.execute(_FIRST, {"day": spent.day, "role": spent.role.value, "model": spent.model, **counts})


def _to_counts(spent: Spent) -> dict[str, int]:
    return {
        "calls": spent.calls,
        "failed": spent.failed,
        "uncounted": spent.uncounted,
        "unpriced": spent.unpriced,
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "nanodollars": round(spent.cost * NANO),
    }


def _to_spent(row: Row[Any]) -> Spent:
    return Spent(
        day=row.day,
        role=Role(row.role),
        model=row.model,
        calls=row.calls,
        failed=row.failed,
        uncounted=row.uncounted,
        unpriced=row.unpriced,
        prompt_tokens=row.prompt_tokens,
        completion_tokens=row.completion_tokens,
        cost=row.nanodollars / NANO,
    )


FEEDBACK = table(FeedbackRow)

_ALL = select(FEEDBACK).order_by(FEEDBACK.c.at, FEEDBACK.c.session_id, FEEDBACK.c.turn, FEEDBACK.c.user_id)
_KNOWN = select(FEEDBACK.c.turn).where(
    FEEDBACK.c.session_id == bindparam("of_session"),
    FEEDBACK.c.turn == bindparam("of_turn"),
    FEEDBACK.c.user_id == bindparam("of_user"),
)
_CHANGE = (
    update(FEEDBACK)
    .where(
        FEEDBACK.c.session_id == bindparam("of_session"),
        FEEDBACK.c.turn == bindparam("of_turn"),
        FEEDBACK.c.user_id == bindparam("of_user"),
        FEEDBACK.c.at <= bindparam("now"),
    )
    .values(helpful=bindparam("good"), at=bindparam("now"))
)


class SqlFeedbacks:
    """Implements :class:`fateforger.session.store.Feedbacks` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def rate(self, rating: Rating) -> None:
        await self._database.write(lambda connection: _rate(connection, rating))

    async def all(self) -> tuple[Rating, ...]:
        return await self._database.read(lambda connection: tuple(map(_to_rating, connection.execute(_ALL).mappings())))


def _rate(connection: Connection, rating: Rating) -> None:
    key = {"of_session": rating.session_id, "of_turn": rating.turn, "of_user": rating.user_id}
    if connection.execute(_KNOWN, key).first() is not None:
        connection.execute(_CHANGE, {**key, "good": rating.helpful, "now": rating.at})
        return
    values: Mapping[str, Any] = {**rating.model_dump(), "prompts": json.dumps(rating.prompts)}
    connection.execute(insert(FEEDBACK), values)


def _to_rating(row: RowMapping) -> Rating:
    return Rating.model_validate({**row, "prompts": json.loads(row["prompts"])})
