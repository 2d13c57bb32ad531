"""Opening a local calendar: the store, the tools on it, and the two web applications."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import unquote, urlsplit

import httpx
from mcp.server.lowlevel.server import Server
from starlette.types import ASGIApp

from caldav_mcp.collection import Collection
from caldav_mcp.dav import Dav
from caldav_mcp.discovery import Account, discover
from caldav_mcp.embedded import USER, EmbeddedRadicale
from caldav_mcp.errors import Conflict, Forbidden, NotFound
from caldav_mcp.limits import MAX_CALL_BYTES
from caldav_mcp.mcp_server import mcp_server
from caldav_mcp.multistatus import make_calendar, set_timezone
from caldav_mcp.pane.app import pane_app
from caldav_mcp.pane.changes import Changes
from caldav_mcp.public_only import PublicOnly
from caldav_mcp.register import Register
from caldav_mcp.rewrites import zone_object
from caldav_mcp.times import zone_named
from caldav_mcp.tools import CalendarTools
from caldav_mcp.tools.calendars import Calendars


@dataclass(frozen=True)
class LocalCalendarConfig:
    """Place of the calendar.

    `data_dir` holds the embedded store and the register of ids; `time_zone` is an IANA name. With `caldav_url` (a
    calendar or an account) that server is used instead of the embedded one. `radicale_port` 0 takes any free port;
    calendar apps log in there as `me`, with `radicale_password`. One request to the CalDAV server may take
    `request_seconds`: a write is two of them, for which our callers wait ten seconds. With `public_only`, a CalDAV
    server that is not on the internet is refused with `PrivateNetwork`. `mcp_app` answers requests to this machine. At
    another `host`, the application that it is mounted in checks to which host a request is addressed.
    """

    data_dir: Path
    time_zone: str
    caldav_url: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    radicale_port: int = 0
    radicale_password: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    calendar_name: str = "My calendar"
    request_seconds: float = 4.5
    public_only: bool = False
    host: str = "127.0.0.1"


class LocalCalendar:
    """An open calendar. Close it with `aclose`, or use it as an async context manager.

    `mcp_app` answers MCP over streamable HTTP at `/mcp`, `pane_app` shows a day; both may be mounted anywhere in
    another application and need no lifespan of their own. `tools` is the same without a transport, `server` for other
    transports.
    """

    def __init__(self, parts: _Parts, stop: asyncio.Event, task: asyncio.Task[None]) -> None:
        self.caldav_url = parts.calendars.primary.about.url
        self.account = parts.account
        self.tools = parts.tools
        self.server = parts.server
        self.mcp_app = parts.mcp_app
        self.pane_app = parts.pane_app
        self._changes = parts.changes
        self._stop = stop
        self._task = task

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def release_pages(self) -> None:
        """Answer every open page at once, because the server that they ask is about to stop."""
        self._changes.close()

    async def aclose(self) -> None:
        """Stop everything that was started; calling it again does nothing."""
        self._stop.set()
        await self._task


@dataclass(frozen=True)
class _Parts:
    account: Account
    calendars: Calendars
    tools: CalendarTools
    server: Server[Any]
    mcp_app: ASGIApp
    pane_app: ASGIApp
    changes: Changes


async def open_local_calendar(config: LocalCalendarConfig, *, now: Callable[[], datetime]) -> LocalCalendar:
    """Start what is needed and find the calendar. `now` returns the current, aware time.

    Raises a `ServiceError` (its text says why) when the CalDAV server cannot be used, `OSError` when the folder or the
    port cannot, `ValueError` for an unknown zone.
    """
    if zone_named(config.time_zone) is None:
        raise ValueError(f"{config.time_zone} is not a time zone. Use an IANA name like Europe/Berlin.")
    ready: asyncio.Future[_Parts] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()

    # One task owns everything from start to end: the protocol's session machinery has to be left by the task that
    # entered it, and `aclose` may be called from any.
    async def run() -> None:
        try:
            async with _parts(config, now) as parts:
                ready.set_result(parts)
                await stop.wait()
        except Exception as error:  # nothing ends here: the waiting caller gets it, or the task raises it
            if ready.done():
                raise
            ready.set_exception(error)

    task = asyncio.create_task(run(), name="local calendar")
    try:
        parts = await asyncio.shield(ready)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task})
        raise
    return LocalCalendar(parts, stop, task)


@asynccontextmanager
async def _parts(config: LocalCalendarConfig, now: Callable[[], datetime]) -> AsyncIterator[_Parts]:
    async with AsyncExitStack() as stack:
        config.data_dir.mkdir(parents=True, exist_ok=True)
        if config.caldav_url is None:
            folder = config.data_dir / "radicale"
            radicale = await asyncio.to_thread(
                EmbeddedRadicale, folder, config.radicale_port, password=config.radicale_password
            )
            stack.push_async_callback(asyncio.to_thread, radicale.stop)
            dav = await stack.enter_async_context(
                Dav(
                    username=USER,
                    password=config.radicale_password,
                    on_this_machine=True,
                    time_limit=config.request_seconds,
                )
            )
            account = await _embedded_account(dav, radicale.calendar_url, config, now())
        else:
            dav = await stack.enter_async_context(_remote(config, config.caldav_url))
            account = await _remote_account(dav, config, config.caldav_url)
        echoes = True if config.caldav_url is None else None

        async def list_all() -> tuple[Collection, ...]:
            found = await _remote_account(dav, config, config.caldav_url or "")
            return tuple(Collection(dav, about) for about in found.calendars)

        register = Register(config.data_dir / "events.sqlite")
        stack.callback(register.close)
        collections = tuple(Collection(dav, about, echoes=echoes) for about in account.calendars)
        changes = Changes(collections[0])
        owners = account.addresses or (_owner(dav.username),)
        calendars = Calendars(
            collections, owners, register, now, changes.note, None if config.caldav_url is None else list_all
        )
        tools = CalendarTools(calendars)
        server = mcp_server(tools)
        # Without sessions, nothing is kept for a client that does not come back.
        mcp_app = server.streamable_http_app(
            json_response=True, stateless_http=True, max_request_body_size=MAX_CALL_BYTES, host=config.host
        )
        await stack.enter_async_context(server.session_manager.run())
        yield _Parts(account, calendars, tools, server, mcp_app, pane_app(calendars, changes), changes)


async def find_calendars(config: LocalCalendarConfig) -> Account:
    """Return the calendars at the configured CalDAV address, without opening anything. Raises a `ServiceError`."""
    url = config.caldav_url or ""
    async with _remote(config, url) as dav:
        return await _remote_account(dav, config, url)


def _remote(config: LocalCalendarConfig, url: str) -> Dav:
    _, username, password = _address(url, config)
    transport = PublicOnly(httpx.AsyncHTTPTransport()) if config.public_only else None
    return Dav(username=username, password=password, time_limit=config.request_seconds, transport=transport)


async def _remote_account(dav: Dav, config: LocalCalendarConfig, url: str) -> Account:
    return await discover(dav, _address(url, config)[0], time_zone=config.time_zone, name=config.calendar_name)


async def _embedded_account(dav: Dav, url: str, config: LocalCalendarConfig, now: datetime) -> Account:
    """Return the embedded store's calendar, made when it is not there yet, in the configured zone."""
    timezone = zone_object(config.time_zone, now)
    xml = {"Content-Type": "application/xml; charset=utf-8"}

    async def look() -> Account:
        return await discover(dav, url, time_zone=config.time_zone, name=config.calendar_name, key="embedded")

    try:
        account = await look()
    except NotFound:
        # Another program with the same folder may make it at the same moment, which is as good.
        with suppress(Conflict, Forbidden):
            await dav.request("MKCALENDAR", url, body=make_calendar(config.calendar_name, timezone), headers=xml)
        account = await look()
    if account.calendars[0].zone.key != config.time_zone:
        await dav.request("PROPPATCH", url, body=set_timezone(timezone), headers=xml)
        account = await look()
    return Account((replace(account.calendars[0], calendar_id="calendar@localhost"),), account.addresses)


def _address(url: str, config: LocalCalendarConfig) -> tuple[str, str | None, str | None]:
    """Return the address without the name and password that may stand in it, and which ones to use."""
    parts = urlsplit(url)
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    username = unquote(parts.username) if parts.username else None
    password = unquote(parts.password) if parts.password else None
    return bare, config.username or username, config.password or password


def _owner(username: str | None) -> str:
    name = (username or USER).lower()
    return name if "@" in name else f"{name}@localhost"
