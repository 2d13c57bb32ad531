"""A person's own calendar, opened for one command of the command line."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager

from starlette.applications import Starlette
from starlette.routing import Mount

from fateforger.adapters.store.connections import SqlConnections
from fateforger.adapters.store.store import Store
from fateforger.app.caldav_login import open_servers
from fateforger.app.calendars import GATEWAY, CalDavGateway
from fateforger.app.data_dir import COMMAND_LOCK, lock_data_dir
from fateforger.app.logins import build_delegations, build_logins, build_openers
from fateforger.app.resources import (
    build_clock,
    build_ownership,
    open_journal,
    open_state,
    open_submitter,
    open_vault,
    submitter,
)
from fateforger.app.web import WebServer
from fateforger.calendar.connections import Connection
from fateforger.calendar.ports import Journal
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.config import Settings
from fateforger.errors import BadInput


@asynccontextmanager
async def open_person_submitter(settings: Settings, user_id: str) -> AsyncIterator[CalendarSubmitter]:
    """Open the calendar that a person connected, or the configured one if they own it.

    Raises ``BadInput`` for a person without a calendar, ``CalendarError`` and ``StoreError``.
    """
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(aclosing(await open_state(settings)))
        connections = SqlConnections(store.database, open_vault(settings))
        connection = await _find(settings, store, connections, user_id)
        if connection is None:
            await stack.aclose()
            yield await stack.enter_async_context(open_submitter(settings))
            return
        stack.enter_context(lock_data_dir(settings.data_dir, COMMAND_LOCK))
        token = secrets.token_urlsafe(24)
        clock, web = build_clock(settings), WebServer("127.0.0.1", 0, token=token)
        servers = open_servers(settings)
        gateway = CalDavGateway(settings.data_dir / "calendars", f"{web.url}{GATEWAY}", token, servers, clock.now)
        await web.start(Starlette(routes=[Mount(GATEWAY, gateway)]))
        stack.push_async_callback(web.stop)
        logins = build_logins(settings, connections, clock, web.url, store)
        openers = build_openers(gateway.open, logins, build_delegations(settings, connections, clock, store))
        opener = openers.get((connection.provider, connection.delegated))
        if opener is None:
            raise BadInput(f"The settings for {connection.provider} are missing here.", where="user")
        calendar = await stack.enter_async_context(opener(connection))
        yield submitter(settings, calendar, store.journal, clock, role="door", user_id=user_id)


@asynccontextmanager
async def open_person_journal(settings: Settings, user_id: str) -> AsyncIterator[tuple[Journal, str]]:
    """Open the journal and yield it with the name of the person's calendar in it."""
    async with aclosing(await open_state(settings)) as store:
        connections = SqlConnections(store.database, open_vault(settings))
        found = await _find(settings, store, connections, user_id)
        if found is not None:
            yield store.journal, found.key
            return
    async with open_journal(settings) as configured:
        yield configured


async def _find(settings: Settings, store: Store, connections: SqlConnections, user_id: str) -> Connection | None:
    """Return a person's connection; ``None`` for the owner of the configured calendar. Raises ``BadInput``."""
    connection = await connections.of(user_id)
    if connection is not None and connection.is_open:
        return connection
    owner = await build_ownership(settings, store, build_clock(settings)).owner()
    if (connection is None or connection.has_ended) and owner.person == user_id:
        return None
    problem = "" if connection is None else f" {connection.problem}".rstrip()
    raise BadInput(f"{user_id} has connected no calendar.{problem}", where="user")
