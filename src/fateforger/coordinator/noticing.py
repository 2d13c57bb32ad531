"""Decide whether a background read means anything to the person, and announce it in the session (S202, S213).

Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from fateforger.coordinator.looking import Look
from fateforger.coordinator.mirroring import reading_of
from fateforger.session.cards import Card
from fateforger.session.meetings import Meeting, on_calendar, own_key
from fateforger.session.model import Notice, Session, SessionStatus
from fateforger.session.overview import beyond, clipped, overview
from fateforger.stages import TimeboxingStage
from fateforger.sync.words import quoted
from fateforger.turn.model import DayReading
from fateforger.turn.nodes.turn_init import taken_in
from fateforger.turn.present import root_line, stage_card

MOST_LINES = 4
"""Changes announced one by one; the rest is counted."""
ANSWERS_AGAIN = "Your calendar answers again."


@dataclass(frozen=True, slots=True)
class Noticed:
    """The session with a read applied, and that reading."""

    session: Session
    reading: DayReading


def in_doubt(session: Session) -> bool:
    """Check whether the result of the latest write is unknown, so that a calendar that answers again is news."""
    report = session.last_sync
    return session.status is not SessionStatus.CANCELLED and report is not None and report.unsure


def noticed(session: Session, look: Look) -> Noticed | None:
    """Return the session with the read applied; ``None`` if it means nothing to the session.

    That is the case if the session ended, the read failed or is about another day, or neither the plan nor the card
    changes.
    """
    if session.status is SessionStatus.CANCELLED or session.stage is TimeboxingStage.DATE:
        return None
    reading = reading_of(session, look)
    if reading.snapshot is None or (reading.snapshot.day, reading.snapshot.tz) != (session.date, session.tz):
        return None
    after = taken_in(session, reading)
    if session.stage is TimeboxingStage.SKELETON:
        after = after.model_copy(update={"overview": overview(after)})
    lost = _lost(session, after)
    if after.plan == session.plan and _face(after) == _face(session) and not lost:
        return None
    again = (ANSWERS_AGAIN,) if session.snapshot_error is not None else ()
    lines = (*again, *reading.noticed, *lost, *_meetings(session, after))
    notice = Notice(lines=_few(lines)) if lines else session.notice
    return Noticed(after.model_copy(update={"notice": notice}), reading)


def _face(session: Session) -> tuple[Card, str]:
    """Return what a session shows, without the notice of its last turn."""
    return stage_card(session.model_copy(update={"notice": None})), root_line(session)


def _few(lines: tuple[str, ...]) -> tuple[str, ...]:
    more = len(lines) - MOST_LINES
    if more <= 1:
        return lines
    return (*lines[:MOST_LINES], f"And {more} more changes on your calendar.")


def _lost(before: Session, after: Session) -> tuple[str, ...]:
    """Return a sentence about blocks that disappeared from the calendar although the plan kept them.

    Either so many disappeared at once that it looks like a mishap, or another command removed them. Blocks with an open
    question are not counted.
    """
    if after.plan is None:
        return ()
    disputed = {question.conflict.key for question in after.questions}
    kept = {block.key for block in after.plan.events} - disputed
    count = len((_written(before) - _written(after)) & kept)
    if not count:
        return ()
    what = "A block of this plan is" if count == 1 else f"{count} blocks of this plan are"
    return (f"{what} no longer on your calendar. I kept the plan as it was.",)


def _written(session: Session) -> set[str]:
    if session.snapshot is None:
        return set()
    live = (event for event in (*session.snapshot.events, *session.snapshot.fetched.values()) if event is not None)
    return {key for event in live if not event.gone and (key := own_key(event, session.date)) is not None}


def _meetings(before: Session, after: Session) -> tuple[str, ...]:
    """Return a sentence for each meeting that was added, removed or changed; none if no meetings were known before."""
    if before.snapshot is None or before.snapshot.day != after.date:
        return ()
    known, shown = on_calendar(before), on_calendar(after)
    old, new = ({meeting.id: meeting for meeting in day.timed} for day in (known, shown))
    lines = [_came(meeting, after) for key, meeting in new.items() if key not in old]
    lines += [line for key, was in old.items() if key in new and (line := _changed(was, new[key], after)) is not None]
    lines += [_went(was, after) for k, was in old.items() if k not in new]
    lines += [f"New on your calendar: {quoted(title)}, all day." for title in _without(shown.all_day, known.all_day)]
    lines += [f"{quoted(title)}, all day, is off your calendar." for title in _without(known.all_day, shown.all_day)]
    return tuple(lines)


def _came(meeting: Meeting, session: Session) -> str:
    return f"New on your calendar: {quoted(meeting.title)}, {_when(meeting, session)}."


def _went(meeting: Meeting, session: Session) -> str:
    return f"{quoted(meeting.title)}, {_when(meeting, session)}, is off your calendar."


def _changed(was: Meeting, now: Meeting, session: Session) -> str | None:
    title = quoted(was.title)
    if was.title != now.title:
        title += f", now called {quoted(now.title)},"
    if (was.start, was.end) != (now.start, now.end):
        return f"{title} is now {_when(now, session)} (was {_when(was, session)})."
    if was.busy != now.busy:
        return f"{title} is shown as {'busy' if now.busy else 'free'} now."
    return f"{quoted(was.title)} is now called {quoted(now.title)}." if was.title != now.title else None


def _when(meeting: Meeting, session: Session) -> str:
    return clipped(meeting, session.date) + beyond(meeting, session.date)


def _without(titles: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    """Return the titles that are not among the others, counting repetitions."""
    return list((Counter(titles) - Counter(others)).elements())
