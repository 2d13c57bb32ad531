"""A lasting session with a calendar server: opened on first use, reopened when lost."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from fateforger.adapters.calendar.connection import Connection, Forgotten, Lost, NotConnected, Reply, Welcome
from fateforger.adapters.calendar.endpoint import Endpoint
from fateforger.adapters.calendar.limits import CALL_SECONDS


class McpSession:
    """A session for any number of concurrent calls. Not bound to the task that uses it."""

    def __init__(self, endpoint: Endpoint, *, call_seconds: float = CALL_SECONDS) -> None:
        self.endpoint = endpoint
        self.welcome: Welcome | None = None
        self._call_seconds = call_seconds
        self._connection: Connection | None = None
        self._retired: set[Connection] = set()
        self._opening: asyncio.Task[Connection] | None = None

    async def open(self) -> Welcome:
        """Ensure that a session is open. Raises :class:`NotConnected`."""
        return (await self._open()).welcome

    async def call(self, tool: str, arguments: Mapping[str, Any], *, repeatable: bool) -> Reply:
        """Call a tool.

        A session that the server forgot is replaced and the call repeated, since it did nothing. After a lost
        connection only a ``repeatable`` call is repeated. Raises :class:`Trouble`.
        """
        for last in (False, True):
            connection = await self._open()
            try:
                return await connection.call(tool, arguments, self._call_seconds)
            except Forgotten as trouble:
                self._retire(connection)
                if last:
                    raise NotConnected(str(trouble)) from None
            except Lost:
                self._retire(connection)
                if last or not repeatable:
                    raise
        raise AssertionError("the last round returns or raises")

    async def aclose(self) -> None:
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait({self._opening})
        if self._connection is not None:
            self._retire(self._connection)
        await asyncio.gather(*(connection.close() for connection in self._retired))

    async def _open(self) -> Connection:
        """Return the open connection; concurrent callers wait for the same one."""
        if self._connection is not None and not self._connection.is_over:
            return self._connection
        if self._opening is None:
            self._opening = asyncio.create_task(self._connect())
            self._opening.add_done_callback(self._finish_opening)
        return await asyncio.shield(self._opening)

    async def _connect(self) -> Connection:
        connection = Connection(self.endpoint)
        try:
            self.welcome = await connection.wait_opened()
        except BaseException:
            await connection.close()
            raise
        self._connection = connection
        return connection

    def _finish_opening(self, opening: asyncio.Task[Connection]) -> None:
        self._opening = None
        if not opening.cancelled():
            opening.exception()  # marks it as retrieved; perhaps no caller waits any more

    def _retire(self, connection: Connection) -> None:
        """Stop using a connection, but let its calls in progress finish."""
        if self._connection is connection:
            self._connection = None
        self._retired = {c for c in self._retired if not c.is_over} | {connection}
        connection.retire()
