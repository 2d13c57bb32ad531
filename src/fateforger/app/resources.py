"""Resources that every form of the program needs: data directory, clock, store, calendar and its owner.

Combinations of settings that cannot work are refused here, with what to set.
"""

from __future__ import annotations

import asyncio
import errno
import secrets
import socket
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from fateforger.adapters.clock import ShiftedClock, SystemClock
from fateforger.adapters.store.database import PROGRAM_NAME, Database, open_database
from fateforger.app.data_dir import COMMAND_LOCK, lock_data_dir, make_private, read_caldav_password, read_or_create
from fateforger.config import Settings
from fateforger.errors import BadInput, CalendarAuthFailed, CalendarNotFound, CalendarUnreachable
from fateforger.ports.clock import Clock
from fateforger.text import TIMEBOX, command_name

if TYPE_CHECKING:
    from caldav_mcp import LocalCalendar, LocalCalendarConfig
    from fateforger.adapters.calendar.budget import RequestBudget
    from fateforger.adapters.calendar.calendars import McpCalendar
    from fateforger.adapters.store.connections import Vault
    from fateforger.adapters.store.store import Store
    from fateforger.calendar.ports import Calendar, Journal, Quota
    from fateforger.calendar.submitter import CalendarSubmitter
    from fateforger.ports.people import OwnerRecord, Owners
    from fateforger.workers.people import Ownership


def get_replica_name(settings: Settings) -> str:
    """Return the name of this program among all programs on one database.

    On PostgreSQL it is made at the start and written nowhere: others see when its program is not alive any more, and
    take over what it held. With a database in the data directory it stays the same after a restart, so that a program
    resumes at once what it held. Raises ``StoreUnavailable``.
    """
    return read_directory_name(settings.data_dir) if settings.database_url is None else _make_name(settings.data_dir)


@cache
def _make_name(_data_dir: Path) -> str:
    return f"{PROGRAM_NAME}{socket.gethostname()}-{secrets.token_hex(6)}"


def read_directory_name(data_dir: Path) -> str:
    """Return the name of a data directory, which no other one has. Raises ``StoreUnavailable``."""
    return read_or_create(data_dir / "replica", lambda: f"replica-{secrets.token_hex(6)}")


State = Literal["real", "local", "missing", "broken"]


@dataclass(frozen=True, slots=True)
class Check:
    """The state of one part of the configuration.

    ``real``: an outside service that answers. ``local``: the embedded stand-in. ``missing``: optional and not
    configured. ``broken``: configured, but it does not work; ``fix`` tells the person what to do.
    """

    name: str
    state: State
    message: str
    fix: str = ""


LOCAL_CALENDAR = "local"
"""The journal's name of the embedded calendar, whatever its port is."""


def build_clock(settings: Settings) -> Clock:
    """Return the system clock, or a clock that started at the configured instant."""
    return ShiftedClock(settings.now) if settings.now else SystemClock()


def read_instant(settings: Settings) -> datetime:
    """Return the instant of a command, in UTC: the configured one itself, if there is one."""
    return build_clock(settings).now() if settings.now is None else settings.now.astimezone(UTC)


async def open_state(settings: Settings) -> Store:
    """Open the database with all its ports. Raises ``StoreUnavailable``."""
    from fateforger.adapters.store.store import Store  # noqa: PLC0415  heavy

    return Store(await _open_database(settings))


async def _open_database(settings: Settings) -> Database:
    if settings.database_url is None:
        make_private(settings.data_dir)
    where = settings.database_url or settings.data_dir / "fateforger.db"
    return await asyncio.to_thread(open_database, where)


