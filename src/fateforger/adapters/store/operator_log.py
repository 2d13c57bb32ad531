"""The log of the operator's commands that read or change people's data, in SQL."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, Index, Text
from sqlmodel import Field, select

from fateforger.adapters.store.database import OnDatabase
from fateforger.adapters.store.homes import mark_home
from fateforger.adapters.store.tables import AutoNumber, Base, Instant, find_rows, open_rows, table
from fateforger.ports.people import OperatorAction


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
