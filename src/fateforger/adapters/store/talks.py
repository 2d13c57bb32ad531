"""The last exchanges with each person outside of plans, in SQL."""

from __future__ import annotations

from sqlalchemy import Connection, Text
from sqlmodel import Field

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.tables import Base, open_rows, table
from fateforger.session.messages import RecentTalk


class TalkRow(Base, table=True):
    """The last exchanges with a person outside of plans, as JSON."""

    __tablename__ = "person_talk"

    user_id: str = Field(primary_key=True, sa_type=Text)
    talk: str = Field(sa_type=Text)


TALK = table(TalkRow)


class SqlTalks:
    """Implements :class:`fateforger.session.store.Talks` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, user_id: str) -> RecentTalk | None:
        return await self._database.read(lambda connection: _find(connection, user_id))

    async def keep(self, user_id: str, talk: RecentTalk) -> None:
        await self._database.write(lambda connection: _keep(connection, user_id, talk))


def _find(connection: Connection, user_id: str) -> RecentTalk | None:
    with open_rows(connection) as rows:
        row = rows.get(TalkRow, user_id)
        return None if row is None else RecentTalk.model_validate_json(row.talk)


def _keep(connection: Connection, user_id: str, talk: RecentTalk) -> None:
    with open_rows(connection) as rows:
        rows.merge(TalkRow(user_id=user_id, talk=talk.model_dump_json()))
