"""Events that are on the calendar already: the immovables of a day plan."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime

from fateforger.errors import BadInput
from fateforger.plan import local_day, zone
from fateforger.session.frame import whole_frame
from fateforger.session.model import Session
from fateforger.sync.model import EventImage, OwnedId


@dataclass(frozen=True, slots=True)
class Meeting:
    """An event of the calendar that is not part of this plan.

    ``start`` and ``end`` are in the session's zone. ``busy`` is false for events shown as free and for declined
    invitations: they are shown but block nothing. ``calendar`` is the name of its calendar, unless the plan is
    written to that one.
    """

    id: str
    title: str
    start: datetime
    end: datetime
    busy: bool
    calendar: str | None = None


@dataclass(frozen=True, slots=True)
class OnCalendar:
    """A day of the calendar: timed events in order, titles of all-day ones, and blocks of an earlier plan."""

    timed: tuple[Meeting, ...] = ()
    all_day: tuple[str, ...] = ()
    earlier: tuple[Meeting, ...] = ()


def on_calendar(session: Session) -> OnCalendar:
    """Return the events of the session's snapshot for its day, without the plan's own blocks.

    The result is empty without a snapshot.
    """
    if session.snapshot is None or session.snapshot.day != session.date:
        return OnCalendar()
    first, last = _visible_range(session)
    timed: list[Meeting] = []
    all_day: list[str] = []
    earlier: list[Meeting] = []
    for event in session.snapshot.events:
        if event.gone:
            continue
        if not isinstance(event.start, datetime) or not isinstance(event.end, datetime):
            if _covers(event.start, event.end, session.date):
                all_day.append(_title(event) if event.calendar is None else f"{_title(event)} ({event.calendar})")
            continue
        if event.start >= last or (event.end <= first and event.start < first):
            continue
        meeting = _meeting(event, session.tz, event.start, event.end)
        key = own_key(event, session.date)
        if key is None:
            timed.append(meeting)
        elif session.plan is None or all(block.key != key for block in session.plan.events):
            earlier.append(meeting)
    return OnCalendar(_sort_meetings(timed), tuple(all_day), _sort_meetings(earlier))


def busy_meetings(session: Session) -> tuple[Meeting, ...]:
    """Return the timed events that block time."""
    return tuple(m for m in on_calendar(session).timed if m.busy and m.start.astimezone(UTC) < m.end.astimezone(UTC))


def own_key(event: EventImage, day: date) -> str | None:
    """Return the block key of an event that this program wrote for a plan of that day.

    Returns ``None`` for any other event. Copies, occurrences of series, and blocks of another day's plan belong to
    the person and are immovable.
    """
    marker = event.marker
    if marker is None or marker.day != day or event.series_id is not None or not OwnedId.is_one(event.id):
        return None
    return marker.key


def _visible_range(session: Session) -> tuple[datetime, datetime]:
    """Return the range from midnight to midnight, or to a later end of the frame, in UTC."""
    start, end = (moment.astimezone(UTC) for moment in local_day(session.date, zone(session.tz)))
    with suppress(BadInput):  # an invalid frame reaches nowhere
        end = max(end, whole_frame(session)[1].astimezone(UTC))
    return start, end


def _covers(start: object, end: object, day: date) -> bool:
    return isinstance(start, date) and isinstance(end, date) and start <= day < end


def _meeting(event: EventImage, tz: str, start: datetime, end: datetime) -> Meeting:
    local = zone(tz)
    return Meeting(event.id, _title(event), start.astimezone(local), end.astimezone(local), event.busy, event.calendar)


def _title(event: EventImage) -> str:
    return event.summary.strip() or "(no title)"


def _sort_meetings(meetings: list[Meeting]) -> tuple[Meeting, ...]:
    return tuple(sorted(meetings, key=lambda m: (m.start.astimezone(UTC), m.end.astimezone(UTC), m.id)))
