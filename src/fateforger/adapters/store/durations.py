"""Observed lengths of people's tasks, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from sqlalchemy import Connection, Text, delete
from sqlmodel import Field, select

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.homes import mark_home
from fateforger.adapters.store.tables import Base, find_rows, open_rows, table
from fateforger.tasks.durations import Observation
from fateforger.tasks.ports import MOST_OBSERVATIONS


class DurationRow(Base, table=True):
    """An observed length of a task."""

    __tablename__ = "task_duration"

    user_id: str = Field(primary_key=True, sa_type=Text)
    id: str = Field(primary_key=True, sa_type=Text)
    title: str = Field(sa_type=Text)
    deep: bool
    planned: int
    actual: int
    day: date
    source: str = Field(sa_type=Text)


DURATION = table(DurationRow)


class SqlDurations:
    """Implements :class:`fateforger.tasks.ports.Durations` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, user_id: str) -> tuple[Observation, ...]:
        latest = (DURATION.c.day.desc(), DURATION.c.id.desc())
        query = select(DurationRow).where(DURATION.c.user_id == user_id).order_by(*latest).limit(MOST_OBSERVATIONS)
        rows = await self._database.read(lambda connection: find_rows(connection, query))
        return tuple(Observation.model_validate(row.model_dump(exclude={"user_id"})) for row in reversed(rows))

    async def keep(self, user_id: str, observations: Sequence[Observation], *, gone: Sequence[str] = ()) -> None:
        kept, dropped = tuple(observations), tuple(gone)
        if kept or dropped:
            await self._database.write(lambda connection: _keep(connection, user_id, kept, dropped))


def _keep(connection: Connection, user_id: str, kept: tuple[Observation, ...], gone: tuple[str, ...]) -> None:
    if gone:
        connection.execute(delete(DURATION).where(DURATION.c.user_id == user_id, DURATION.c.id.in_(gone)))
    with open_rows(connection) as rows:
        for each in kept:
            rows.merge(DurationRow(user_id=user_id, **each.model_dump()))
    mark_home(connection, user_id)
