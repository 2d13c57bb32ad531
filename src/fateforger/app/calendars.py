"""Calendars of people: each person's connected one, and the configured one for its owner.

They are opened on demand and closed when they are idle. A person never reads or writes another one's calendar. Work
that is left after a connection broke, or works again, is done here, too.
"""

from __future__ import annotations

import asyncio
import hashlib
import html
import logging
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from fateforger.adapters.store.connections import SqlConnections
from fateforger.adapters.store.store import Store
from fateforger.app.caldav_login import PRIVATE, REFUSED, UNUSABLE, CalDavServers
from fateforger.app.logins import Logins, Openers, Organization, build_logins
from fateforger.app.oauth_login import ConnectLinks
from fateforger.app.resources import build_calendar, open_vault, start_local_calendar
from fateforger.calendar.access import read_day
from fateforger.calendar.connections import (
    Connection,
    Connections,
    ConnectionView,
    FollowUp,
    LazyCalendar,
    MissingCalendar,
    Provider,
)
from fateforger.calendar.model import Ledger, Snapshot
from fateforger.calendar.ports import Calendar, DayReads, Journal
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.config import Settings
from fateforger.errors import (
    BadInput,
    CalendarAuthFailed,
    CalendarError,
    CalendarNotFound,
    CalendarUnreachable,
    ConnectionFailed,
    WorldError,
)
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs
from fateforger.session.commands.plan import RefreshCalendar
from fateforger.session.model import SessionStatus
from fateforger.session.store import Sessions
from fateforger.text import gettext as _
from fateforger.text import join_sentences, mark_message
from fateforger.values import replace
from fateforger.workers.people import Ownership
from fateforger.workers.turns import build_command_job, connection_job

if TYPE_CHECKING:
    from caldav_mcp import LocalCalendar

log = logging.getLogger(__name__)

FORGOTTEN = mark_message(
    "Your calendar is disconnected, and I have forgotten your login. What I put on your calendar stays there, and I"
    " keep the history of it: if you connect the same calendar again, you can still undo it."
)
NOTHING = mark_message("You have no calendar connected.")
UNREACHABLE = mark_message(
    "I could not reach {service} to end my access there. Please remove me in your account: {address}"
)
ONLY_YOU = mark_message("At {service}, only you can end my access. Please remove me in your account: {address}")
APP_PASSWORD = mark_message("If you made an app password for me, you can delete it at your calendar server now.")
OF_ADMINISTRATOR = mark_message(
    "Your administrator gave me access, and only they can take it back. I no longer use it for you."
)


def build_access(settings: Settings, store: Store, clock: Clock) -> Access:
    """Return an :class:`Access` for a command, which has no sign-in page. Raises ``BadInput``."""
    connections = SqlConnections(store.database, open_vault(settings))
    return Access(connections, build_logins(settings, connections, clock, "", store))


@dataclass(frozen=True, slots=True)
class Access:
    """Ends the access to people's calendars. Each method can be repeated after a crash. Raises ``StoreError``."""

    connections: Connections
    logins: Logins

    async def disconnect(self, user_id: str) -> str:
        """Forget a person's login, end the access at the provider, and return what to tell them."""
        connection = await self.connections.of(user_id)
        if connection is None:
            return _(NOTHING)
        if connection.has_ended:  # by an earlier try of the same request
            return _(FORGOTTEN)
        remains = await self.end(connection)
        await self.connections.keep(replace(connection, secret="", delegated=False, problem=""))
        return join_sentences(_(FORGOTTEN), remains)

    async def end_for(self, user_id: str) -> str:
        """End the access to a person's calendar at the provider; return what they have to do themselves, if anything.

        It is for a person whose connection is about to be erased.
        """
        connection = await self.connections.of(user_id)
        return "" if connection is None or connection.has_ended else await self.end(connection)

    async def end(self, connection: Connection) -> str:
        """End the access at the provider; return what the person has to do themselves, if anything."""
        if connection.delegated:
            return _(OF_ADMINISTRATOR)
        if connection.provider is Provider.CALDAV:
            return _(APP_PASSWORD)
        login = self.logins.get(connection.provider)
        if login is None or not connection.secret:  # the settings, or the key of the login, are gone
            return _(UNREACHABLE, service=connection.provider.service, address=connection.provider.account_page)
        try:
            ended = await login.revoke(connection)
        except ConnectionFailed as problem:
            log.warning("access could not be ended at %s: %s", login.name, type(problem).__name__)
            return _(UNREACHABLE, service=login.name, address=connection.provider.account_page)
        return "" if ended else _(ONLY_YOU, service=login.name, address=connection.provider.account_page)