@asynccontextmanager
async def start_local_calendar(settings: Settings, clock: Clock, *, port: int = 0) -> AsyncIterator[LocalCalendar]:
    """Start the embedded calendar server over Radicale or the configured CalDAV server.

    Raises ``CalendarAuthFailed`` if the CalDAV server refuses the login, ``CalendarNotFound`` if it does not know the
    calendar, ``CalendarUnreachable`` for other failures, and ``BadInput`` if the port is taken or it is unclear which
    calendar to write to.
    """
    from caldav_mcp import open_local_calendar  # noqa: PLC0415  heavy
    from caldav_mcp.errors import NotFound, ServiceError, Unauthorized  # noqa: PLC0415  heavy

    try:
        calendar = await open_local_calendar(build_local_calendar_config(settings, port=port), now=clock.now)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise CalendarUnreachable(f"The local calendar cannot start: {error.strerror or error}.") from None
        raise BadInput(
            f"Port {port}, at which CalDAV clients find the embedded calendar, is taken; choose another one with"
            " FATEFORGER_CALDAV_PORT.",
            where="caldav_port",
        ) from None
    except ServiceError as error:
        if settings.caldav_url is None:
            raise CalendarUnreachable(f"The local calendar cannot start: {error}.") from None
        sentence = f"The CalDAV server cannot be used: {error}. `fateforger doctor` says what to do."
        if isinstance(error, Unauthorized):
            raise CalendarAuthFailed(sentence) from None
        if isinstance(error, NotFound):
            raise CalendarNotFound(sentence) from None
        raise CalendarUnreachable(sentence) from None
    async with calendar:
        if settings.calendar_id == "primary" and not calendar.account.main_is_certain:
            raise BadInput(
                explain_ambiguous_calendars([about.name for about in calendar.account.calendars if about.writable])
            )
        yield calendar


def build_local_calendar_config(settings: Settings, *, port: int = 0) -> LocalCalendarConfig:
    """Return the configuration of the embedded calendar server."""
    from caldav_mcp import LocalCalendarConfig  # noqa: PLC0415  heavy

    return LocalCalendarConfig(
        data_dir=settings.data_dir / "calendar",
        time_zone=settings.time_zone,
        caldav_url=settings.caldav_url,
        username=settings.caldav_username,
        password=settings.caldav_password.get_secret_value() if settings.caldav_password else None,
        radicale_port=port,
        radicale_password=read_caldav_password(settings),
        host=settings.host,
    )


def explain_ambiguous_calendars(names: Sequence[str]) -> str:
    """Return the message for several calendars without a setting that names the one to write to."""
    listed = ", ".join(f"“{name}”" for name in names[:20])
    return f"There are several calendars I could write to: {listed}. Name one with FATEFORGER_CALENDAR_ID."


def build_google_budget(settings: Settings, endpoint: str, quota: Quota) -> RequestBudget:
    """Return the request budget of the configured Google login, shared by all programs on the database."""
    from fateforger.adapters.calendar.budget import GOOGLE_LIMIT, LoginBudget  # noqa: PLC0415  heavy
    from fateforger.adapters.calendar.connection import read_endpoint  # noqa: PLC0415  heavy
    from fateforger.calendar.ports import Login  # noqa: PLC0415  heavy

    login = Login(read_endpoint(endpoint).name, settings.calendar_account or "")
    return LoginBudget(quota, login, GOOGLE_LIMIT)


def build_calendar(
    settings: Settings,
    endpoint: str,
    quota: Quota | None = None,
    *,
    token: str | None = None,
    patience: float | None = None,
) -> McpCalendar:
    """Return the calendar port over the configured calendar server, or the embedded one. It does not connect yet.

    ``token`` opens the embedded server, and ``quota`` counts the requests to the configured one. ``patience`` is how
    many seconds reads wait for the request budget of the login; ``None`` means the default.
    """
    from fateforger.adapters.calendar.calendars import SeveralCalendars, open_mcp_calendar  # noqa: PLC0415  heavy
    from fateforger.adapters.calendar.connection import BUDGET_PATIENCE  # noqa: PLC0415  heavy

    calendar = open_mcp_calendar(
        endpoint,
        time_zone=settings.time_zone,
        calendar_id=settings.calendar_id,
        account=settings.calendar_account,
        key=None if settings.calendar_url else find_local_key(settings),
        budget=None if quota is None else build_google_budget(settings, endpoint, quota),
        patience=BUDGET_PATIENCE if patience is None else patience,
        provider="mcp" if settings.calendar_url else "caldav",
        token=token,
    )
    return SeveralCalendars(calendar, settings.calendars_read) if settings.calendars_read.strip() else calendar


KEY_FILE = "logins.key"
"""Name of the file in the data directory."""


def open_vault(settings: Settings) -> Vault:
    """Return what encrypts people's logins: with the configured keys, or one that is kept in the data directory.

    Several programs on one database need the same keys, so there they have to be configured. Without them people cannot
    connect calendars there. Raises ``BadInput``.
    """
    from fateforger.adapters.store.connections import Vault, new_key  # noqa: PLC0415  heavy

    if settings.secret_keys is not None:
        return Vault(settings.secret_keys.get_secret_value())
    if settings.database_url is not None:
        return Vault(None)
    return Vault(read_or_create(settings.data_dir / KEY_FILE, new_key))


