"""Creation of a session, and the closing of abandoned ones without a message (S211)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from fateforger.conversation.session_messages import build_messages
from fateforger.planning.timing import local_day, zone
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs
from fateforger.session.commands.thread import EndAbandoned, StartTimeboxing, format_session_id
from fateforger.session.day import has_ended, local_today, usual_day, usual_frame
from fateforger.session.edits import is_okay
from fateforger.session.memory import AllowedMeeting
from fateforger.session.messages import Notice, Outgoing
from fateforger.session.model import (
    CalendarWrite,
    DayInputs,
    FrameFacts,
    InputFacts,
    Options,
    RuleState,
    Session,
    SessionStatus,
    ThreadState,
)
from fateforger.session.open_work import carry_over
from fateforger.session.store import HeadFilter, SessionHead, Sessions, iter_heads
from fateforger.text import format_day
from fateforger.text import gettext as _
from fateforger.values import replace
from fateforger.workers.lanes import ROUND_SIZE
from fateforger.workers.turns import build_command_job


def build_session(start: StartTimeboxing, earlier: Sequence[Session], *, calendar_write: CalendarWrite) -> Session:
    """Return the session that a start begins. ``earlier`` are the person's sessions, the most recently changed first.

    The person's last choice of when to write to the calendar takes precedence over ``calendar_write``.
    """
    tz, notices = _read_zone(start.tz)
    frame = next((usual_frame(s.day.frame) for s in earlier if s.day.frame.confirmed), FrameFacts())
    day = start.date or usual_day(start.at, tz, frame)
    if day < local_today(start.at, tz) and has_ended(day, tz, frame, start.at):
        notices += (_("{day} is over, so I took the next day to plan.", day=format_day(day)),)
        day = usual_day(start.at, tz, frame)
    if start.note:
        notices += (start.note,)
    if start.unread:
        notices += (_("You wrote: {words}", words=start.unread),)
    chosen = next(
        (s.options.calendar_write_chosen for s in earlier if s.options.calendar_write_chosen is not None), None
    )
    session = Session(
        id=format_session_id(start),
        user_id=start.user_id,
        channel=start.channel,
        thread_ts=start.thread_ts,
        created_at=start.at,
        touched_at=start.at,
        tz=tz,
        date=day,
        now=start.at,
        options=Options(mode=start.mode, calendar_write=chosen or calendar_write, calendar_write_chosen=chosen),
        day=DayInputs(inputs=InputFacts(tasks=start.inputs), frame=frame),
        rules=RuleState(allowed=_find_allowed(earlier, day)),
        thread=ThreadState(notice=Notice(lines=notices, unread=start.unread) if notices else None),
    )
    return session.with_open_work(offered=carry_over(session, earlier, now=start.at))


def _find_allowed(earlier: Sequence[Session], day: date) -> tuple[AllowedMeeting, ...]:
    """Return the meetings that the person allowed in another session of that day or a later one."""
    known = (each for session in earlier for each in session.rules.allowed if each.day >= day)
    return tuple(dict.fromkeys(known))


def _read_zone(name: str) -> tuple[str, tuple[str, ...]]:
    try:
        return zone(name).key, ()
    except ValueError:
        return "UTC", (_("I do not know the time zone “{name}” of your profile; please choose yours.", name=name[:60]),)


log = logging.getLogger(__name__)

IDLE = timedelta(hours=6)
"""Inactivity after which a session may be closed."""
LOOK_BACK = timedelta(days=35)
"""Inactivity after which a session is not checked any more."""


def is_abandoned(session: Session, now: datetime) -> bool:
    """Check whether a session can be closed: its plan is Okay or better, its day is over, and it is idle.

    Until its day is over, a plan can be refitted and undone in its thread, however long that is idle. Pure.
    """
    if session.status is not SessionStatus.ACTIVE or now - session.touched_at < IDLE or not is_over(session, now):
        return False
    return is_okay(session)


def is_over(session: Session | SessionHead, now: datetime) -> bool:
    """Check whether the day of a session is over where its person is. Pure."""
    return local_day(session.date, zone(session.tz))[1].astimezone(UTC) <= now


def close_session(session: Session, command: EndAbandoned) -> tuple[Session, tuple[Outgoing, ...]]:
    """Return the closed session and its messages, which update existing messages and post none. Pure."""
    after = (
        replace(session, status=SessionStatus.CANCELLED)
        .with_thread(history=None, preview=None, memory=None, notice=None, feedback=None)
        .after_command(command.command_id, session.touched_at)
    )
    after, messages = build_messages(session, after, command.command_id)
    return after, tuple(replace(message, stays=True) for message in messages)


class SessionCloser:
    """Enqueues one job on the lane of each abandoned session, in order with its other commands."""

    def __init__(self, sessions: Sessions, jobs: Jobs, clock: Clock) -> None:
        self._sessions = sessions
        self._jobs = jobs
        self._clock = clock

    async def run_once(self) -> bool:
        """Check sessions whose day may be over, each version once; return ``True`` if some are left over.

        Raises ``StoreError``.
        """
        now, checked = self._clock.now(), 0
        idle = HeadFilter(since=now - LOOK_BACK, until=now - IDLE, last=now.date() + timedelta(days=1), unjudged=True)
        async for head in iter_heads(self._sessions, idle):
            if not is_over(head, now):
                continue
            if checked == ROUND_SIZE:
                return True
            checked += 1
            session = await self._sessions.load(head.id)
            if session is not None and is_abandoned(session, now):
                command_id = f"left:{session.id}:{session.version}"
                command = EndAbandoned(command_id=command_id, session_id=session.id, at=now)
                await self._jobs.enqueue(build_command_job(command, key=session.id), now=now)
            await self._sessions.mark_judged(head)
        return False