IDLE = timedelta(minutes=15)
"""Time without use after which a person's calendar is closed."""
SECOND_TRY_SECONDS = 2.0
"""Pause before a refused login is tried once more."""
GATEWAY = "/calendars"
"""Path at which the calendars of people are served to the program itself."""
BROKEN = mark_message("Your calendar is not connected any more: {problem}")
VANISHED = mark_message(
    "A calendar that you chose is not there any more: it was deleted, or is no longer shared with you."
)
NO_SETTINGS = mark_message("Calendars of {service} are not set up here any more. Please ask whoever runs me.")


@dataclass(frozen=True, slots=True)
class OpenCalendar:
    """A calendar with its engine. ``reads`` leave most of the request budget to the reads that people wait for."""

    engine: CalendarSubmitter
    reads: DayReads
    journal: Journal

    @property
    def writing(self) -> bool:
        return self.engine.writing

    async def read(self, day: date, tz: str) -> tuple[Snapshot, Ledger]:
        """Read a day in the background. Raises ``WorldError``."""
        return await read_day(self.reads, self.journal, day, tz)

    async def late(self) -> tuple[str, ...]:
        """Return a sentence for each event that reached the calendar after its undo."""
        return await self.engine.late(self.reads)


@dataclass(slots=True)
class _Entry:
    """A person's calendar while it is in use, with the connection that it was opened for."""

    connection: Connection
    calendar: LazyCalendar
    open: OpenCalendar
    used_at: datetime

    def serves(self, connection: Connection) -> bool:
        """Check whether it is still the calendar of the connection."""
        return _identify(self.connection) == _identify(connection)


def _find_way(connection: Connection) -> tuple[Provider, bool]:
    return connection.provider, connection.delegated


def _identify(connection: Connection) -> tuple[object, ...]:
    return connection.key, connection.reads, connection.connected_at, connection.is_open


@dataclass(slots=True)
class PersonCalendars:
    """Implements :class:`fateforger.conversation.ports.Calendars`.

    A person has the calendar that they connected, else the ``configured`` one if they own it. ``build_engine`` returns
    the engine of a calendar for a person, so that two people with the same one take turns by its lease. ``openers``
    open a calendar at each provider.
    """

    configured: OpenCalendar
    ownership: Ownership
    connections: Connections
    openers: Openers
    build_engine: Callable[[Calendar, str], CalendarSubmitter]
    access: Access
    organization: Organization
    clock: Clock
    links: ConnectLinks | None
    """Links to the page on which people connect a calendar, if they can reach it."""
    _entries: dict[str, _Entry] = field(init=False, default_factory=dict)

    async def of(self, user_id: str) -> CalendarSubmitter:
        return (await self.get_watched(user_id)).engine

    async def get_watched(self, user_id: str) -> OpenCalendar:
        connection = await self.connections.of(user_id)
        await self._close_idle()
        if connection is not None and connection.is_open and _find_way(connection) in self.openers:
            return await self._enter(connection)
        if await self._uses_configured(user_id, connection):
            return self.configured
        return self._build_missing(user_id, connection)

    async def is_connected(self, user_id: str) -> bool:
        connection = await self.connections.of(user_id)
        is_open = connection is not None and connection.is_open
        return is_open or await self._uses_configured(user_id, connection)

    async def describe(self, user_id: str, address: str = "") -> ConnectionView:
        connection = await self.connections.of(user_id)
        offered = self.organization.find(address)
        return ConnectionView(
            connection,
            None if self.links is None else self.links.build(user_id),
            configured=await self._uses_configured(user_id, connection),
            offer="" if offered is None else offered.provider.service,
        )

    async def join(self, user_id: str, address: str) -> str:
        return await self.organization.join(user_id, address)

    async def disconnect(self, user_id: str) -> str:
        return await self.access.disconnect(user_id)

    async def recover(self, user_id: str) -> None:
        """Finish the writes to a person's calendar that were cut off. Raises ``WorldError``."""
        await (await self.of(user_id)).recover()

    async def list_engines(self) -> tuple[CalendarSubmitter, ...]:
        """Return the engine of each calendar that can be used, the configured one first. Raises ``StoreError``."""
        people = [user_id for user_id in await self.connections.list_people() if await self.is_connected(user_id)]
        return (self.configured.engine, *[await self.of(user_id) for user_id in people])

    async def aclose(self) -> None:
        """Close all calendars that people connected."""
        for entry in self._entries.values():
            await entry.calendar.aclose()
        self._entries.clear()

    async def _uses_configured(self, user_id: str, connection: Connection | None) -> bool:
        """Check whether the configured calendar is the person's. It does not replace a connection that broke."""
        broke = connection is not None and not connection.has_ended
        return not broke and (await self.ownership.owner()).person == user_id

    async def _enter(self, connection: Connection) -> OpenCalendar:
        entry = self._entries.get(connection.user_id)
        if entry is None or not (entry.serves(connection) or entry.open.writing):
            self._entries[connection.user_id] = new = self._build_entry(connection)
            if entry is not None:
                await entry.calendar.aclose()
            entry = new
        entry.used_at = self.clock.now()
        return entry.open

    def _build_entry(self, connection: Connection) -> _Entry:
        opener = self.openers[_find_way(connection)]

        async def note(error: CalendarError) -> None:
            problem = find_lasting_problem(connection, error)
            if problem and not (isinstance(error, CalendarAuthFailed) and await self._logs_in(connection)):
                await self.connections.note_problem(connection.user_id, problem)

        calendar = LazyCalendar(connection.key, lambda: opener(connection), note)
        engine = self.build_engine(calendar, connection.user_id)
        opened = OpenCalendar(engine, engine.in_background(), self.configured.journal)
        return _Entry(connection, calendar, opened, self.clock.now())

    async def _logs_in(self, connection: Connection) -> bool:
        """Try a refused login once more after a moment: a server that restarts may refuse a correct one."""
        await asyncio.sleep(SECOND_TRY_SECONDS)
        try:
            async with self.openers[_find_way(connection)](connection):
                return True
        except CalendarError as error:
            return not isinstance(error, CalendarAuthFailed)

    def _build_missing(self, user_id: str, connection: Connection | None) -> OpenCalendar:
        key = f"none:{user_id}" if connection is None else connection.key
        problem = "" if connection is None or not connection.problem else _(BROKEN, problem=connection.problem)
        if connection is not None and connection.is_open:
            problem = _(NO_SETTINGS, service=connection.provider.service)
        engine = self.build_engine(MissingCalendar(key, problem), user_id)
        return OpenCalendar(engine, engine.in_background(), self.configured.journal)

    async def _close_idle(self) -> None:
        """Close what has not been used for :data:`IDLE`."""
        idle = [
            user_id
            for user_id, entry in self._entries.items()
            if self.clock.now() - entry.used_at > IDLE and not entry.open.writing
        ]
        for entry in [self._entries.pop(user_id) for user_id in idle]:
            await entry.calendar.aclose()


