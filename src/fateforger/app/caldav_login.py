"""Log in to a person's CalDAV calendar, to see whether it works and which calendars there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from fateforger.calendar.connections import Connection
from fateforger.errors import BadInput, CalendarAuthFailed, CalendarUnreachable
from fateforger.text import gettext as _
from fateforger.values import replace

if TYPE_CHECKING:
    from caldav_mcp import LocalCalendarConfig
    from caldav_mcp.discovery import Account
    from fateforger.calendar.directory import CalendarEntry


class AmbiguousCalendar(BadInput):
    """There are several calendars to write to; ``names`` are theirs."""

    def __init__(self, names: Sequence[str]) -> None:
        listed = ", ".join(f"“{name}”" for name in names)
        super().__init__(f"There are several calendars I could write to: {listed}. Name one.", where="calendar")
        self.names = tuple(names)


async def try_caldav(wanted: Connection, time_zone: str) -> Connection:
    """Log in to a CalDAV server, and return the connection with the ids of the named calendars.

    ``wanted.calendar_id`` is a name or id, or empty for the main calendar; ``wanted.reads`` are names or ids. Raises
    ``BadInput``, ``AmbiguousCalendar``, ``CalendarNotFound``, ``CalendarAuthFailed`` and ``CalendarUnreachable``.
    """
    from fateforger.calendar.directory import choose_read, find_calendar  # noqa: PLC0415  heavy

    account = await _look_up(wanted, time_zone)
    entries = list_entries(account)
    if not wanted.calendar_id and not account.main_is_certain:
        raise AmbiguousCalendar([entry.summary for entry in entries if entry.writable])
    written = find_calendar(entries, wanted.calendar_id or "primary")
    if not written.writable:
        raise BadInput(
            _("“{name}” can only be read. Choose a calendar that you may write to.", name=written.summary),
            where="calendar",
        )
    read = choose_read(entries, ",".join(wanted.reads), written=written.id) if wanted.reads else ()
    return replace(wanted, calendar_id=written.id, reads=tuple(entry.id for entry in read))


async def _look_up(wanted: Connection, time_zone: str) -> Account:
    from caldav_mcp.errors import NotFound, ServiceError, Unauthorized  # noqa: PLC0415  heavy
    from caldav_mcp.local_calendar import find_calendars  # noqa: PLC0415  heavy

    with TemporaryDirectory() as nowhere:
        config = build_config(wanted, Path(nowhere), time_zone)
        try:
            return await find_calendars(config)
        except Unauthorized:
            raise CalendarAuthFailed(_("Your calendar server refuses the user name or the password.")) from None
        except NotFound:
            raise BadInput(_("I find no calendar at that address. Please check it."), where="address") from None
        except ServiceError as error:
            raise CalendarUnreachable(_("Your calendar server cannot be used: {error}.", error=error)) from None


def list_entries(account: Account) -> Sequence[CalendarEntry]:
    """Return the calendars of a CalDAV account, the main one first."""
    from fateforger.calendar.directory import CalendarEntry  # noqa: PLC0415  heavy

    return [
        CalendarEntry(
            id=about.calendar_id,
            summary=about.name,
            time_zone=about.zone.key,
            access_role="writer" if about.writable else "reader",
            primary=place == 0,
            selected=True,
        )
        for place, about in enumerate(account.calendars)
    ]


def build_config(connection: Connection, folder: Path, time_zone: str) -> LocalCalendarConfig:
    """Return the configuration of the server over a person's CalDAV calendar."""
    from caldav_mcp import LocalCalendarConfig  # noqa: PLC0415  heavy

    return LocalCalendarConfig(
        data_dir=folder,
        time_zone=time_zone,
        caldav_url=connection.address,
        username=connection.account,
        password=connection.secret,
    )
