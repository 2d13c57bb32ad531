"""Log in to a person's CalDAV account, and the choice of its calendars: several to read, and one to write to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Protocol

from fateforger.calendar.connections import Connection
from fateforger.calendar.directory import MOST_READ, CalendarEntry
from fateforger.errors import BadInput, CalendarAuthFailed, CalendarUnreachable
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message, ngettext, quote_title
from fateforger.values import replace

if TYPE_CHECKING:
    from caldav_mcp import LocalCalendarConfig
    from caldav_mcp.discovery import Account
    from fateforger.calendar.directory import CalendarEntry
    from fateforger.config import Settings


class Accounts(Protocol):
    """The accounts of one provider. Raises ``CalendarError``, ``ConnectionFailed`` and ``BadInput``."""

    async def list_calendars(self, connection: Connection) -> Sequence[CalendarEntry]:
        """Return the calendars of a connection's account, the main one first."""
        ...

    async def check(self, connection: Connection) -> None:
        """Read from all calendars of a connection, to see whether they can be used."""
        ...


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """A calendar in the form, and what is ticked."""

    entry: CalendarEntry
    reads: bool
    writes: bool


def list_rows(entries: Sequence[CalendarEntry], connection: Connection) -> tuple[ChoiceRow, ...]:
    """Return the form's rows with the choice of the connection, or else with the main calendar.

    Calendars of which only busy times can be seen are left out.
    """
    shown = [entry for entry in entries if entry.readable]
    known = {entry.id for entry in shown if entry.writable}
    main = next((entry.id for entry in shown if entry.writable), "")
    written = connection.calendar_id if connection.calendar_id in known else main
    return tuple(ChoiceRow(e, e.id in {written, *connection.reads}, e.id == written) for e in shown)


def choose_calendars(
    connection: Connection, entries: Sequence[CalendarEntry], *, reads: Collection[str], written: str
) -> Connection:
    """Return the connection with calendars by their ids. Raises ``BadInput``.

    The one that is written to is always read.
    """
    by_id = {entry.id: entry for entry in entries if entry.readable}
    if written not in by_id:
        raise BadInput(_("Please choose a calendar to write your plan to."), where="calendar")
    if not by_id[written].writable:
        raise BadInput(
            _("“{name}” can only be read. Choose a calendar that you may write to.", name=by_id[written].summary),
            where="calendar",
        )
    others = tuple(entry.id for entry in by_id.values() if entry.id in reads and entry.id != written)
    if len(others) > MOST_READ:
        raise BadInput(
            ngettext(
                "I can read at most {count} calendar besides the one I write to. Please tick the one that matters"
                " most.",
                "I can read at most {count} calendars besides the one I write to. Please tick those that matter most.",
                MOST_READ,
            )
        )
    names = {each: by_id[each].summary for each in (written, *others)}
    return replace(connection, calendar_id=written, reads=others, names=names)


def choose_only(connection: Connection, entries: Sequence[CalendarEntry]) -> Connection | None:
    """Return the connection with the account's only calendar; ``None`` if there is something to choose."""
    shown = [entry for entry in entries if entry.readable]
    if len(shown) != 1 or not shown[0].writable:
        return None
    return choose_calendars(connection, entries, reads=(), written=shown[0].id)


REFUSED = mark_message("Your calendar server refuses the user name or the password.")
PRIVATE = mark_message(
    "That address leads into a private network, and I connect only to calendar servers on the internet. Whoever runs me"
    " can allow it with FATEFORGER_CALDAV_PRIVATE."
)
UNUSABLE = mark_message("Your calendar server cannot be used: {error}.")


@dataclass(frozen=True, slots=True)
class CalDavServers:
    """CalDAV servers of people. Implements :class:`fateforger.app.caldav_login.Accounts`.

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