def find_lasting_problem(connection: Connection, error: CalendarError) -> str:
    """Return why a connection that gave an error does not work any more; empty if another try may help.

    The end of a consent at a provider is noted with its tokens: other refusals there may be mistakes of this program.
    """
    if isinstance(error, CalendarNotFound):
        return _(VANISHED)
    if isinstance(error, CalendarAuthFailed) and connection.provider is Provider.CALDAV:
        return error.message
    return ""


WAITING_PAGE = """<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="5"><title>Calendar</title>
<p style="font-family: sans-serif; padding: 1rem">{words}</p>"""
NO_ANSWER = mark_message("Your CalDAV server is not answering right now.")


class LocalServer:
    """The calendar server of this program, over the embedded calendar or the configured CalDAV server.

    A CalDAV server that does not answer at the start does not stop the program: the calendar is opened when it is next
    needed. ``tools`` and ``pane`` are applications to mount.
    """

    def __init__(self, settings: Settings, clock: Clock, port: int) -> None:
        """Open nothing yet. ``port`` is that of the embedded calendar."""
        self._settings = settings
        self._clock = clock
        self._port = port
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._local: LocalCalendar | None = None

    @property
    def caldav_url(self) -> str | None:
        """The address of the calendar; ``None`` until its server answers."""
        return None if self._local is None else self._local.caldav_url

    async def start(self) -> LocalCalendar:
        """Return the calendar; open it if it is not open.

        Raises ``CalendarUnreachable`` while its server does not answer, and other ``UserError`` and ``WorldError``.
        """
        async with self._opening:
            if self._local is None:
                opened = start_local_calendar(self._settings, self._clock, port=self._port)
                self._local = await self._stack.enter_async_context(opened)
            return self._local

    @asynccontextmanager
    async def open(self, url: str, token: str) -> AsyncIterator[Calendar]:
        """Open the calendar through its tools at ``url``. Raises ``CalendarError``."""
        try:
            await self.start()
        except CalendarUnreachable as problem:
            log.info("the CalDAV server does not answer: %s", problem.message)
            raise CalendarUnreachable(_(NO_ANSWER)) from None
        except BadInput as problem:  # which calendar to write to is unclear now that the server answers
            raise CalendarNotFound(problem.message) from None
        async with aclosing(build_calendar(self._settings, url, token=token)) as calendar:
            yield calendar

    async def aclose(self) -> None:
        await self._stack.aclose()

    def release_pages(self) -> None:
        """Answer every open page at once, because the server that they ask is about to stop."""
        if self._local is not None:
            self._local.release_pages()

    async def tools(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = await self._start_or_explain()
        app = PlainTextResponse(found, status_code=503) if isinstance(found, str) else found.mcp_app
        await app(scope, receive, send)

    async def pane(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = await self._start_or_explain()
        if isinstance(found, str):
            page = HTMLResponse(WAITING_PAGE.format(words=html.escape(found)), status_code=503)
            await page(scope, receive, send)
        else:
            await found.pane_app(scope, receive, send)

    async def _start_or_explain(self) -> LocalCalendar | str:
        """Return the calendar, or the reason it cannot be used now."""
        try:
            return await self.start()
        except (BadInput, WorldError) as problem:
            log.info("the calendar cannot be opened: %s", problem.message)
            return _(NO_ANSWER) if isinstance(problem, CalendarUnreachable) else problem.message


class CalDavGateway:
    """Serves the people's CalDAV calendars to our own MCP client, each under a name that cannot be guessed."""

    def __init__(self, folder: Path, url: str, token: str, servers: CalDavServers, now: Callable[[], datetime]) -> None:
        """Keep what belongs to each calendar in ``folder``. ``url`` is the address of this app, ``token`` opens it."""
        self._folder = folder
        self._url = url
        self._token = token
        self._servers = servers
        self._now = now
        self._apps: dict[str, ASGIApp] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name, _slash, rest = scope.get("path", "").removeprefix(scope.get("root_path", "")).lstrip("/").partition("/")
        app = self._apps.get(name)
        if app is None:
            await PlainTextResponse("There is no calendar here.", status_code=404)(scope, receive, send)
            return
        await app({**scope, "path": f"/{rest}", "raw_path": None, "root_path": ""}, receive, send)

    @asynccontextmanager
    async def open(self, connection: Connection) -> AsyncIterator[Calendar]:
        """Open a person's CalDAV calendar. Raises ``CalendarError``."""
        from caldav_mcp import open_local_calendar  # noqa: PLC0415  heavy
        from caldav_mcp.errors import NotFound, PrivateNetwork, ServiceError, Unauthorized  # noqa: PLC0415  heavy
        from fateforger.adapters.calendar.calendars import SeveralCalendars, open_mcp_calendar  # noqa: PLC0415  heavy

        folder = self._folder / hashlib.sha256(connection.key.encode()).hexdigest()[:32]
        try:
            local = await open_local_calendar(self._servers.build_config(connection, folder), now=self._now)
        except Unauthorized:
            raise CalendarAuthFailed(_(REFUSED)) from None
        except PrivateNetwork:
            raise CalendarUnreachable(_(PRIVATE)) from None
        except NotFound:
            raise CalendarNotFound(_(VANISHED)) from None
        except (ServiceError, OSError) as error:
            raise CalendarUnreachable(_(UNUSABLE, error=error)) from None
        name = secrets.token_urlsafe(24)
        async with local:
            self._apps[name] = local.mcp_app
            try:
                one = open_mcp_calendar(
                    f"{self._url}/{name}/mcp",
                    time_zone=self._servers.time_zone,
                    calendar_id=connection.calendar_id,
                    key=connection.key,
                    provider=connection.provider.value,
                    token=self._token,
                )
                async with aclosing(one):
                    yield SeveralCalendars(one, ",".join(connection.reads)) if connection.reads else one
            finally:
                del self._apps[name]


@dataclass(frozen=True, slots=True)
class FollowUps:
    """Tells people once that their connection broke, and goes on with what waited once it works again.

    ``recover`` finishes the writes of a person that were cut off; it raises ``WorldError``.

    What is left to do is kept with the connection, so it is done once by all programs together, and also after a crash.
    """

    connections: Connections
    recover: Callable[[str], Awaitable[None]]
    sessions: Sessions
    jobs: Jobs
    clock: Clock

    async def run_once(self) -> None:
        """Do what is left. Raises ``StoreError``."""
        for user_id, due in await self.connections.list_due():
            if due is FollowUp.TELL:
                await self._tell(user_id)
            elif due is FollowUp.RESUME:
                await self._resume(user_id)

    async def _tell(self, user_id: str) -> None:
        job = connection_job(user_id, "tell", f"broke-{user_id}-{uuid4().hex}")
        await self.connections.finish(user_id, FollowUp.TELL, now=self.clock.now(), job=job)

    async def _resume(self, user_id: str) -> None:
        """Finish writes that were cut off, and read the calendar again for each plan that is open.

        While the calendar does not answer, the writes are left to the next submit or undo.
        """
        try:
            await self.recover(user_id)
        except WorldError as error:
            log.warning("the writes of %s that were cut off stay open for now: %s", user_id, error.message)
        now = self.clock.now()
        for session in await self.sessions.of_user(user_id):
            if session.status is not SessionStatus.CANCELLED:
                again = RefreshCalendar(command_id=f"resume:{session.id}:{session.version}", session_id=session.id)
                await self.jobs.enqueue(build_command_job(again, key=session.id), now=now)
        await self.connections.finish(user_id, FollowUp.RESUME, now=now)
