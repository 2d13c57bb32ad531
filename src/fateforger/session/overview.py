"""Overview of the day as CommonMark: meetings and blocks in time order (S48)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from fateforger.drafting import in_words
from fateforger.plan import ET, Resolved
from fateforger.session.cards import plain
from fateforger.session.days import weekday
from fateforger.session.differences import span
from fateforger.session.meetings import Meeting, busy_meetings, on_calendar
from fateforger.session.model import Session
from fateforger.session.placing import by_time

MOST_MEETINGS = 40
"""Most meetings listed one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the day, as CommonMark without a bullet."""

    start: datetime
    text: str


def overview(session: Session) -> str:
    """Return each meeting and block in time order, and the count of those left out."""
    timed = on_calendar(session).timed
    lines = [Line(m.start, meeting_line(m, session.date)) for m in timed[:MOST_MEETINGS]]
    lines += [Line(b.start, block_line(session, b)) for b in by_time(session.plan)] if session.plan else []
    lines.sort(key=lambda line: line.start.astimezone(UTC))
    listed = "\n".join(f"- {line.text}" for line in lines) or "Nothing is planned, and no meetings either."
    more = len(timed) - MOST_MEETINGS
    return f"{listed}\n- … and {more} more meetings" if more > 0 else listed


def meeting_line(meeting: Meeting, day: date) -> str:
    """Return ``**09:30–10:00** Standup``, clipped to the day.

    The calendar's name is added if it is another one.
    """
    where = "" if meeting.calendar is None else f" · {plain(meeting.calendar, 30)}"
    note = "" if meeting.busy else " · shown as free"
    return f"**{clip_span(meeting, day)}** {plain(meeting.title)}{outside_words(meeting, day)}{where}{note}"


def clip_span(meeting: Meeting, day: date) -> str:
    """Return the part of a meeting on the day; all of it when it begins in the night after."""
    if meeting.start.date() > day:
        return span(meeting.start, meeting.end)
    start = "00:00" if meeting.start.date() < day else f"{meeting.start:%H:%M}"
    end = "24:00" if meeting.end.date() > day else f"{meeting.end:%H:%M}"
    return f"{start}–{end}"


def outside_words(meeting: Meeting, day: date) -> str:
    """Return the true start or end of a meeting when that is on another day."""
    if meeting.start.date() > day:
        return f" (on {weekday(meeting.start.date())})"
    since = f" (since {weekday(meeting.start.date())} {meeting.start:%H:%M})" if meeting.start.date() < day else ""
    until = f" (until {weekday(meeting.end.date())} {meeting.end:%H:%M})" if _ends_later(meeting, day) else ""
    return since + until


def block_line(session: Session, block: Resolved) -> str:
    """Return ``**09:00–10:30** Write report · 1 h 30 min · deep work``."""
    return f"{block_title(session, block)} · {in_words(block.minutes)} · {_kind(block.event.type)}"


def block_title(session: Session, block: Resolved) -> str:
    """Return ``**09:00–10:30** Write report``, starred when it is the one thing."""
    one = next((t.id for t in session.inputs.tasks if t.one_thing), None)
    star = " ⭐" if one is not None and (block.key == one or block.key.startswith(f"{one}-")) else ""
    return f"**{span(block.start, block.end)}** {plain(block.event.name)}{star}"


def collisions(session: Session) -> tuple[tuple[Resolved, Meeting], ...]:
    """Return the blocks that run into a meeting, each with the first one it runs into."""
    if session.plan is None:
        return ()
    meetings = busy_meetings(session)
    hits: list[tuple[Resolved, Meeting]] = []
    for block in by_time(session.plan):
        if block.event.type is ET.BACKGROUND:
            continue
        start, end = block.start.astimezone(UTC), block.end.astimezone(UTC)
        hit = next((m for m in meetings if m.start.astimezone(UTC) < end and start < m.end.astimezone(UTC)), None)
        if hit is not None:
            hits.append((block, hit))
    return tuple(hits)


def _ends_later(meeting: Meeting, day: date) -> bool:
    at_midnight = meeting.end.time() == time(0) and (meeting.end.date() - day).days == 1
    return meeting.end.date() > day and not at_midnight


def _kind(kind: ET) -> str:
    return "break" if kind is ET.REGENERATION else kind.words
