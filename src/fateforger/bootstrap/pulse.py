"""Health endpoint of the running program, for container health checks and load balancers."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from fateforger.background.indexing import Indexer
from fateforger.coordinator.memory import MemoryService
from fateforger.errors import StoreError
from fateforger.ports import Sessions
from fateforger.slack.app import SlackApp

PATH = "/health"
_PATIENCE = 3.0
"""Seconds to wait for the database. The caller gives up some time later, and no check may run on after that."""


class HealthCheck:
    """Answer 200 while the database answers and a socket to Slack is open, otherwise 503; JSON says which one failed.

    The response also reports the constraint store and its index; neither affects the status code.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self.room: SlackApp | None = None
        self.indexing: Indexer | None = None
        self.desk: MemoryService | None = None

    @property
    def route(self) -> Route:
        return Route(PATH, self._answer)

    async def _answer(self, _request: Request) -> Response:
        well = {
            "database": await self._check_database(),
            "slack": self.room is not None and await self.room.connected(),
        }
        memory = None if self.indexing is None else self.indexing.trouble
        rules = None if self.desk is None else self.desk.trouble
        said = {
            "ok": all(well.values()),
            **well,
            "memory": memory is None,
            "memory_trouble": memory,
            "constraints": rules is None,
            "constraints_trouble": rules,
        }
        return JSONResponse(said, status_code=200 if said["ok"] else 503)

    async def _check_database(self) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._sessions.check()
        except (StoreError, TimeoutError):
            return False
        return True
