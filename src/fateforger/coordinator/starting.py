"""Create a session: its day, its time zone, and the frame that the person used last."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.plan import zone
from fateforger.session.commands import Start
from fateforger.session.days import day_words, local_today
from fateforger.session.frame import has_ended, usual_day, usual_frame
from fateforger.session.keys import mint_key
from fateforger.session.model import CalendarWrite, FrameFacts, InputFacts, Notice, Session
from fateforger.session.offering import carry_over
from fateforger.values import replace


def format_session_id(start: Start) -> str:
    """Return the id of the session that a start begins; it is the same for a repeated start."""
    return mint_key("s", start.command_id)


def build_session(start: Start, earlier: Sequence[Session], *, calendar_write: CalendarWrite) -> Session:
    """Return the session that a start begins. ``earlier`` are the person's sessions, the most recently changed first.

    The person's last choice of when to write to the calendar takes precedence over ``calendar_write``.
    """
    tz, notices = _read_zone(start.tz)
    frame = next((usual_frame(s.frame) for s in earlier if s.frame.confirmed), FrameFacts())
    day = start.date or usual_day(start.at, tz, frame)
    if day < local_today(start.at, tz) and has_ended(day, tz, frame, start.at):
        notices += (f"{day_words(day)} is over, so I took the next day to plan.",)
        day = usual_day(start.at, tz, frame)
    if start.note:
        notices += (start.note,)
    chosen = next((s.calendar_write_chosen for s in earlier if s.calendar_write_chosen is not None), None)
    session = Session(
        id=format_session_id(start),
        user_id=start.user_id,
        channel=start.channel,
        thread_ts=start.thread_ts,
        created_at=start.at,
        touched_at=start.at,
        tz=tz,
        date=day,
        mode=start.mode,
        inputs=InputFacts(tasks=start.inputs),
        calendar_write=chosen or calendar_write,
        calendar_write_chosen=chosen,
        frame=frame,
        now=start.at,
        notice=Notice(lines=notices) if notices else None,
    )
    return replace(session, offered=carry_over(session, earlier, now=start.at))


def _read_zone(name: str) -> tuple[str, tuple[str, ...]]:
    try:
        return zone(name).key, ()
    except ValueError:
        return "UTC", (f"I do not know the time zone “{name[:60]}” of your profile; please choose yours.",)
