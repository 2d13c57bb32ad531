"""Messages that the bot sends by itself, in SQL: the choices of people, and a mark for each message."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import cast

from sqlalchemy import Connection, Text
from sqlmodel import Field, select

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.documents import dump_mapping
from fateforger.adapters.store.installations import find_unreachable
from fateforger.adapters.store.jobs import SqlJobs, enqueue
from fateforger.adapters.store.tables import Base, Instant, find_rows, open_rows, table
from fateforger.conversation.rituals.ports import Outcome
from fateforger.conversation.rituals.schedule import Due, RitualSettings
from fateforger.ports.jobs import NewJob
from fateforger.session.queue_commands import RitualKind
from fateforger.slack.ids import get_tenant
from fateforger.values import replace


class RitualRow(Base, table=True):
    """The choices of a person, as JSON. ``version`` overrides the text."""

    __tablename__ = "ritual"

    user_id: str = Field(primary_key=True, sa_type=Text)
    settings: str = Field(sa_type=Text)
    version: int


class RitualMark(Base, table=True):
    """The outcome of a message of a date of a person's calendar. There is at most one."""

    __tablename__ = "ritual_mark"

    user_id: str = Field(primary_key=True, sa_type=Text)
    kind: str = Field(primary_key=True, sa_type=Text)
    day: date = Field(primary_key=True)
    outcome: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)


RITUAL, RITUAL_MARK = table(RitualRow), table(RitualMark)


class SqlRituals:
    """Implements :class:`fateforger.conversation.rituals.ports.Rituals` over a :class:`Database`."""

    def __init__(self, database: Database, jobs: SqlJobs) -> None:
        self._database = database
        self._jobs = jobs

    async def all(self) -> tuple[RitualSettings, ...]:
        return await self._database.read(_find_reachable)

    async def of(self, user_id: str) -> RitualSettings | None:
        found = await self._database.read(lambda connection: find_settings(connection, user_id))
        return next(iter(found), None)

    async def change(self, user_id: str, change: Callable[[RitualSettings | None], RitualSettings]) -> RitualSettings:
        return await self._database.write(lambda connection: _change(connection, user_id, change))

    async def find_marks(self, user_id: str, since: date) -> frozenset[tuple[RitualKind, date]]:
        return await self._database.read(lambda connection: _find_marks(connection, user_id, since))

    async def mark(
        self, settings: RitualSettings, due: Due, outcome: Outcome, *, now: datetime, job: NewJob | None = None
    ) -> bool:
        marked = await self._database.write(lambda connection: _mark(connection, settings, due, outcome, now, job))
        if marked and job is not None:
            self._jobs.announce(job.lane)
        return marked


def _find_reachable(connection: Connection) -> tuple[RitualSettings, ...]:
    tenants, people = find_unreachable(connection)
    found = find_settings(connection)
    return tuple(each for each in found if each.user_id not in people and get_tenant(each.user_id) not in tenants)


def find_settings(connection: Connection, user_id: str | None = None) -> tuple[RitualSettings, ...]:
    """Return the settings of everyone, or those of one person."""
    query = select(RitualRow).order_by(RITUAL.c.user_id)
    query = query if user_id is None else query.where(RITUAL.c.user_id == user_id)
    return tuple(map(_to_settings, find_rows(connection, query)))


def _to_settings(row: RitualRow) -> RitualSettings:
    return replace(RitualSettings.model_validate_json(row.settings), version=row.version)


def _change(
    connection: Connection, user_id: str, change: Callable[[RitualSettings | None], RitualSettings]
) -> RitualSettings:
    with open_rows(connection) as rows:
        row = rows.get(RitualRow, user_id, with_for_update=True)
        before = None if row is None else _to_settings(row)
        after = change(before)
        after = replace(after, version=1 if before is None else before.version + 1)
        rows.merge(RitualRow(user_id=user_id, settings=after.model_dump_json(), version=after.version))
    return after


def _find_marks(connection: Connection, user_id: str, since: date) -> frozenset[tuple[RitualKind, date]]:
    query = select(RitualMark).where(RITUAL_MARK.c.user_id == user_id, RITUAL_MARK.c.day >= since)
    return frozenset((cast(RitualKind, row.kind), row.day) for row in find_rows(connection, query))


def _mark(
    connection: Connection, settings: RitualSettings, due: Due, outcome: Outcome, now: datetime, job: NewJob | None
) -> bool:
    with open_rows(connection) as rows:
        row = rows.get(RitualRow, settings.user_id, with_for_update=True)
        if row is None or row.version != settings.version:
            return False
        if rows.get(RitualMark, (settings.user_id, due.kind, due.day)) is not None:
            return False
        rows.add(RitualMark(user_id=settings.user_id, kind=due.kind, day=due.day, outcome=outcome, at=now))
    if job is not None:
        enqueue(connection, job, dump_mapping(job.payload, f"The payload of a job on lane {job.lane}"), now)
    return True
