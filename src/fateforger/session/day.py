"""The day of a session: its name, its frame as instants, and the events on its calendar."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache

from fateforger.calendar.event import EventImage
from fateforger.errors import BadInput
from fateforger.planning.timing import ceil, instant, instant_of, local_day, zone
from fateforger.session.frame import frame_in_force, instant_of_clock
from fateforger.session.messages import SyncReport
from fateforger.session.model import FrameFacts, Session
from fateforger.session.stages import TimeboxingStage
from fateforger.text import NO_TITLE
from fateforger.text import gettext as _
from fateforger.values import replace

_EVENING = time(18, 0)
_DRAFTED = frozenset({TimeboxingStage.SKELETON, TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT})


def local_today(now: datetime, tz: str) -> date:
    """Return the current calendar day in a zone."""
    return now.astimezone(zone(tz)).date()


def day_to_plan(now: datetime, tz: str) -> date:
    """Return today, or tomorrow once the evening has begun."""
    local = now.astimezone(zone(tz))
    return local.date() + timedelta(days=1) if local.time() >= _EVENING else local.date()


_NIGHT = timedelta(hours=12)
_LATE = timedelta(hours=18)
_SMALL_HOURS = time(6, 0)
LOOK_AHEAD = timedelta(hours=12)
"""Distance that a plan and its calendar window reach into the next day."""


@lru_cache(maxsize=256)
def frame_span(day: date, tz: str, frame: FrameFacts) -> tuple[datetime, datetime]:
    """Return start and end of the day's frame, in its zone.

    An end that is not after the start is on the next day, if that makes a night or ends in the small hours. Otherwise
    it is a mistake: raises :class:`BadInput`.
    """
    start = instant_of(datetime.combine(day, frame.day_start), zone(tz))
    end = instant_of(datetime.combine(day, frame.day_end), zone(tz))
    if frame.day_end <= frame.day_start:
        end = instant_of(datetime.combine(day + timedelta(days=1), frame.day_end), zone(tz))
        length = end.astimezone(UTC) - start.astimezone(UTC)
        if length > (_LATE if frame.day_end <= _SMALL_HOURS else _NIGHT):
            raise BadInput(
                _(
                    "Your day would end at {day_end:%H:%M}, before it starts at {day_start:%H:%M}."
                    " Choose an end after the start, or an end in the night that follows.",
                    day_end=frame.day_end,
                    day_start=frame.day_start,
                )
            )
    if end.astimezone(UTC) <= start.astimezone(UTC):
        raise BadInput(
            _(
                "On that day the clocks change between {day_start:%H:%M} and {day_end:%H:%M}.",
                day_start=frame.day_start,
                day_end=frame.day_end,
            )
        )
    return start, end


def whole_frame(session: Session) -> tuple[datetime, datetime]:
    """Return :func:`frame_span` of a session, regardless of the current time."""
    return span_of(session, frame_in_force(session))


def span_of(session: Session, frame: FrameFacts) -> tuple[datetime, datetime]:
    """Return :func:`frame_span` of a frame on a session's day, whose end follows the clock of where the person is."""
    start, end = frame_span(session.date, session.tz, frame)
    next_day = frame.day_end <= frame.day_start
    there = instant_of_clock(session, session.date + timedelta(days=next_day), frame.day_end)
    return start, there if there.astimezone(UTC) > start.astimezone(UTC) else end


def frame_of(session: Session) -> tuple[datetime, datetime]:
    """Return the part of the session's frame that can be planned.

    It is the whole frame, or the rest from now on, rounded up to five minutes (K11). For a drafted plan, "now" is the
    instant of the draft. Raises :class:`BadInput` when the frame is a mistake, or over.
    """
    start, end = whole_frame(session)
    now = _planned_from(session)
    if now is None or now.astimezone(UTC) <= start.astimezone(UTC):
        return start, end
    if _is_past(end, now):
        raise BadInput(
            _(
                "Your day ended at {day_end:%H:%M}, so nothing is left of it to plan."
                " Plan the next day, or choose a later end.",
                day_end=frame_in_force(session).day_end,
            )
        )
    return instant(ceil(now)).astimezone(zone(session.tz)), end


def now_before(session: Session, start: datetime) -> datetime | None:
    """Return the instant from which the session's day is planned if it is on that day, and the frame begins later."""
    now = _planned_from(session)
    waits = now is not None and now.astimezone(UTC) < start.astimezone(UTC)
    return now if now is not None and waits and local_today(now, session.tz) == session.date else None


def _planned_from(session: Session) -> datetime | None:
    return session.now if session.stage.number < TimeboxingStage.SKELETON.number else session.planning.drafted_at


