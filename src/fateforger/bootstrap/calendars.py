"""Check the configured calendars for ``doctor``: resolve each name and suggest a fix for each mistake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fateforger.bootstrap.check import Check
from fateforger.bootstrap.ground import build_google_budget, open_state
from fateforger.config import Settings
from fateforger.errors import CalendarAuthFailed, CalendarNotFound, CalendarUnreachable, StoreError

if TYPE_CHECKING:
    from fateforger.adapters.calendar import CalendarEntry

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
        f"The embedded CalDAV calendar, in {settings.time_zone}.",
        "For Google set FATEFORGER_CALENDAR_URL, for any CalDAV calendar FATEFORGER_CALDAV_URL.",
    )


async def _check_google(settings: Settings, url: str) -> Check:
    from fateforger.adapters.calendar import probe_server  # noqa: PLC0415  heavy

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
    from fateforger.adapters.calendar import CalendarEntry  # noqa: PLC0415  heavy
    from fateforger.bootstrap.ground import build_local_calendar_config, explain_ambiguous_calendars  # noqa: PLC0415  heavy

    try:
        account = await find_calendars(build_local_calendar_config(settings))
    except Unauthorized:
        return Check("calendar", "broken", "The CalDAV server refuses the login.", CALDAV_LOGIN_FIX)
    except NotFound as error:
        return Check("calendar", "broken", f"{error}.", "Check FATEFORGER_CALDAV_URL; docs/caldav.md has examples.")
    except ServiceError as error:
        return Check("calendar", "broken", f"The CalDAV server cannot be used: {error}.", SERVER_FIX)
    main = account.calendars[0]
    entries = [
        CalendarEntry(
            id=about.calendar_id,
            summary=about.name,
            time_zone=about.zone.key,
            access_role="writer" if about.writable else "reader",
            primary=about is main,
            selected=True,
        )
        for about in account.calendars
    ]
    if settings.calendar_id == "primary" and not account.main_is_certain:
        return Check(
            "calendar", "broken", explain_ambiguous_calendars([e.summary for e in entries if e.writable]), NAMES_FIX
        )
    return _check_names(settings, entries, "The CalDAV server answers")


def _check_names(settings: Settings, entries: Sequence[CalendarEntry], server: str) -> Check:
    from fateforger.adapters.calendar import choose_read, find_calendar  # noqa: PLC0415  heavy

    try:
        written = find_calendar(entries, settings.calendar_id)
        read = choose_read(entries, settings.calendars_read, written=settings.calendar_id)
    except CalendarNotFound as error:
        return Check("calendar", "broken", f"{server}. {error.message}", NAMES_FIX)
    if not written.writable:
        fix = "Name another one with FATEFORGER_CALENDAR_ID, or ask its owner for the right to change it."
        return Check("calendar", "broken", f"{server}, but “{written.summary}” may only be read.", fix)
    also = f", and read {_join_names([entry.summary for entry in read])}" if read else ""
    left = [e.summary for e in entries if e.readable and e not in read and e != written]
    more = f" Not looked at: {_join_names(left)} (FATEFORGER_CALENDARS_READ)." if left else ""
    fix = ""
    if written.time_zone not in {None, settings.time_zone}:
        fix = f"It is in {written.time_zone} and you in {settings.time_zone}: FATEFORGER_TIME_ZONE sets yours."
    return Check("calendar", "real", f"{server}; I write to “{written.summary}”{also}.{more}", fix)


def _join_names(names: Sequence[str]) -> str:
    shown = ", ".join(f"“{name}”" for name in names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
