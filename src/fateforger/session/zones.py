"""The clock of where the person is: a flight on the calendar takes them to another zone in the middle of a day.

Plans and drafts stay in the session's zone. What a person reads goes through :func:`local_time`, and what they write or
choose through :func:`instant_of_clock`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from fateforger.calendar.event import EventImage
from fateforger.calendar.model import ZoneChange
from fateforger.planning.timing import instant_of, zone
from fateforger.session.model import Session
from fateforger.text import gettext as _


def zone_changes(session: Session) -> tuple[ZoneChange, ...]:
    """Return the changes of zone on a session's day, in order."""
    snapshot = session.day.snapshot
    return () if snapshot is None or snapshot.day != session.date else snapshot.zone_changes


def zone_at(session: Session, moment: datetime) -> ZoneInfo:
    """Return the zone in which the person is at an instant."""
    passed = [change.tz for change in zone_changes(session) if change.at <= moment.astimezone(UTC)]
    return zone(passed[-1] if passed else session.tz)


def local_time(session: Session, moment: datetime) -> datetime:
    """Return an instant in the clock of where the person is then."""
    return moment.astimezone(zone_at(session, moment))


def instant_of_clock(session: Session, day: date, clock: time) -> datetime:
    """Return the instant of a time of a day in the clock of where the person is then, in the session's zone."""
    local = datetime.combine(day, clock)
    found = instant_of(local, zone(session.tz))
    for change in zone_changes(session):
        there = instant_of(local, zone(change.tz))
        if there.astimezone(UTC) >= change.at:
            found = there.astimezone(zone(session.tz))
    return found


def home_clock(session: Session, clock: time) -> time:
    """Return a time of the planned day, in the clock of where the person is then, as a time of the session's zone."""
    return instant_of_clock(session, session.date, clock).time()


def city(tz: str) -> str:
    """Return a name like ``New York`` for a zone."""
    return tz.rpartition("/")[2].replace("_", " ")


def zone_suffix(session: Session, start: datetime, end: datetime) -> str:
    """Return `` (New York time)`` for a span in which the person is not in the session's zone, else nothing."""
    first, last = zone_at(session, start).key, zone_at(session, end).key
    if first != last:
        return " " + _("(ends in {city} time)", city=city(last))
    return "" if first == session.tz else " " + _("({city} time)", city=city(first))


def describe_journeys(session: Session) -> tuple[str, ...]:
    """Return what the person should know: the clock after each journey, and the meetings that fall into it."""
    lines = []
    for change in zone_changes(session):
        arrival = change.at.astimezone(zone(change.tz))
        lines.append(
            _(
                "From {arrival:%H:%M} on, all times are in {there} time, because of “{journey}”: on cards, in forms and"
                " in your messages.",
                arrival=arrival,
                there=city(change.tz),
                journey=change.journey.summary,
            )
        )
        lines += [
            _("“{title}” falls into “{journey}”.", title=event.summary, journey=change.journey.summary)
            for event in _during(session, change.journey)
        ]
    return tuple(lines)


def _during(session: Session, journey: EventImage) -> Iterator[EventImage]:
    events = () if session.day.snapshot is None else session.day.snapshot.events
    for event in events:
        is_other = event.id != journey.id and event.busy and not event.gone and event.is_timed
        if is_other and event.canon.start < journey.canon.end and journey.canon.start < event.canon.end:
            yield event
