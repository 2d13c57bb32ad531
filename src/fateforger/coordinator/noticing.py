"""Decide whether a background read means anything to the person, and announce it in the session (S202, S213).

Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from fateforger.coordinator.looking import Look
from fateforger.coordinator.mirroring import build_reading
from fateforger.session.cards import Card
from fateforger.session.meetings import Meeting, on_calendar, own_key
from fateforger.session.model import Notice, Session, SessionStatus
from fateforger.session.overview import clip_span, outside_words, overview
from fateforger.stages import TimeboxingStage
from fateforger.sync.words import quote_title
from fateforger.turn.model import DayReading
from fateforger.turn.nodes.turn_init import apply_reading
from fateforger.turn.present import root_line, stage_card
from fateforger.values import replace

MOST_LINES = 4
"""Changes announced one by one; the rest is counted."""
ANSWERS_AGAIN = "Your calendar answers again."


@dataclass(frozen=True, slots=True)
class NoticedChanges:
    """The session with a read applied, and that reading."""

    session: Session
    reading: DayReading


def is_in_doubt(session: Session) -> bool:
    """Check whether the result of the latest write is unknown, so that a calendar that answers again is news."""
    report = session.last_sync
    return session.status is not SessionStatus.CANCELLED and report is not None and report.unsure


def notice_changes(session: Session, look: Look) -> NoticedChanges | None:
    """Return the session with the read applied; ``None`` if it means nothing to the session.

    That is the case if the session ended, the read failed or is about another day, or neither the plan nor the card
    changes.
    """
    if session.status is SessionStatus.CANCELLED or session.stage is TimeboxingStage.DATE:
        return None
    reading = build_reading(session, look)
    if reading.snapshot is None or (reading.snapshot.day, reading.snapshot.tz) != (session.date, session.tz):
        return None
    after = apply_reading(session, reading)
    if session.stage is TimeboxingStage.SKELETON:
        after = replace(after, overview=overview(after))
    lost = _describe_lost(session, after)
    if after.plan == session.plan and _visible_state(after) == _visible_state(session) and not lost:
        return None
    again = (ANSWERS_AGAIN,) if session.snapshot_error is not None else ()
    lines = (*again, *reading.noticed, *lost, *_describe_meetings(session, after))
    notice = Notice(lines=_limit_lines(lines)) if lines else session.notice
    return NoticedChanges(replace(after, notice=notice), reading)


def _visible_state(session: Session) -> tuple[Card, str]:
    """Return what a session shows, without the notice of its last turn."""
    return stage_card(replace(session, notice=None)), root_line(session)


def _limit_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    more = len(lines) - MOST_LINES
    if more <= 1:
        return lines
    return (*lines[:MOST_LINES], f"And {more} more changes on your calendar.")


def _describe_lost(before: Session, after: Session) -> tuple[str, ...]:
    """Return a sentence about blocks that disappeared from the calendar although the plan kept them.

    Either so many disappeared at once that it looks like a mishap, or another command removed them. Blocks with an open
    question are not counted.
    """
    if after.plan is None:
        return ()
    disputed = {question.conflict.key for question in after.questions}
    kept = {block.key for block in after.plan.events} - disputed
    count = len((_written_keys(before) - _written_keys(after)) & kept)
    if not count:
        return ()
    what = "A block of this plan is" if count == 1 else f"{count} blocks of this plan are"
    return (f"{what} no longer on your calendar. I kept the plan as it was.",)


def _written_keys(session: Session) -> set[str]:
    if session.snapshot is None:
        return set()
    live = (event for event in (*session.snapshot.events, *session.snapshot.fetched.values()) if event is not None)
    return {key for event in live if not event.gone and (key := own_key(event, session.date)) is not None}


def _describe_meetings(before: Session, after: Session) -> tuple[str, ...]:
    """Return a sentence for each meeting that was added, removed or changed; none if no meetings were known before."""
    if before.snapshot is None or before.snapshot.day != after.date:
        return ()
    known, shown = on_calendar(before), on_calendar(after)
    old, new = ({meeting.id: meeting for meeting in day.timed} for day in (known, shown))
    lines = [_describe_added(meeting, after) for key, meeting in new.items() if key not in old]
    lines += [
        line for key, was in old.items() if key in new and (line := _describe_changed(was, new[key], after)) is not None
    ]
    lines += [_describe_removed(was, after) for k, was in old.items() if k not in new]
    lines += [
        f"New on your calendar: {quote_title(title)}, all day." for title in _subtract(shown.all_day, known.all_day)
    ]
    lines += [
        f"{quote_title(title)}, all day, is off your calendar." for title in _subtract(known.all_day, shown.all_day)
    ]
    return tuple(lines)


def _describe_added(meeting: Meeting, session: Session) -> str:
    return f"New on your calendar: {quote_title(meeting.title)}, {_format_time(meeting, session)}."


def _describe_removed(meeting: Meeting, session: Session) -> str:
    return f"{quote_title(meeting.title)}, {_format_time(meeting, session)}, is off your calendar."


def _describe_changed(was: Meeting, now: Meeting, session: Session) -> str | None:
    title = quote_title(was.title)
    if was.title != now.title:
        title += f", now called {quote_title(now.title)},"
    if (was.start, was.end) != (now.start, now.end):
        return f"{title} is now {_format_time(now, session)} (was {_format_time(was, session)})."
    if was.busy != now.busy:
        return f"{title} is shown as {'busy' if now.busy else 'free'} now."
    return f"{quote_title(was.title)} is now called {quote_title(now.title)}." if was.title != now.title else None


def _format_time(meeting: Meeting, session: Session) -> str:
    return clip_span(meeting, session.date) + outside_words(meeting, session.date)


def _subtract(titles: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    """Return the titles that are not among the others, counting repetitions."""
    return list((Counter(titles) - Counter(others)).elements())
