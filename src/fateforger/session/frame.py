"""The frame of a day as instants."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from fateforger.drafting import in_words
from fateforger.errors import BadInput
from fateforger.plan import instant_of, local_day, zone
from fateforger.session.model import FrameFacts, Session

_NIGHT = timedelta(hours=12)
_LATE = timedelta(hours=18)
_SMALL_HOURS = time(6, 0)
LOOK_AHEAD = timedelta(hours=12)
"""How far into the next day a plan and its calendar window reach."""


def frame_span(day: date, tz: str, frame: FrameFacts) -> tuple[datetime, datetime]:
    """Start and end of the day's frame, in its zone. An end that is not after the start means the next day, if that
    makes a night or ends in the small hours; otherwise it is a mistake: raises :class:`BadInput`."""
    start = instant_of(datetime.combine(day, frame.day_start), zone(tz))
    end = instant_of(datetime.combine(day, frame.day_end), zone(tz))
    if frame.day_end <= frame.day_start:
        end = instant_of(datetime.combine(day + timedelta(days=1), frame.day_end), zone(tz))
        length = end.astimezone(UTC) - start.astimezone(UTC)
        if length > (_LATE if frame.day_end <= _SMALL_HOURS else _NIGHT):
            raise BadInput(
                f"Your day would end at {frame.day_end:%H:%M}, before it starts at {frame.day_start:%H:%M}."
                " Choose an end after the start, or an end in the night that follows."
            )
    if end.astimezone(UTC) <= start.astimezone(UTC):
        raise BadInput(f"On that day the clocks change between {frame.day_start:%H:%M} and {frame.day_end:%H:%M}.")
    return start, end


def frame_of(session: Session) -> tuple[datetime, datetime]:
    """:func:`frame_span` of a session."""
    return frame_span(session.date, session.tz, session.frame)


def frame_mistake(session: Session) -> str | None:
    """What is wrong with the frame, as a sentence, if something is."""
    try:
        frame_of(session)
    except BadInput as error:
        return error.message
    return None


def is_over(session: Session, now: datetime) -> bool:
    """Whether the session's day has passed: its date, and the night that its frame reaches into."""
    ends = [local_day(session.date, zone(session.tz))[1].astimezone(UTC)]
    if frame_mistake(session) is None:
        ends.append(frame_of(session)[1].astimezone(UTC))
    return max(ends) <= now.astimezone(UTC)


def frame_words(session: Session) -> str:
    """The frame in one line: ``09:00-18:00 (9 h), lunch around 12:30 for 45 min``."""
    frame = session.frame
    line = f"{frame.day_start:%H:%M}–{frame.day_end:%H:%M}"
    if frame_mistake(session) is None:
        start, end = frame_of(session)
        minutes = int((end.astimezone(UTC) - start.astimezone(UTC)).total_seconds() // 60)
        line += f" ({in_words(minutes)}{', until the next day' if end.date() > session.date else ''})"
    if frame.lunch_start is None or not frame.lunch_minutes:
        return f"{line}, no lunch break"
    return f"{line}, lunch around {frame.lunch_start:%H:%M} for {in_words(frame.lunch_minutes)}"


def day_window(day: date, tz: str) -> tuple[datetime, datetime]:
    """What is read of a calendar to plan a day: the local day, and the night that follows."""
    start, end = local_day(day, zone(tz))
    return start, (end.astimezone(UTC) + LOOK_AHEAD).astimezone(zone(tz))


def instant_in(session: Session, clock: time) -> datetime:
    """The instant a person means by a time of day: on the planned day, or in the night after it when the frame reaches
    that far and the time is before the day's start."""
    on_day = instant_of(datetime.combine(session.date, clock), zone(session.tz))
    if frame_mistake(session) is not None:
        return on_day
    start, end = frame_of(session)
    next_day = instant_of(datetime.combine(session.date + timedelta(days=1), clock), zone(session.tz))
    early = on_day.astimezone(UTC) < start.astimezone(UTC)
    return next_day if early and next_day.astimezone(UTC) < end.astimezone(UTC) else on_day
