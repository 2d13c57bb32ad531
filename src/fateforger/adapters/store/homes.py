"""Workspaces of Slack, the standing of people in them, and the people who have opened App Home, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Boolean, ColumnElement, Connection, Index, Text, and_, exists, literal, update
from sqlmodel import Field, select

from fateforger.adapters.store.database import OnDatabase
from fateforger.adapters.store.tables import Base, Instant, find_row, find_rows, open_rows, put_row, table
from fateforger.ports.people import HomeState, HomeView, PersonLanguage
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


class HomeRow(Base, table=True):
    """The App Home of a person who has opened it. It is published again at ``show_at``; a change sets that to 1970.

    It shows a ``page`` of their queue, and for a while the result of their last action there, ``said``.
    """

    __tablename__ = "home"
    __table_args__ = (Index("ix_home_due", "show_at"),)

    user_id: str = Field(primary_key=True, sa_type=Text)
    changes: int
    hash: str = Field(sa_type=Text)
    show_at: datetime = Field(sa_type=Instant)
    page: int = Field(default=1, sa_column_kwargs={"server_default": "1"})
    said: str = Field(default="", sa_type=Text, sa_column_kwargs={"server_default": ""})
    said_at: datetime | None = Field(default=None, sa_type=Instant)


HOME = table(HomeRow)
_AT_ONCE = datetime.fromtimestamp(0, UTC)
_CHANGED = {"changes": HOME.c.changes + 1, "show_at": _AT_ONCE}


class SqlHomes(OnDatabase):
    """Implements :class:`fateforger.ports.people.Homes` over a :class:`Database`."""

    async def open(self, user_id: str) -> HomeState:
        return await self._database.write(lambda connection: _open(connection, user_id))

    async def find_view(self, user_id: str) -> HomeView:
        query = select(HomeRow).where(HOME.c.user_id == user_id)
        rows = await self._database.read(lambda connection: find_rows(connection, query))
        return HomeView(rows[0].page, rows[0].said, rows[0].said_at) if rows else HomeView()

    async def turn_page(self, user_id: str, page: int) -> None:
        await self._change(user_id, page=page)

    async def keep_result(self, user_id: str, said: str, *, at: datetime) -> None:
        await self._change(user_id, said=said, said_at=at)

    async def note_change(self, user_id: str) -> None:
        await self._change(user_id)

    async def _change(self, user_id: str, **values: Any) -> None:
        """Change the view of a person, and count the change."""
        change = update(HOME).where(HOME.c.user_id == user_id).values({**_CHANGED, **values})
        await self._database.write(lambda connection: connection.execute(change))

    async def claim_due(self, now: datetime, *, until: datetime, limit: int = 20) -> tuple[HomeState, ...]:
        due = select(HomeRow).where(HOME.c.show_at <= now).order_by(HOME.c.show_at)

        def find(connection: Connection, most: int) -> Sequence[HomeRow]:
            return find_rows(connection, due.where(*build_reachable(connection, HOME.c.user_id)).limit(most))

        if not await self._database.read(lambda connection: find(connection, 1)):
            return ()

        def work(connection: Connection) -> tuple[HomeState, ...]:
            states = tuple(map(_to_state, find(connection, limit)))
            claimed = HOME.c.user_id.in_([state.user_id for state in states])
            connection.execute(update(HOME).where(claimed).values(show_at=until))
            return states

        return await self._database.write(work)

    async def keep(self, state: HomeState, *, show_at: datetime) -> None:
        of = HOME.c.user_id == state.user_id

        def work(connection: Connection) -> None:
            connection.execute(update(HOME).where(of).values(hash=state.hash))
            unchanged = HOME.c.changes == state.changes
            kept = connection.execute(update(HOME).where(of, unchanged).values(show_at=show_at))
            if not kept.rowcount:
                # A publication of a later state may have come before this one, or may still be recorded after it.
                connection.execute(update(HOME).where(of).values(_CHANGED))

        await self._database.write(work)


def mark_home(connection: Connection, user_id: str) -> None:
    """Count a change of what a person's App Home shows, in the transaction that makes it."""
    connection.execute(update(HOME).where(HOME.c.user_id == user_id).values(_CHANGED))


def _open(connection: Connection, user_id: str) -> HomeState:
    with open_rows(connection) as rows:
        row = rows.get(HomeRow, user_id)
        if row is None:
            row = HomeRow(user_id=user_id, changes=0, hash="", show_at=_AT_ONCE)
            rows.add(row)
        return _to_state(row)


def _to_state(row: HomeRow) -> HomeState:
    return HomeState(row.user_id, row.changes, row.hash)


class LanguageRow(Base, table=True):
    """The language in which a person is answered; ``chosen`` if they said so themselves."""

    __tablename__ = "person_language"

    user_id: str = Field(primary_key=True, sa_type=Text)
    language: str = Field(sa_type=Text)
    chosen: bool


LANGUAGE = table(LanguageRow)


class SqlLanguages(OnDatabase):
    """Implements :class:`fateforger.ports.people.Languages` over a :class:`Database`."""

    async def of(self, user_id: str) -> PersonLanguage | None:
        row = await self._database.read(lambda connection: find_row(connection, LanguageRow, user_id))
        return None if row is None else PersonLanguage(row.language, chosen=row.chosen)

    async def keep(self, user_id: str, language: PersonLanguage) -> None:
        row = LanguageRow(user_id=user_id, language=language.code, chosen=language.chosen)

        def work(connection: Connection) -> None:
            put_row(connection, row)
            mark_home(connection, user_id)

        await self._database.write(work)
