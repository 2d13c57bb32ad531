"""Workspaces of Slack that have or had the app, and the standing of people in them, as tables."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Boolean, ColumnElement, Connection, Text, and_, exists, literal, select
from sqlmodel import Field

from fateforger.adapters.store.database import OnDatabase
from fateforger.adapters.store.tables import Base, Instant, put_row, table
from fateforger.slack.admission import Standing
from fateforger.slack.ids import FIRST, MARK


class WorkspaceRow(Base, table=True):
    """A workspace or organization of Slack. ``token`` and ``refresh_token`` are encrypted, or empty.

    ``is_first`` marks the one that the database began with, whose ids are bare in all tables.
    """

    __tablename__ = "slack_workspace"

    tenant: str = Field(primary_key=True, sa_type=Text)
    name: str = Field(sa_type=Text)
    team_id: str | None = Field(default=None, sa_type=Text)
    is_first: bool = Field(sa_type=Boolean)
    scopes: str = Field(sa_type=Text)
    token: str = Field(sa_type=Text)
    refresh_token: str = Field(sa_type=Text)
    expires_at: datetime | None = Field(default=None, sa_type=Instant)
    renewing_until: datetime | None = Field(default=None, sa_type=Instant)
    installed_at: datetime = Field(sa_type=Instant)
    ended_at: datetime | None = Field(default=None, sa_type=Instant)


class StandingRow(Base, table=True):
    """The standing of a person in their workspace: a :class:`~fateforger.slack.admission.Standing`."""

    __tablename__ = "slack_standing"

    user_id: str = Field(primary_key=True, sa_type=Text)
    standing: str = Field(sa_type=Text)


class ZoneRow(Base, table=True):
    """The time zone of a person in Slack. After ``until``, Slack is asked again."""

    __tablename__ = "slack_zone"

    user_id: str = Field(primary_key=True, sa_type=Text)
    tz: str = Field(sa_type=Text)
    until: datetime = Field(sa_type=Instant)


WORKSPACE = table(WorkspaceRow)
STANDING = table(StandingRow)
ZONE = table(ZoneRow)


class SqlStandings(OnDatabase):
    """Implements :class:`fateforger.slack.admission.Standings` over a :class:`Database`."""

    async def of(self, user_id: str) -> Standing | None:
        query = select(STANDING.c.standing).where(STANDING.c.user_id == user_id)
        found = await self._database.read(lambda connection: connection.execute(query).scalar())
        return None if found is None else Standing(found)

    async def is_reachable(self, user_id: str) -> bool:
        """Check whether a person's account is active and the app was not removed from their workspace."""

        def check(connection: Connection) -> bool:
            found = connection.execute(select(and_(*build_reachable(connection, literal(user_id)))))
            return bool(found.scalar_one())

        return await self._database.read(check)

    async def keep(self, user_id: str, standing: Standing) -> None:
        row = StandingRow(user_id=user_id, standing=standing.value)
        await self._database.write(lambda connection: put_row(connection, row))


class SqlZones(OnDatabase):
    """Implements :class:`fateforger.slack.admission.Zones` over a :class:`Database`."""

    async def of(self, user_id: str) -> tuple[str, datetime] | None:
        query = select(ZONE.c.tz, ZONE.c.until).where(ZONE.c.user_id == user_id)
        found = await self._database.read(lambda connection: connection.execute(query).first())
        return None if found is None else (found.tz, found.until)

    async def keep(self, user_id: str, tz: str, *, until: datetime) -> None:
        row = ZoneRow(user_id=user_id, tz=tz, until=until)
        await self._database.write(lambda connection: put_row(connection, row))


def build_reachable(connection: Connection, user_id: ColumnElement[str]) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions that the app was not removed where a person is, and that their account is active."""
    ended = select(WORKSPACE.c.tenant, WORKSPACE.c.is_first).where(WORKSPACE.c.ended_at.is_not(None))
    gone = exists().where(STANDING.c.user_id == user_id, STANDING.c.standing == Standing.DEACTIVATED.value)
    return (
        ~gone,
        *(~is_of_tenant(user_id, FIRST if row.is_first else row.tenant) for row in connection.execute(ended)),
    )


def is_of_tenant(kept: ColumnElement[str], tenant: str) -> ColumnElement[bool]:
    """Return the condition that an id belongs to a tenant."""
    return kept.startswith(f"{tenant}{MARK}", autoescape=True) if tenant else ~kept.contains(MARK)