def find_calendar_key(settings: Settings) -> str:
    """Return the journal's name of the configured calendar, without connecting to it."""
    if settings.calendar_url is None:
        return find_local_key(settings)
    return build_calendar(settings, settings.calendar_url).key


def find_local_key(settings: Settings) -> str:
    """Return the journal's name of the calendar behind the embedded server.

    The embedded calendar is in the data directory. If the journal is in another database, the name has to be unique
    there.
    """
    if settings.caldav_url:
        which = "" if settings.calendar_id == "primary" else f"#{settings.calendar_id}"
        address = urlsplit(settings.caldav_url)
        bare = address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()
        return f"{LOCAL_CALENDAR}:{bare}{which}"
    return f"{LOCAL_CALENDAR}@{read_directory_name(settings.data_dir)}" if settings.database_url else LOCAL_CALENDAR


def submitter(
    settings: Settings, calendar: Calendar, database: Database, clock: Clock, *, role: str, user_id: str | None = None
) -> CalendarSubmitter:
    """Return the commit engine; ``user_id`` is the person who connected the calendar, ``None`` for the configured one.

    ``role`` names the lock on the data directory that the caller holds: after a crash, the next holder of that lock
    takes the lease over at once. On PostgreSQL any other program does.
    """
    from fateforger.adapters.store.journal import SqlJournal  # noqa: PLC0415  heavy
    from fateforger.calendar.access import CommitContext  # noqa: PLC0415  heavy
    from fateforger.calendar.connections import PersonalCalendar  # noqa: PLC0415  heavy
    from fateforger.calendar.submitter import CalendarSubmitter  # noqa: PLC0415  heavy

    async def find_owner() -> str | None:
        from fateforger.adapters.store.calendars import SqlOwners  # noqa: PLC0415  seldom needed

        return (await build_ownership(settings, SqlOwners(database), clock).owner()).person

    personal = PersonalCalendar(calendar, user_id, find_owner)
    outside = CommitContext(personal, SqlJournal(database), clock, asyncio.sleep)
    whose = role if user_id is None else f"{role}/{user_id}"
    owner = f"{whose}@{get_replica_name(settings)}"
    return CalendarSubmitter(outside, owner=owner, new_id=lambda: uuid.uuid4().hex)


@asynccontextmanager
async def open_submitter(settings: Settings) -> AsyncIterator[CalendarSubmitter]:
    """Open the configured calendar, or start the embedded one, for one command of the command line."""
    async with AsyncExitStack() as stack:
        clock = build_clock(settings)
        database = await _open_database(settings)
        stack.enter_context(lock_data_dir(settings.data_dir, COMMAND_LOCK))
        stack.push_async_callback(database.aclose)
        await database.hold_name(get_replica_name(settings))
        if settings.calendar_url:
            # A command waits as long as the budget requires, and says so; see `cli.progress` and `commit.waiting`.
            from fateforger.adapters.store.calendars import SqlQuota  # noqa: PLC0415  heavy

            calendar = build_calendar(settings, settings.calendar_url, SqlQuota(database), patience=0.0)
        else:
            local = await stack.enter_async_context(start_local_calendar(settings, clock))
            from fateforger.app.web import WebServer  # noqa: PLC0415  heavy

            token = secrets.token_urlsafe(24)
            web = WebServer("127.0.0.1", 0, token=token)
            await web.start(local.mcp_app)
            stack.push_async_callback(web.stop)
            calendar = build_calendar(settings, f"{web.url}/mcp", token=token)
        stack.push_async_callback(calendar.aclose)
        yield submitter(settings, calendar, database, clock, role="door")


@asynccontextmanager
async def open_journal(settings: Settings) -> AsyncIterator[tuple[Journal, str]]:
    """Open the journal and yield it with the configured calendar's name in it. No calendar is needed."""
    from fateforger.adapters.store.journal import SqlJournal  # noqa: PLC0415  heavy

    async with aclosing(await _open_database(settings)) as database:
        yield SqlJournal(database), find_calendar_key(settings)


UNCLAIMED = "It has no owner yet."
CLOSED = "It is closed: its owner was erased, and nobody inherits it."
SETTING_VOID = " FATEFORGER_CALENDAR_OWNER names who was erased, so it does not count."
FIX = (
    "Start fateforger up: it prints a code, and the person who sends that code to the bot becomes the owner. Or set"
    " FATEFORGER_CALENDAR_OWNER to a Slack id (U...)."
)


