"""The language of each person, in SQL."""

from __future__ import annotations

from sqlalchemy import Connection, Text
from sqlmodel import Field

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.homes import mark_home
from fateforger.adapters.store.tables import Base, open_rows, table
from fateforger.ports.people import PersonLanguage


class LanguageRow(Base, table=True):
    """The language in which a person is answered; ``chosen`` if they said so themselves."""

    __tablename__ = "person_language"

    user_id: str = Field(primary_key=True, sa_type=Text)
    language: str = Field(sa_type=Text)
    chosen: bool


LANGUAGE = table(LanguageRow)


class SqlLanguages:
    """Implements :class:`fateforger.ports.people.Languages` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, user_id: str) -> PersonLanguage | None:
        return await self._database.read(lambda connection: _find(connection, user_id))

    async def keep(self, user_id: str, language: PersonLanguage) -> None:
        await self._database.write(lambda connection: _keep(connection, user_id, language))


def _find(connection: Connection, user_id: str) -> PersonLanguage | None:
    with open_rows(connection) as rows:
        row = rows.get(LanguageRow, user_id)
        return None if row is None else PersonLanguage(row.language, chosen=row.chosen)


def _keep(connection: Connection, user_id: str, language: PersonLanguage) -> None:
    with open_rows(connection) as rows:
        rows.merge(LanguageRow(user_id=user_id, language=language.code, chosen=language.chosen))
    mark_home(connection, user_id)
