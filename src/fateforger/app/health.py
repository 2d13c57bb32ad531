"""Checks of the configuration for ``doctor``, with a fix for each problem, and the external task list."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import httpx

from fateforger.adapters.answers import limit_answers
from fateforger.adapters.tasklists import LOOK_SECONDS, TickTick
from fateforger.app.data_dir import (
    CALDAV_USER,
    PARAMETER,
    build_address,
    describe_caldav,
    describe_exposure,
    find_page,
    make_private,
    read_addresses,
    read_caldav_password,
    read_page_token,
)
from fateforger.app.memory import MEMORY_FIX, check_memory
from fateforger.app.resources import Check, build_google_budget, check_owner, open_state
from fateforger.calendar.directory import CalendarEntry, choose_read, find_calendar
from fateforger.config import Settings
from fateforger.conversation.task_offers import ExternalTaskList, FindOwner
from fateforger.errors import (
    CalendarAuthFailed,
    CalendarNotFound,
    CalendarUnreachable,
    FateforgerError,
    StoreError,
    TasksUnavailable,
)
from fateforger.limits import MAX_LOGIN_ANSWER_BYTES
from fateforger.ports.clock import Clock
from fateforger.text import format_count, join_words, quote_title

if TYPE_CHECKING:
    from fateforger.adapters.store.connections import SqlConnections
    from fateforger.app.logins import Delegation

LIST_FIX = "Check TICKTICK_MCP_URL, TICKTICK_MCP_TOKEN and TICKTICK_MCP_TOOL; a day can be planned without it."
_PATIENT = 8.0


def build_external_list(settings: Settings, clock: Clock, find_owner: FindOwner) -> ExternalTaskList | None:
    """Return the external task list of the owner; ``None`` if none is configured. It does not connect yet."""
    ticktick = _ticktick(settings, LOOK_SECONDS)
    return None if ticktick is None else ExternalTaskList(ticktick.open_tasks, clock, find_owner)


async def check_lists(settings: Settings, *, seconds: float = _PATIENT) -> tuple[Check, ...]:
    """Check for ``doctor`` whether the task list can be read; return nothing if none is configured."""
    ticktick = _ticktick(settings, seconds)
    if ticktick is None:
        return ()
    try:
        count = len(await ticktick.open_tasks())
    except TasksUnavailable as error:
        return (Check("ticktick", "broken", f"{error.message} The reason: {error.reason}.", LIST_FIX),)
    return (Check("ticktick", "real", f"{format_count(count, 'open task')} can be offered."),)


def _ticktick(settings: Settings, seconds: float) -> TickTick | None:
    if settings.ticktick_mcp_url is None:
        return None
    token = settings.ticktick_mcp_token
    return TickTick(
        settings.ticktick_mcp_url,
        tz=settings.time_zone,
        token=None if token is None else token.get_secret_value(),
        tool=settings.ticktick_mcp_tool,
        seconds=seconds,
    )


OLLAMA = "http://127.0.0.1:11434"
OLLAMA_SECONDS = 0.5
"""Seconds to wait for a server that may not exist."""


async def find_ollama_models(url: str = OLLAMA) -> tuple[str, ...]:
    """Return the models of an Ollama server on this machine; none without a server."""
    try:
        async with asyncio.timeout(_PATIENT), httpx.AsyncClient(timeout=OLLAMA_SECONDS, trust_env=False) as http:
            limit_answers(http, MAX_LOGIN_ANSWER_BYTES)
            answer = await http.get(f"{url}/api/tags")
            found = answer.json()["models"]
            return tuple(str(model["name"]) for model in found)
    except (httpx.HTTPError, TimeoutError, ValueError, KeyError, TypeError):
        return ()


_MOST_NAMES = 8
SERVER_FIX = (
    "Check FATEFORGER_CALENDAR_URL (or FATEFORGER_CALDAV_URL) and that the server runs; leave it out for the embedded"
    " calendar."
)
START_FIX = (
    "Start the server, or correct FATEFORGER_CALENDAR_URL (docs/google.md, “Run the server”); leave it out for the"
    " embedded calendar."
)
LOGIN_FIX = "Log in (docs/google.md, “Log in”); while Google has the app in testing, that is needed every seven days."
STATE_FIRST = "Mend the database first (“state”)."
NAMES_FIX = "Check the names in FATEFORGER_CALENDAR_ID and FATEFORGER_CALENDARS_READ."
CALDAV_LOGIN_FIX = "Check FATEFORGER_CALDAV_USERNAME and FATEFORGER_CALDAV_PASSWORD (often an app password)."


async def check_calendars(settings: Settings) -> Check:
    """Check the calendar that is written to and those that are only read."""
    if settings.calendar_url:
        return await _check_google(settings, settings.calendar_url)
    if settings.caldav_url:
        return await _check_caldav(settings)
    return Check(
        "calendar",
        "local",
        f"The embedded CalDAV calendar, in {settings.time_zone} (FATEFORGER_TIME_ZONE). {_describe_embedded(settings)}",
        "For Google set FATEFORGER_CALENDAR_URL, for any CalDAV calendar FATEFORGER_CALDAV_URL.",
    )


async def _check_google(settings: Settings, url: str) -> Check:
    from fateforger.adapters.calendar.calendars import probe_server  # noqa: PLC0415  heavy

    try:
        store = await open_state(settings)
    except StoreError:
        return Check("calendar", "broken", "I did not ask it: requests to it are counted in the database.", STATE_FIRST)
    try:
        budget = build_google_budget(settings, url, store.quota)
        report = await probe_server(url, account=settings.calendar_account, budget=budget)
    except CalendarAuthFailed as error:
        return Check("calendar", "broken", error.message, LOGIN_FIX)
    except CalendarUnreachable as error:
        return Check("calendar", "broken", error.message, START_FIX)
    finally:
        await store.aclose()
    server = f"{report.server} {report.version} answers in {report.seconds:.1f} s"
    if not any(calendar.writable for calendar in report.calendars):
        fix = "Log in to a Google account with a calendar of its own."
        return Check("calendar", "broken", f"{server}, but offers no calendar to write to.", fix)
    return _check_names(settings, report.calendars, server)


async def _check_caldav(settings: Settings) -> Check:
    from caldav_mcp import find_calendars  # noqa: PLC0415  heavy
    from caldav_mcp.errors import NotFound, ServiceError, Unauthorized  # noqa: PLC0415  heavy
    from fateforger.app.caldav_login import list_entries  # noqa: PLC0415  heavy
    from fateforger.app.resources import (  # noqa: PLC0415  heavy
        build_local_calendar_config,
        explain_ambiguous_calendars,
    )

    try:
        account = await find_calendars(build_local_calendar_config(settings))
    except Unauthorized:
        return Check("calendar", "broken", "The CalDAV server refuses the login.", CALDAV_LOGIN_FIX)
    except NotFound as error:
        return Check("calendar", "broken", f"{error}.", "Check FATEFORGER_CALDAV_URL; docs/caldav.md has examples.")
    except ServiceError as error:
        return Check("calendar", "broken", f"The CalDAV server cannot be used: {error}.", SERVER_FIX)
    entries = list_entries(account)
    if settings.calendar_id == "primary" and not account.main_is_certain:
        return Check(
            "calendar", "broken", explain_ambiguous_calendars([e.summary for e in entries if e.writable]), NAMES_FIX
        )
    return _check_names(settings, entries, "The CalDAV server answers")


def _check_names(settings: Settings, entries: Sequence[CalendarEntry], server: str) -> Check:
    try:
        written = find_calendar(entries, settings.calendar_id)
        read = choose_read(entries, settings.calendars_read, written=settings.calendar_id)
    except CalendarNotFound as error:
        return Check("calendar", "broken", f"{server}. {error.message}", NAMES_FIX)
    if not written.writable:
        fix = "Name another one with FATEFORGER_CALENDAR_ID, or ask its owner for the right to change it."
        return Check("calendar", "broken", f"{server}, but “{written.summary}” may only be read.", fix)
    also = f", and read {join_words((quote_title(e.summary) for e in read), _MOST_NAMES)}" if read else ""
    left = [e.summary for e in entries if e.readable and e not in read and e != written]
    more = (
        f" Not looked at: {join_words(map(quote_title, left), _MOST_NAMES)} (FATEFORGER_CALENDARS_READ)."
        if left
        else ""
    )
    fix = ""
    if written.time_zone not in {None, settings.time_zone}:
        fix = f"It is in {written.time_zone} and you in {settings.time_zone}: FATEFORGER_TIME_ZONE sets yours."
    return Check("calendar", "real", f"{server}; I write to “{written.summary}”{also}.{more}", fix)


_ENOUGH_BYTES = 200 * 1024 * 1024


async def run_checks(settings: Settings, *, ask_model: bool = False) -> tuple[Check, ...]:
    """Check every part, with ten seconds for each. Nothing is changed, except that missing tables are created.

    With ``ask_model`` the language models are sent a request, which may cost a fraction of a cent and takes longer.
    """
    parts: tuple[tuple[str, Callable[[Settings], Awaitable[Check]]], ...] = (
        ("python", _check_python),
        ("data", _check_data),
        ("state", _check_state),
        ("owner", check_owner),
        ("calendar", check_calendars),
        ("slack", _check_slack),
        ("memory", check_memory),
    )
    checks = [await _within_time(name, part, settings) for name, part in parts]
    return (
        *checks,
        *_check_pages(settings),
        *await _check_events(settings),
        *await check_delegations(settings),
        *await check_lists(settings),
        *await _check_models(settings, ask=ask_model),
    )


DELEGATION_FIX = (
    "Check the setting. Ask the administrator whether the client is allowed for the scopes in docs/google.md or"
    " docs/microsoft.md (“For a whole domain”)."
)


async def check_delegations(settings: Settings) -> tuple[Check, ...]:
    """Check each access to a whole domain by listing the calendars of one person who uses it.

    It cannot be tried without a person; until there is one, only its settings are checked.
    """
    if settings.google_service_account is None and not settings.microsoft_domains:
        return ()
    from fateforger.adapters.clock import SystemClock  # noqa: PLC0415  heavy
    from fateforger.adapters.store.connections import SqlConnections  # noqa: PLC0415  heavy
    from fateforger.app.logins import build_delegations  # noqa: PLC0415  heavy
    from fateforger.app.upkeep import find_vault  # noqa: PLC0415  heavy

    try:
        store = await open_state(settings)
    except StoreError:
        return (Check("domain", "broken", "I could not try it without the database.", STATE_FIRST),)
    try:
        connections = SqlConnections(store.database, find_vault(settings))
        delegations = build_delegations(settings, connections, SystemClock(), store)
        return tuple([await _check_delegation(each, connections) for each in delegations.values()])
    except FateforgerError as error:
        return (Check("domain", "broken", error.message, DELEGATION_FIX),)
    finally:
        await store.aclose()


async def _check_delegation(delegation: Delegation, connections: SqlConnections) -> Check:
    service, domains = delegation.provider.service, join_words(sorted(delegation.domains))
    found = await connections.find_delegated(delegation.provider)
    if found is None:
        return Check("domain", "missing", f"{service} for {domains} is set up; nobody uses it yet.")
    try:
        count = len(await asyncio.wait_for(delegation.list_calendars(found), _PATIENT))
    except TimeoutError:
        return Check("domain", "broken", f"{service} did not answer within {_PATIENT:.0f} seconds.", DELEGATION_FIX)
    except FateforgerError as error:
        return Check("domain", "broken", f"{service} for {found.account}: {error.message}", DELEGATION_FIX)
    return Check("domain", "real", f"{service} lists {format_count(count, 'calendar')} of {found.account}.")


async def _within_time(name: str, part: Callable[[Settings], Awaitable[Check]], settings: Settings) -> Check:
    try:
        return await asyncio.wait_for(part(settings), 10)
    except TimeoutError:
        return Check(name, "broken", "It did not answer within ten seconds.", "Check its address and the network.")
    except FateforgerError as error:
        return Check(name, "broken", error.message, _FIXES[name])


_STATE_FIX = "Move the database away, or choose another directory with --data-dir."
_FIXES = {
    "python": "Install Python 3.11 or newer.",
    "data": "Choose another directory with --data-dir or FATEFORGER_DATA_DIR.",
    "state": _STATE_FIX,
    "owner": _STATE_FIX,
    "calendar": SERVER_FIX,
    "slack": "Check SLACK_BOT_TOKEN and SLACK_APP_TOKEN; leave both out for the local page.",
    "memory": MEMORY_FIX,
}


_SERVER_FIX = "Check that the server runs and that FATEFORGER_DATABASE_URL is right; leave it out for an SQLite file."


async def _check_python(_: Settings) -> Check:
    return Check("python", "real", f"Python {sys.version.split()[0]}.")


async def _check_data(settings: Settings) -> Check:
    folder = settings.data_dir
    try:
        make_private(folder)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Check("data", "broken", f"I cannot use {folder}: {error.strerror}.", _FIXES["data"])
    if not os.access(folder, os.W_OK):
        return Check("data", "broken", f"I cannot write to {folder}.", _FIXES["data"])
    if free < _ENOUGH_BYTES:
        return Check("data", "broken", f"{folder} has only {free // 2**20} MiB left.", "Free some space on that disk.")
    return Check("data", "local", f"{folder}, {free / 2**30:.1f} GiB free.")


async def _check_state(settings: Settings) -> Check:
    from fateforger.adapters.store.store import open_store  # noqa: PLC0415  heavy

    where = settings.database_url or settings.data_dir / "fateforger.db"
    try:
        if not settings.database_url:
            make_private(settings.data_dir)
        store = await asyncio.to_thread(open_store, where)
    except FateforgerError as error:
        return Check("state", "broken", error.message, _SERVER_FIX if settings.database_url else _FIXES["state"])
    await store.aclose()
    if settings.database_url:
        return Check("state", "real", f"{store.database.place} answers.")
    return Check("state", "local", f"SQLite at {where}.")


async def _check_slack(settings: Settings) -> Check:
    if settings.slack_bot_token is None and settings.slack_client_id is None:
        return Check(
            "slack",
            "local",
            f"The local page. {_describe_page(settings, '/')}",
            "For your workspace create an app from what fateforger manifest prints, and set SLACK_BOT_TOKEN and"
            " SLACK_APP_TOKEN.",
        )
    from slack_sdk.errors import SlackApiError  # noqa: PLC0415  heavy
    from slack_sdk.web.async_client import AsyncWebClient  # noqa: PLC0415  heavy

    from fateforger.app.slack_install import build_login, describe_mode  # noqa: PLC0415  heavy

    login = build_login(settings, "")
    client = AsyncWebClient(token=login.bot_token, base_url=login.base_url, timeout=8)
    client.proxy = login.proxy
    try:
        who = None if login.bot_token is None else await client.auth_test()
        if login.app_token is not None:
            await client.apps_connections_open(app_token=login.app_token)
    except SlackApiError as error:
        return Check("slack", "broken", f"Slack says {error.response['error']}.", _FIXES["slack"])
    except OSError as error:
        return Check("slack", "broken", f"Slack cannot be reached: {error}.", "Check the network and FATEFORGER_PROXY.")
    if who is None:
        return Check("slack", "real", f"Workspaces install the app at {settings.public_url}/slack/install.")
    words = f"Connected to {who['team']} as {who['user']}, {describe_mode(settings)}."
    return Check("slack", "real", words, _picture_fix(settings, who.headers))


def _check_pages(settings: Settings) -> Iterator[Check]:
    """Yield the address of a local calendar's days, and a warning if other machines may reach the page."""
    if settings.real_slack and settings.calendar_url is None:
        yield Check("page", "local", f"The days of your calendar. {_describe_page(settings, '/day/')}")
    warning = describe_exposure(settings)
    if warning is not None:
        yield Check("network", "missing", warning)