def is_under_way(session: Session) -> bool:
    """Check whether part of the session's frame is past, and part of it is left."""
    try:
        return frame_of(session)[0] != whole_frame(session)[0]
    except BadInput:
        return False


def has_day_ended(session: Session) -> bool:
    """Check whether the frame of a day that is being planned is over by now."""
    now = _planned_from(session)
    try:
        end = whole_frame(session)[1]
    except BadInput:
        return False
    return now is not None and _is_past(end, now)


def visible_start(session: Session) -> time:
    """Return the start of the frame as the person sees it: the start they gave, else from now on."""
    frame = frame_in_force(session)
    if frame.usual_start is not None or not is_under_way(session):
        return frame.day_start
    return frame_of(session)[0].time().replace(tzinfo=None, fold=0)


def lunch_date(session: Session) -> date:
    """Return the date of lunch: that of the session, or the next one if the frame reaches it after midnight."""
    frame = frame_in_force(session)
    after_midnight = frame.lunch_start is not None and frame.lunch_start < frame.day_end <= frame.day_start
    return session.date + timedelta(days=after_midnight)


def lunch_start(session: Session) -> datetime | None:
    """Return the start of lunch, not before now, or ``None`` without lunch or when it is over."""
    frame = frame_in_force(session)
    if frame.lunch_start is None or not frame.lunch_minutes:
        return None
    start = instant_of_clock(session, lunch_date(session), frame.lunch_start)
    if not is_under_way(session):
        return start
    begins = frame_of(session)[0]
    ends = start.astimezone(UTC) + timedelta(minutes=frame.lunch_minutes)
    if begins.astimezone(UTC) <= start.astimezone(UTC):
        return start
    return begins if begins.astimezone(UTC) < ends else None


def with_start(session: Session, start: time) -> FrameFacts:
    """Return the session's frame with a start that the person gave.

    While the day is under way it holds for this day only, unless the frame shows that start anyway.
    """
    frame, shown = session.day.frame, frame_in_force(session)
    given = frame.start_given or start != shown.day_start
    if not is_under_way(session):
        return replace(frame, day_start=start, usual_start=None, start_given=given)
    if frame.usual_start is None and start == visible_start(session):
        return frame
    usual = shown.day_start if frame.usual_start is None else frame.usual_start
    return replace(frame, day_start=start, usual_start=usual, start_given=True)


def with_end(session: Session, end: time) -> FrameFacts:
    """Return the session's frame with an end that the person gave for this day.

    Once the day is drafted, the end holds for this day only: it makes room for something, and other days keep theirs.
    """
    frame, shown = session.day.frame, frame_in_force(session)
    usual = None
    if session.stage in _DRAFTED:
        usual = shown.day_end if frame.usual_end is None else frame.usual_end
    return replace(frame, day_end=end, usual_end=usual, end_given=frame.end_given or end != shown.day_end)


def usual_frame(frame: FrameFacts) -> FrameFacts:
    """Return the frame that the next day begins with; the rules of that day count before it."""
    start = frame.day_start if frame.usual_start is None else frame.usual_start
    end = frame.day_end if frame.usual_end is None else frame.usual_end
    given = replace(frame, start_given=False, end_given=False, lunch_given=False)
    return replace(given, day_start=start, day_end=end, usual_start=None, usual_end=None, confirmed=False)


def has_ended(day: date, tz: str, frame: FrameFacts, now: datetime) -> bool:
    """Check whether the frame of a day is over by now; an invalid frame ends with the day."""
    try:
        end = frame_span(day, tz, frame)[1]
    except BadInput:
        end = local_day(day, zone(tz))[1]
    return _is_past(end, now)


def _is_past(end: datetime, now: datetime) -> bool:
    return instant(ceil(now)) >= end.astimezone(UTC)


def usual_day(now: datetime, tz: str, frame: FrameFacts) -> date:
    """Return the day that is offered first.

    It is yesterday during the first half of a night shift that began then; else today; or the next day, once the
    evening has begun or the frame is over.
    """
    today = local_today(now, tz)
    before = today - timedelta(days=1)
    with suppress(BadInput):
        start, end = (moment.astimezone(UTC) for moment in frame_span(before, tz, frame))
        if start + (end - start) / 2 > now.astimezone(UTC):
            return before
    day = day_to_plan(now, tz)
    return day + timedelta(days=1) if day == today and has_ended(day, tz, frame, now) else day


def frame_mistake(session: Session) -> str | None:
    """Return the mistake in the frame as a sentence, or ``None``."""
    try:
        frame_of(session)
    except BadInput as error:
        return error.message
    return None


