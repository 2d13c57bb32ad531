"""Probes and Prometheus figures for those who operate the program."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Literal, Protocol

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from fateforger.adapters.store.given_up import measure_backlog
from fateforger.adapters.store.store import Store
from fateforger.app.web import WebServer
from fateforger.config import Settings
from fateforger.conversation.memory_service import MemoryService
from fateforger.errors import StoreError
from fateforger.metrics import LANE_AGE_SECONDS, LANE_JOBS, OUTBOX_MESSAGES
from fateforger.ports.clock import Clock
from fateforger.workers.memory import Indexer

PATH = "/health"
_PATIENCE = 3.0
"""Seconds to wait for the database: fewer than a caller waits, so that no check outlives its request."""


class SlackConnection(Protocol):
    """The connection to Slack, as far as probes report it."""

    @property
    def mode(self) -> Literal["socket", "http"]:
        """The way in which payloads arrive."""
        ...

    async def is_connected(self) -> bool:
        """Check whether payloads can arrive."""
        ...


class Operations:
    """Answers about the running program.

    ``/livez`` says that it runs, and never depends on anything else, so that no outage of Slack or of the database
    restarts it. ``/readyz`` and ``/health`` answer 200 while the database answers and Slack is connected, otherwise
    503; JSON says which one failed, and reports the constraint store and its index, which do not affect the status.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.slack: SlackConnection | None = None
        self.indexing: Indexer | None = None
        self.memory: MemoryService | None = None

    @property
    def route(self) -> Route:
        """The route of the local page, for ``fateforger health``."""
        return Route(PATH, self._check)

    async def serve(self, stack: AsyncExitStack, settings: Settings) -> str | None:
        """Serve on the port that the settings give and return its address; ``None`` without one.

        Any name of this host is answered, because probes use its address. Raises ``BadInput`` if the port is taken.
        """
        if settings.ops_port is None:
            return None
        server = WebServer(settings.host, settings.ops_port, any_host=True)
        stack.callback(server.close)
        stack.push_async_callback(server.stop)
        routes = [
            Route("/livez", self._live),
            Route("/readyz", self._check),
            Route("/metrics", self._measure),
        ]
        await server.start(Starlette(routes=routes))
        return server.url

    async def _live(self, _request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def _check(self, _request: Request) -> Response:
        well = {
            "database": await self._check_database(),
            "slack": self.slack is not None and await self.slack.is_connected(),
        }
        mode = None if self.slack is None else self.slack.mode
        memory = None if self.indexing is None else self.indexing.trouble or self.indexing.loss
        rules = None if self.memory is None else self.memory.trouble
        said = {
            "ok": all(well.values()),
            **well,
            "slack_mode": mode,
            "memory": memory is None,
            "memory_trouble": memory,
            "constraints": rules is None,
            "constraints_trouble": rules,
        }
        return JSONResponse(said, status_code=200 if said["ok"] else 503)

    async def _check_database(self) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._store.sessions.check()
        except (StoreError, TimeoutError):
            return False
        return True

    async def _measure(self, _request: Request) -> Response:
        """Answer with all figures; what waits in the database is left out while it does not answer."""
        for figure in (LANE_JOBS, LANE_AGE_SECONDS):
            figure.clear()
        try:
            async with asyncio.timeout(_PATIENCE):
                backlog = await measure_backlog(self._store.database, self._clock.now())
        except (StoreError, TimeoutError):
            OUTBOX_MESSAGES.set(float("nan"))
        else:
            OUTBOX_MESSAGES.set(backlog.messages)
            for lane, count in backlog.jobs.items():
                LANE_JOBS.labels(lane).set(count)
                LANE_AGE_SECONDS.labels(lane).set(backlog.seconds[lane])
        return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)
