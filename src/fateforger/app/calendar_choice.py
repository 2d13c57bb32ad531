"""The choice of calendars of an account: several to read, and one to write to."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from fateforger.calendar.connections import Connection
from fateforger.calendar.directory import MOST_READ, CalendarEntry
from fateforger.errors import BadInput
from fateforger.text import gettext as _
from fateforger.text import ngettext
from fateforger.values import replace


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