def is_over(session: Session, now: datetime) -> bool:
    """Check whether the session's day has passed: its date, and the night that its frame reaches into."""
    ends = [local_day(session.date, zone(session.tz))[1].astimezone(UTC)]
    with suppress(BadInput):  # an invalid frame has no end of its own
        ends.append(whole_frame(session)[1].astimezone(UTC))
    return max(ends) <= now.astimezone(UTC)


def day_window(day: date, tz: str) -> tuple[datetime, datetime]:
    """Return the calendar range that planning a day reads: the local day, and the next 12 hours."""
    start, end = local_day(day, zone(tz))
    return start, (end.astimezone(UTC) + LOOK_AHEAD).astimezone(zone(tz))


def instant_in(session: Session, clock: time) -> datetime:
    """Return the instant that a person means by a time of day.

    It is in the clock of where the person is then (S252). It is on the planned day, or in the night after it when the
    frame reaches that far and the time is before the day's start.
    """
    on_day = instant_of_clock(session, session.date, clock)
    try:
        start, end = whole_frame(session)
    except BadInput:
        return on_day
    next_day = instant_of_clock(session, session.date + timedelta(days=1), clock)
    early = on_day.astimezone(UTC) < start.astimezone(UTC)
    return next_day if early and next_day.astimezone(UTC) < end.astimezone(UTC) else on_day


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
    if session.day.snapshot is None or session.day.snapshot.day != session.date:
        return OnCalendar()
    first, last = _visible_range(session)
    plan = session.planning.plan
    planned = set() if plan is None else {block.key for block in plan.events}
    timed: list[Meeting] = []
    all_day: list[str] = []
    earlier: list[Meeting] = []
    for event in session.day.snapshot.events:
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
        elif key not in planned:
            # A block that was left to the person is an appointment of theirs, unless they plan it again.
            (timed if event.id in session.day.released else earlier).append(meeting)
    return OnCalendar(_sort_meetings(timed), tuple(all_day), _sort_meetings(earlier))


def busy_meetings(session: Session) -> tuple[Meeting, ...]:
    """Return the timed events that block time."""
    return tuple(m for m in on_calendar(session).timed if m.busy and m.start.astimezone(UTC) < m.end.astimezone(UTC))


def has_passed(session: Session, meeting: Meeting) -> bool:
    """Check whether a meeting is over at the time of the session's latest turn."""
    return session.now is not None and meeting.end.astimezone(UTC) <= session.now.astimezone(UTC)


def own_key(event: EventImage, day: date) -> str | None:
    """Return the block key of an event that this program wrote for a plan of that day.

    Returns ``None`` for any other event. Copies, occurrences of series, and blocks of another day's plan belong to
    the person and are immovable.
    """
    marker = event.own_marker
    return marker.key if marker is not None and marker.day == day else None


def list_written(session: Session) -> set[str]:
    """Return the keys of the blocks of this day that are on the calendar."""
    if session.day.snapshot is None:
        return set()
    live = session.day.snapshot.live.values()
    return {key for event in live if (key := own_key(event, session.date)) is not None}


def _list_left(session: Session) -> set[str | None]:
    """Return the keys of the blocks of this day that were left to the person on the calendar."""
    live = {} if session.day.snapshot is None else session.day.snapshot.live
    return {own_key(event, session.date) for event in live.values() if event.id in session.day.released}


def is_part_left(session: Session) -> bool:
    """Check whether blocks of this plan were left to the person on the calendar."""
    plan, left = session.planning.plan, _list_left(session)
    return plan is not None and any(block.key in left for block in plan.events)


def is_left(session: Session, key: str) -> bool:
    """Check whether a block of this day was left to the person, and is not planned again."""
    plan = session.planning.plan
    return key in _list_left(session) and (plan is None or all(block.key != key for block in plan.events))


def find_report(session: Session) -> SyncReport:
    """Return the report of the last write; that of an undo if nothing of a written plan is there any more."""
    report = session.sync.last_sync or SyncReport(status="unchanged")
    plan, snapshot = session.planning.plan, session.day.snapshot
    there = report.status in {"changed", "unchanged"} and session.sync.written is not None
    if not there or plan is None or snapshot is None or snapshot.day != session.date:
        return report
    kept = {block.key for block in plan.events}
    return SyncReport(status="undone") if kept and kept.isdisjoint(list_written(session)) else report


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
    return event.summary.strip() or _(NO_TITLE)


def _sort_meetings(meetings: list[Meeting]) -> tuple[Meeting, ...]:
    return tuple(sorted(meetings, key=lambda m: (m.start.astimezone(UTC), m.end.astimezone(UTC), m.id)))
