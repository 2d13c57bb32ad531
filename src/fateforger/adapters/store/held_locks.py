"""Locks of PostgreSQL that a program holds while it is alive, on a connection of its own."""

from __future__ import annotations

import logging

from sqlalchemy import Connection, Engine, TextClause, text
from sqlalchemy.exc import DBAPIError

from fateforger.errors import StoreUnavailable

log = logging.getLogger(__name__)


class HeldLocks:
    """Takes locks, and takes them again after their connection was lost. Not for several threads at once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._locks: list[tuple[TextClause, int]] = []
        self._connection: Connection | None = None

    def take(self, statement: TextClause, number: int) -> bool:
        """Try to take a lock with a statement; return ``False`` if another program holds it."""
        if self._connection is None:
            self._connection = self._connect()
        taken = _take(self._connection, statement, number)
        if taken:
            self._locks.append((statement, number))
        return taken

    def keep(self, place: str) -> None:
        """Take all locks again if their connection was lost.

        Raises ``StoreUnavailable`` if the database at ``place`` does not grant them yet: it may take a while until the
        server notices that the lost connection has ended.
        """
        if not self._locks or self._is_alive():
            return
        connection = self._connect()
        try:
            taken = [_take(connection, *lock) for lock in self._locks]
        except DBAPIError:
            connection.close()
            raise
        if not all(taken):
            connection.close()
            raise StoreUnavailable(
                f"The database {place} has not released the locks of this program's lost connection yet."
            )
        self._connection = connection

    def close(self) -> None:
        """Give all locks back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _is_alive(self) -> bool:
        if self._connection is None:
            return False
        try:
            self._connection.execute(text("SELECT 1"))
        except DBAPIError:
            log.warning("the connection that shows that this program is alive was lost; it is opened again")
            self.close()
        return self._connection is not None

    def _connect(self) -> Connection:
        connection = self._engine.execution_options(isolation_level="AUTOCOMMIT").connect()
        connection.detach()  # from the pool, so that the locks stay with it
        return connection


def _take(connection: Connection, statement: TextClause, number: int) -> bool:
    return bool(connection.execute(statement, {"number": number}).scalar_one())
