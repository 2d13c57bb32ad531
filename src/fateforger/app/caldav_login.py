"""Log in to a person's CalDAV account, to see whether it works and which calendars there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from fateforger.app.calendar_choice import choose_calendars
from fateforger.calendar.connections import Connection
from fateforger.errors import BadInput, CalendarAuthFailed, CalendarUnreachable
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message, quote_title

if TYPE_CHECKING:
    from caldav_mcp import LocalCalendarConfig
    from caldav_mcp.discovery import Account
    from fateforger.calendar.directory import CalendarEntry
    from fateforger.config import Settings

REFUSED = mark_message("Your calendar server refuses the user name or the password.")
PRIVATE = mark_message(
    "That address leads into a private network, and I connect only to calendar servers on the internet. Whoever runs me"
    " can allow it with FATEFORGER_CALDAV_PRIVATE."
)
UNUSABLE = mark_message("Your calendar server cannot be used: {error}.")


@dataclass(frozen=True, slots=True)
class CalDavServers:
    """CalDAV servers of people. Implements :class:`fateforger.app.calendar_choice.Accounts`.

    With ``public_only``, none in the program's own network is connected to.
    """

    time_zone: str
    public_only: bool

    async def list_calendars(self, connection: Connection) -> Sequence[CalendarEntry]:
        return list_entries(await self._look_up(connection))

    async def check(self, connection: Connection) -> None:
        """Do nothing: a list of calendars shows that the login works, and which ones can be used."""

    async def connect(self, wanted: Connection) -> Connection:
        """Log in, and return the connection with the ids of the named calendars.

        ``wanted.calendar_id`` is a name or id, or empty for the main calendar; ``wanted.reads`` are names or ids.
        Raises ``BadInput``, ``CalendarNotFound``, ``CalendarAuthFailed`` and ``CalendarUnreachable``.
        """
        from fateforger.calendar.directory import choose_read, find_calendar  # noqa: PLC0415  heavy

        account = await self._look_up(wanted)
        entries = list_entries(account)
        if not wanted.calendar_id and not account.main_is_certain:
            listed = join_words(quote_title(entry.summary) for entry in entries if entry.writable)
            raise BadInput(f"There are several calendars I could write to: {listed}. Name one.", where="calendar")
        written = find_calendar(entries, wanted.calendar_id or "primary")
        read = choose_read(entries, ",".join(wanted.reads), written=written.id) if wanted.reads else ()
        return choose_calendars(wanted, entries, reads=[entry.id for entry in read], written=written.id)

    def build_config(self, connection: Connection, folder: Path) -> LocalCalendarConfig:
        """Return the configuration of the server over a person's CalDAV calendar."""
        from caldav_mcp import LocalCalendarConfig  # noqa: PLC0415  heavy

        return LocalCalendarConfig(
            data_dir=folder,
            time_zone=self.time_zone,
            caldav_url=connection.address,
            username=connection.account,
            password=connection.secret,
            public_only=self.public_only,
        )

    async def _look_up(self, wanted: Connection) -> Account:
        from caldav_mcp.errors import NotFound, PrivateNetwork, ServiceError, Unauthorized  # noqa: PLC0415  heavy
        from caldav_mcp.local_calendar import find_calendars  # noqa: PLC0415  heavy

        with TemporaryDirectory() as nowhere:
            try:
                return await find_calendars(self.build_config(wanted, Path(nowhere)))
            except Unauthorized:
                raise CalendarAuthFailed(_(REFUSED)) from None
            except PrivateNetwork:
                raise BadInput(_(PRIVATE), where="address") from None
            except NotFound:
                raise BadInput(_("I find no calendar at that address. Please check it."), where="address") from None
            except ServiceError as error:
                raise CalendarUnreachable(_(UNUSABLE, error=error)) from None


def open_servers(settings: Settings) -> CalDavServers:
    """Return the CalDAV servers that people may connect by the settings.

    Where people reach the program from elsewhere, they must not reach its own network through it.
    """
    return CalDavServers(
        settings.time_zone, public_only=settings.public_url is not None and not settings.caldav_private
    )


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