def build_ownership(settings: Settings, owners: Owners, clock: Clock) -> Ownership:
    """Return the object that decides who owns the configured calendar."""
    from fateforger.workers.people import Ownership  # noqa: PLC0415  heavy
    from localslack.people import DEFAULT_USERS  # noqa: PLC0415  heavy

    page = [person.id for person in DEFAULT_USERS]
    return Ownership(owners, clock, named=settings.calendar_owner, page=page, real_slack=settings.real_slack)


def describe_owner(settings: Settings, owner: OwnerRecord) -> str:
    """Return a sentence about the owner of the calendar."""
    if owner.person is None:
        return f"{CLOSED}{SETTING_VOID if settings.calendar_owner else ''}" if owner.closed else UNCLAIMED
    since = "" if owner.since is None else f" on {owner.since.date().isoformat()}"
    return f"{owner.person} ({owner.origin}{since})."


def describe_claim(code: str) -> str:
    """Return the instructions for a code."""
    return (
        "To connect your calendar, send this to the bot in a direct message:\n\n"
        f"    {command_name(TIMEBOX)} claim {code}\n\n"
        f"In a thread, where Slack takes no commands, write it without the command: claim {code}\n"
        "The code works once, until the next start. Keep it to yourself: the person who sends it owns the calendar."
    )


async def check_owner(settings: Settings) -> Check:
    from fateforger.workers.people import SETTING  # noqa: PLC0415  heavy

    async with aclosing(await open_state(settings)) as store:
        owner = await build_ownership(settings, store.owners, build_clock(settings)).owner()
    words = describe_owner(settings, owner)
    if owner.person is None:
        return Check("owner", "missing", words, FIX)
    return Check("owner", "real" if settings.real_slack or owner.origin == SETTING else "local", words)


NO_CALENDAR = (
    "With Slack and a database server, plans have to reach calendars that people see. Set FATEFORGER_CALENDAR_URL or"
    " FATEFORGER_CALDAV_URL, or let people connect their own: see docs/connections.md."
)
OWN_CALENDAR = (
    "a calendar inside it, which the other one cannot see: set FATEFORGER_CALENDAR_URL or"
    " FATEFORGER_CALDAV_URL, or let people connect their own with FATEFORGER_SECRET_KEYS (docs/connections.md)"
)
OWN_INDEX = (
    "a search index inside it, which the other one cannot see: set FATEFORGER_MEMORY_STORE to pgvector or"
    " qdrant (docs/search.md)"
)


def check_settings(settings: Settings) -> None:
    """Check that plans can reach somebody's calendar. Raises ``BadInput``.

    With the database in the data directory, the calendar inside the program is on the same machine, for its person.
    """
    is_served = settings.real_slack and settings.database_url is not None
    if is_served and _has_own_calendar(settings) and not _can_connect(settings):
        raise BadInput(NO_CALENDAR, where="calendar_url")


async def take_place(settings: Settings, database: Database) -> None:
    """Take a place among the programs on a database, alone if a part of this one cannot be shared.

    Raises ``BadInput`` if there is another program already and one of the two has such a part.
    """
    parts = tuple(list_unshared(settings))
    if await database.hold_place(alone=bool(parts)):
        return
    if not parts:
        raise BadInput(
            "Another fateforger runs on this database with a calendar or a search index inside it, which this one"
            " cannot see. Stop it, and set for it what docs/operations.md lists for several programs.",
            where="database_url",
        )
    raise BadInput(
        f"Another fateforger runs on this database, and this one has {'; and '.join(parts)}.", where="database_url"
    )


def list_unshared(settings: Settings) -> Iterator[str]:
    """Yield each part of a program that others on its database cannot use, with what to set instead."""
    if _has_own_calendar(settings) and settings.secret_keys is None:
        yield OWN_CALENDAR
    if settings.memory_store == "embedded":
        yield OWN_INDEX


def _has_own_calendar(settings: Settings) -> bool:
    return settings.calendar_url is None and settings.caldav_url is None


def _can_connect(settings: Settings) -> bool:
    """Check whether people can connect calendars of their own, or an administrator has opened theirs."""
    opened = settings.google_service_account is not None or bool(settings.microsoft_domains)
    return opened or (settings.secret_keys is not None and settings.public_url is not None)
