"""The agents' clients and their access, in SQL."""

from __future__ import annotations

import json
from datetime import datetime

from sqlalchemy import Connection, RowMapping, bindparam, insert, select, update

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.proposals import expire_proposals
from fateforger.adapters.store.tables import AgentClient, table
from fateforger.agents import Client
from fateforger.errors import BadInput

CLIENT = table(AgentClient)

_ALL = select(CLIENT).order_by(CLIENT.c.name)
_NAMED = select(CLIENT).where(CLIENT.c.name == bindparam("of_name"))
_WITH_KEY = select(CLIENT).where(CLIENT.c.key == bindparam("of_key"))
_REVOKE = (
    update(CLIENT)
    .where(CLIENT.c.name == bindparam("of_name"), CLIENT.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("now"))
)


class SqlClients:
    """Implements :class:`fateforger.ports.Clients` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, client: Client, token_hash: str) -> None:
        await self._database.write(lambda connection: _add(connection, client, token_hash))

    async def all(self) -> tuple[Client, ...]:
        return await self._database.read(lambda connection: tuple(map(_to_client, connection.execute(_ALL).mappings())))

    async def get(self, name: str) -> Client | None:
        return await self._database.read(lambda connection: _find_by_name(connection, name))

    async def with_key(self, key: str) -> tuple[Client, str] | None:
        def look(connection: Connection) -> tuple[Client, str] | None:
            row = connection.execute(_WITH_KEY, {"of_key": key}).mappings().first()
            return None if row is None else (_to_client(row), row["token_hash"])

        return await self._database.read(look)

    async def revoke(self, name: str, *, now: datetime) -> Client | None:
        return await self._database.write_alone(
            f"proposals of {name}", lambda connection: _revoke(connection, name, now)
        )


def _add(connection: Connection, client: Client, token_hash: str) -> None:
    if _find_by_name(connection, client.name) is not None:
        raise BadInput(
            f"There is a client called {client.name} already, perhaps a revoked one; a name is used once, because the"
            " audit log speaks of it. Choose another one.",
            where="name",
        )
    values = client.model_dump() | {"scopes": json.dumps(client.scopes), "token_hash": token_hash}
    connection.execute(insert(CLIENT), values)


def _find_by_name(connection: Connection, name: str) -> Client | None:
    row = connection.execute(_NAMED, {"of_name": name}).mappings().first()
    return None if row is None else _to_client(row)


def _revoke(connection: Connection, name: str, now: datetime) -> Client | None:
    if connection.execute(_REVOKE, {"of_name": name, "now": now}).rowcount:
        expire_proposals(connection, name, now)
    return _find_by_name(connection, name)


def _to_client(row: RowMapping) -> Client:
    values = {name: value for name, value in row.items() if name != "token_hash"}
    return Client.model_validate({**values, "scopes": json.loads(row["scopes"])})
