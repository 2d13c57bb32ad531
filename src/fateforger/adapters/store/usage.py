"""Usage of language models, people's ratings, and the log of the operator's commands about people, in SQL."""

from __future__ import annotations

import json
from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, Connection, Index, Text, literal, tuple_
from sqlmodel import Field, select

from fateforger.adapters.store.database import OnDatabase
from fateforger.adapters.store.homes import mark_home
from fateforger.adapters.store.tables import AT_ONCE, AutoNumber, Base, Instant, find_rows, open_rows, table
from fateforger.ports.model import Role, Spent
from fateforger.ports.people import OperatorAction
from fateforger.session.store import Rating


class FeedbackRow(Base, table=True):
    """A person's latest rating of a turn that a model took part in."""

    __tablename__ = "feedback"
    __table_args__ = (Index("ix_feedback_user", "user_id"),)

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
    calls: int = Field(0, sa_type=BigInteger)
    failed: int = Field(0, sa_type=BigInteger)
    uncounted: int = Field(0, sa_type=BigInteger)
    unpriced: int = Field(0, sa_type=BigInteger)
    prompt_tokens: int = Field(0, sa_type=BigInteger)
    completion_tokens: int = Field(0, sa_type=BigInteger)
    nanodollars: int = Field(0, sa_type=BigInteger)


NANO = 1_000_000_000
"""Billionths of a dollar: cents are too coarse for one call, and sums of floats are inexact."""
_COUNTS = ("calls", "failed", "uncounted", "unpriced", "prompt_tokens", "completion_tokens")


class SqlUsage(OnDatabase):
    """Implements :class:`fateforger.ports.model.Usage` over a :class:`Database`."""

    async def add(self, spent: Spent) -> None:
        await self._database.write(lambda connection: _add(connection, spent))

    async def since(self, day: date) -> tuple[Spent, ...]:
        return await self._database.read(lambda connection: _list_since(connection, day))


def _add(connection: Connection, spent: Spent) -> None:
    key: dict[str, Any] = {"day": spent.day, "role": spent.role.value, "model": spent.model}
    with open_rows(connection) as rows:
        row = rows.get(ModelUsage, key) or ModelUsage(**key)
        for name in _COUNTS:
            setattr(row, name, getattr(row, name) + getattr(spent, name))
        row.nanodollars += round(spent.cost * NANO)
        rows.add(row)


def _list_since(connection: Connection, day: date) -> tuple[Spent, ...]:
    statement = select(ModelUsage).where(ModelUsage.day >= day).order_by(*table(ModelUsage).primary_key)
    return tuple(map(_to_spent, find_rows(connection, statement)))


def _to_spent(row: ModelUsage) -> Spent:
    counts = row.model_dump(exclude={"role", "nanodollars"})
    return Spent(**counts, role=Role(row.role), cost=row.nanodollars / NANO)


class SqlFeedbacks(OnDatabase):
    """Implements :class:`fateforger.session.store.Feedbacks` over a :class:`Database`."""

    async def rate(self, rating: Rating) -> None:
        await self._database.write(lambda connection: _rate(connection, rating))

    async def all(self) -> tuple[Rating, ...]:
        return await self._database.read(_list_ratings)


def _rate(connection: Connection, rating: Rating) -> None:
    with open_rows(connection) as rows:
        known = rows.get(FeedbackRow, rating.model_dump(include={"session_id", "turn", "user_id"}))
        if known is None:
            rows.add(FeedbackRow(**rating.model_dump(exclude={"prompts"}), prompts=json.dumps(rating.prompts)))
        elif known.at <= rating.at:
            known.helpful, known.at = rating.helpful, rating.at


def _list_ratings(connection: Connection) -> tuple[Rating, ...]:
    key = tuple(table(FeedbackRow).primary_key)
    query = select(FeedbackRow).order_by(*key).limit(AT_ONCE)
    found, page = list[FeedbackRow](), find_rows(connection, query)
    while page:
        found += page
        last = tuple_(*(literal(getattr(page[-1], column.name)) for column in key))
        page = find_rows(connection, query.where(tuple_(*key) > last)) if len(page) == AT_ONCE else ()
    found.sort(key=lambda row: (row.at, row.session_id, row.turn, row.user_id))
    return tuple(Rating.model_validate(row.model_dump() | {"prompts": json.loads(row.prompts)}) for row in found)


class OperatorActionRow(Base, table=True):
    """A command that read or changed a person's data."""

    __tablename__ = "operator_action"
    __table_args__ = (
        Index("ix_operator_action_user", "user_id", "number"),
        Index("ix_operator_action_at", "at"),
    )

    number: int | None = Field(default=None, primary_key=True, sa_type=AutoNumber)
    user_id: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)
    command: str = Field(sa_type=Text)
    operator: str = Field(sa_type=Text)


OPERATOR_ACTION = table(OperatorActionRow)


class SqlOperatorLog(OnDatabase):
    """Implements :class:`fateforger.ports.people.OperatorLog` over a :class:`Database`."""

    async def note(self, action: OperatorAction) -> None:
        def work(connection: Connection) -> None:
            with open_rows(connection) as rows:
                rows.add(
                    OperatorActionRow(
                        user_id=action.user_id, at=action.at, command=action.command, operator=action.operator
                    )
                )
            mark_home(connection, action.user_id)

        await self._database.write(work)

    async def latest(self, user_id: str, *, limit: int) -> tuple[OperatorAction, ...]:
        of_person = select(OperatorActionRow).where(OPERATOR_ACTION.c.user_id == user_id)
        query = of_person.order_by(OPERATOR_ACTION.c.number.desc()).limit(limit)
        rows = await self._database.read(lambda connection: find_rows(connection, query))
        return tuple(OperatorAction(row.user_id, row.at, row.command, row.operator) for row in rows)