def _describe_page(settings: Settings, path: str) -> str:
    page, _ = read_addresses(settings.data_dir)
    if page is None and settings.port == 0:
        return "fateforger up prints its address."
    page = page or find_page(settings)
    if settings.page_token is not None:  # a secret of the settings is not shown
        return f"While fateforger runs, open {page}{path}?{PARAMETER}= followed by FATEFORGER_PAGE_TOKEN."
    return f"While fateforger runs, open {build_address(page, read_page_token(settings), path)}"


def _describe_embedded(settings: Settings) -> str:
    _, url = read_addresses(settings.data_dir)
    if url is None and (settings.port == 0 or settings.caldav_port == 0):
        return "fateforger up prints how calendar apps open it."
    url = url or f"http://127.0.0.1:{settings.caldav_port}/{CALDAV_USER}/calendar/"
    return f"While fateforger runs, calendar apps can open {describe_caldav(url, read_caldav_password(settings))}."


_EVENTS_FIX = (
    "Start the program, or leave this to Slack, which may reach the address from outside when this machine cannot."
    " Otherwise check that the proxy passes /slack/ on, with the name of the host."
)


async def _check_events(settings: Settings) -> tuple[Check, ...]:
    """Send the challenge of HTTP mode to the public address, as Slack does; return nothing in Socket Mode."""
    if settings.slack_mode == "socket" or settings.slack_signing_secret is None:
        return ()
    from slack_sdk.signature import SignatureVerifier  # noqa: PLC0415  heavy

    from fateforger.slack.manifest import EVENTS_PATH  # noqa: PLC0415  heavy

    url = f"{str(settings.public_url).rstrip('/')}{EVENTS_PATH}"
    challenge, seconds = secrets.token_hex(16), str(int(time.time()))
    body = json.dumps({"type": "url_verification", "challenge": challenge})
    verifier = SignatureVerifier(settings.slack_signing_secret.get_secret_value())
    headers = {
        "Content-Type": "application/json",
        "X-Slack-Request-Timestamp": seconds,
        "X-Slack-Signature": str(verifier.generate_signature(timestamp=seconds, body=body)),
    }
    try:
        async with asyncio.timeout(_PATIENT), httpx.AsyncClient(timeout=_PATIENT) as http:
            limit_answers(http, MAX_LOGIN_ANSWER_BYTES)
            answer = await http.post(url, content=body, headers=headers)
    except (httpx.HTTPError, TimeoutError) as error:
        reason = str(error) or type(error).__name__
        return (Check("events", "missing", f"Nothing answers at {url}: {reason}.", _EVENTS_FIX),)
    if answer.status_code == 401:
        fix = "Restart the program with this secret, or correct SLACK_SIGNING_SECRET."
        return (Check("events", "broken", f"What answers at {url} knows another signing secret.", fix),)
    if answer.status_code != 200 or challenge not in answer.text:
        words = f"What answers at {url} does not know Slack's challenge: status {answer.status_code}."
        return (Check("events", "missing", words, _EVENTS_FIX),)
    return (Check("events", "real", f"The program answers Slack's challenge at {url}."),)


def _picture_fix(settings: Settings, headers: Mapping[str, str]) -> str:
    """Return the fix if days should be shown as pictures but Slack does not permit it; empty otherwise."""
    from fateforger.slack.client import UPLOAD_SCOPE, scopes_in  # noqa: PLC0415  heavy
    from fateforger.slack.poster import NO_SCOPE  # noqa: PLC0415  heavy

    scopes = scopes_in(headers)
    return NO_SCOPE if settings.picture == "on" and scopes is not None and UPLOAD_SCOPE not in scopes else ""


async def _check_models(settings: Settings, *, ask: bool) -> tuple[Check, ...]:
    if settings.model is None:
        here = await find_ollama_models()
        fix = f"Ollama runs here: set FATEFORGER_MODEL_PROVIDER=ollama and FATEFORGER_MODEL={here[0]}." if here else ""
        return (Check("model", "missing", "None is needed: buttons and forms do the whole job.", fix),)
    from fateforger.app.models import check_models, check_settings  # noqa: PLC0415  heavy

    return await check_models(settings, settings.model) if ask else (check_settings(settings, settings.model),)
