"""The audit log of agents, in SQL."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, func, insert, select, update

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.tables import AgentCall, table
from fateforger.agents import Call, NewCall

CALL = table(AgentCall)
TOO_MANY = "refused: too many calls"

_SINCE = select(func.count()).where(CALL.c.client == bindparam("of_client"), CALL.c.at > bindparam("after"))
_LATEST = select(CALL).order_by(CALL.c.number.desc()).limit(bindparam("at_most"))
_OF_CLIENT = _LATEST.where(CALL.c.client == bindparam("of_client"))
_END = (
    update(CALL)
    .where(CALL.c.number == bindparam("of_number"))
    .values(outcome=bindparam("what"), ended_at=bindparam("now"))
)


class SqlCalls:
    """Implements :class:`fateforger.ports.Calls` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, asked: NewCall, *, since: datetime, most: int) -> int | None:
        # One call of a client after another, or concurrent ones would each find room for themselves.
        return await self._database.write_alone(
            f"calls of {asked.client}", lambda connection: _begin(connection, asked, since, most)
        )

    async def end(self, number: int, outcome: str, *, now: datetime) -> None:
        values = {"of_number": number, "what": outcome.replace("\x00", "\ufffd"), "now": now}
        await self._database.write(lambda connection: connection.execute(_END, values))

    async def latest(self, *, limit: int = 100, client: str | None = None) -> tuple[Call, ...]:
        statement = _LATEST if client is None else _OF_CLIENT
        values = {"at_most": limit} | ({} if client is None else {"of_client": client})
        return await self._database.read(
            lambda connection: tuple(map(Call.model_validate, connection.execute(statement, values).mappings()))
        )


def _begin(connection: Connection, asked: NewCall, since: datetime, most: int) -> int | None:
    count = connection.execute(_SINCE, {"of_client": asked.client, "after": since}).scalar_one()
    if count > most:
        return None
    refused = {"outcome": TOO_MANY, "ended_at": asked.at} if count == most else {}
    key = connection.execute(insert(CALL), asked.model_dump() | refused).inserted_primary_key
    assert key is not None  # noqa: S101  for the type checker: an insert of one row has one
    number: int = key.number
    return None if refused else number
