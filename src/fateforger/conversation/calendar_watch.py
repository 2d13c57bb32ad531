"""Watch over the calendars of open sessions, and the news of a read for the person (S200, S202, S213)."""

from __future__ import annotations

import hashlib
import logging
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from fateforger.calendar.undo import may_be_late
from fateforger.conversation.calendar_reads import Look, build_reading
from fateforger.conversation.ports import Calendars, WatchedCalendar
from fateforger.conversation.turn_values import DayReading, apply_reading
from fateforger.errors import CalendarUnreachable, WorldError
from fateforger.planning.timing import local_day, zone
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs
from fateforger.session.cards import Card
from fateforger.session.commands.plan import RefreshCalendar
from fateforger.session.day import Meeting, list_written, on_calendar
from fateforger.session.frame import zone_suffix
from fateforger.session.messages import Notice
from fateforger.session.model import Session, SessionStatus
from fateforger.session.overview import clip_span, local_meeting, outside_words, overview
from fateforger.session.stages import TimeboxingStage
from fateforger.session.store import HeadFilter, SessionHead, Sessions, iter_heads
from fateforger.text import gettext as _
from fateforger.text import join_sentences, mark_message, ngettext, quote_title
from fateforger.ui.session_cards import root_line, stage_card
from fateforger.workers.lanes import ROUND_SIZE
from fateforger.workers.turns import build_command_job

MOST_LINES = 4
"""Changes announced one by one; the rest is counted."""
ANSWERS_AGAIN = mark_message("Your calendar answers again.")


@dataclass(frozen=True, slots=True)
class NoticedChanges:
    """The session with a read applied, and that reading."""

    session: Session
    reading: DayReading


def is_in_doubt(session: Session) -> bool:
    """Check whether the result of the latest write is unknown, so that a calendar that answers again is news."""
    report = session.sync.last_sync
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
    if after == session:
        return None  # comparing the cards would take a hundred times as long
    if session.stage is TimeboxingStage.SKELETON:
        after = after.with_planning(overview=overview(after))
    lost = _describe_lost(session, after)
    if after.planning.plan == session.planning.plan and _visible_state(after) == _visible_state(session) and not lost:
        return None
    again = (_(ANSWERS_AGAIN),) if session.day.snapshot_error is not None else ()
    lines = (*again, *reading.noticed, *lost, *_describe_meetings(session, after))
    notice = Notice(lines=_limit_lines(lines)) if lines else session.thread.notice
    return NoticedChanges(after.with_thread(notice=notice), reading)


def _visible_state(session: Session) -> tuple[Card, str]:
    """Return what a session shows, without the notice of its last turn."""
    return stage_card(session.with_thread(notice=None)), root_line(session)


def _limit_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    more = len(lines) - MOST_LINES
    if more <= 1:
        return lines
    return (
        *lines[:MOST_LINES],
        ngettext("And {count} more change on your calendar.", "And {count} more changes on your calendar.", more),
    )


def _describe_lost(before: Session, after: Session) -> tuple[str, ...]:
    """Return a sentence about blocks that disappeared from the calendar although the plan kept them.

    Either so many disappeared at once that it looks like a mishap, or another command removed them. Blocks with an open
    question are not counted.
    """
    if after.planning.plan is None:
        return ()
    disputed = {question.conflict.key for question in after.sync.questions}
    kept = {block.key for block in after.planning.plan.events} - disputed
    count = len((list_written(before) - list_written(after)) & kept)
    if not count:
        return ()
    text = ngettext(
        "A block of this plan is no longer on your calendar. I kept the plan as it was.",
        "{count} blocks of this plan are no longer on your calendar. I kept the plan as it was.",
        count,
    )
    return (text,)


def _describe_meetings(before: Session, after: Session) -> tuple[str, ...]:
    """Return a sentence for each meeting that was added, removed or changed; none if no meetings were known before."""
    if before.day.snapshot is None or before.day.snapshot.day != after.date:
        return ()
    known, shown = on_calendar(before), on_calendar(after)
    old, new = ({meeting.id: meeting for meeting in day.timed} for day in (known, shown))
    told = {*after.day.released} - {*before.day.released}
    lines = [_describe_added(meeting, after) for key, meeting in new.items() if key not in old.keys() | told]
    lines += [
        line for key, was in old.items() if key in new and (line := _describe_changed(was, new[key], after)) is not None
    ]
    lines += [_describe_removed(was, after) for k, was in old.items() if k not in new]
    lines += [
        _("New on your calendar: {title}, all day.", title=quote_title(title))
        for title in _subtract(shown.all_day, known.all_day)
    ]
    lines += [
        _("{title}, all day, is off your calendar.", title=quote_title(title))
        for title in _subtract(known.all_day, shown.all_day)
    ]
    return tuple(lines)


def _describe_added(meeting: Meeting, session: Session) -> str:
    return _(
        "New on your calendar: {title}, {time}.", title=quote_title(meeting.title), time=_format_time(meeting, session)
    )


def _describe_removed(meeting: Meeting, session: Session) -> str:
    return _(
        "{title}, {time}, is off your calendar.", title=quote_title(meeting.title), time=_format_time(meeting, session)
    )


def _describe_changed(was: Meeting, now: Meeting, session: Session) -> str | None:
    old, title = quote_title(was.title), quote_title(now.title)
    told = []
    if was.title != now.title:
        told.append(_("{old} is now called {new}.", old=old, new=title))
    if (was.start, was.end) != (now.start, now.end):
        time, before = _format_time(now, session), _format_time(was, session)
        told.append(_("{title} is now {time} (was {before}).", title=title, time=time, before=before))
    elif was.busy != now.busy:
        told.append(
            _("{title} is shown as busy now.", title=title)
            if now.busy
            else _("{title} is shown as free now.", title=title)
        )
    return join_sentences(*told) or None


def _format_time(meeting: Meeting, session: Session) -> str:
    there = zone_suffix(session, meeting.start, meeting.end)
    meeting = local_meeting(session, meeting)
    return clip_span(meeting, session.date) + outside_words(meeting, session.date) + there


def _subtract(titles: tuple[str, ...], others: tuple[str, ...]) -> list[str]:
    """Return the titles that are not among the others, counting repetitions."""
    return list((Counter(titles) - Counter(others)).elements())


log = logging.getLogger(__name__)

WATCH_SECONDS = 5.0
"""Seconds between two reads of a day while its person is active."""
ATTENTIVE_FOR = timedelta(minutes=30)
"""Time after an action in which a person counts as active."""
SLOW_SECONDS = 120.0
"""Seconds between two reads after that time."""
WATCHED_FOR = timedelta(hours=6)
"""Time after an action until the day of the session is no longer read."""
REQUESTS_A_MINUTE = 40.0
"""Maximum number of requests per minute for all reads of one person: less than the budget for background reads."""
LONGEST_REST = 300.0
"""Maximum seconds between two reads of a calendar that does not answer."""
ASK_AGAIN = timedelta(seconds=15)
"""Time after which a session that was notified of a change, but does not show it yet, is notified again."""

Day = tuple[str, date, str]
"""Person, day, zone."""


def poll_interval(session: Session | SessionHead, now: datetime, seconds: float = WATCH_SECONDS) -> float | None:
    """Return the seconds between two reads of a session's day; ``None`` if they are not needed. Pure.

    They are not needed if the session ended, has no confirmed day yet, was idle for hours, or its day is over.
    """
    if session.status is SessionStatus.CANCELLED or session.stage is TimeboxingStage.DATE:
        return None
    idle = now - session.touched_at
    if idle >= WATCHED_FOR or local_day(session.date, zone(session.tz))[1].astimezone(UTC) <= now:
        return None
    return seconds if idle < ATTENTIVE_FOR else max(seconds, SLOW_SECONDS)


@dataclass(slots=True)
class _PollState:
    """The reads of one day so far. ``cost`` is the number of requests of the last read."""

    at: datetime
    cost: int = 1
    failures: int = 0
    spread: float = 1.0
    asked: float = 0.0
    """Seconds that the calendar asked us to wait."""


@dataclass(frozen=True, slots=True)
class _JudgedRead:
    """A read that was compared with a session, and the time until which that stays valid (``None``: always).

    ``asked`` is how often the session was told of it.
    """

    version: int
    look: Look
    until: datetime | None
    asked: int


def choose_place(user_id: str, count: int) -> int:
    """Return which of so many programs watches the calendar of a person."""
    return int.from_bytes(hashlib.sha256(user_id.encode()).digest()[:8]) % count


def _digest(look: Look) -> str:
    """Return what tells one state of a day from another, the same in every program."""
    day = "" if look.snapshot is None else look.snapshot.model_dump_json()
    own = "" if look.ledger is None else look.ledger.model_dump_json()
    return hashlib.sha256(f"{day}{own}".encode()).hexdigest()[:16]


class Watcher:
    """Reads each day of a person once, however many sessions plan it, and not while a plan is being written.

    A relevant change is queued on the session's lane, in order with the person's commands; an unchanged day has no
    effect. There is no persistent state: ``sessions`` lists the open sessions. ``seconds`` is the interval while the
    person is active. ``jitter`` returns numbers in [0, 1). The programs on a database divide the people; ``replica`` is
    this one's name. Two that read the same day for a moment queue the same commands.
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        jobs: Jobs,
        calendars: Calendars,
        clock: Clock,
        seconds: float = WATCH_SECONDS,
        jitter: Callable[[], float] = random.random,
        replica: str = "",
    ) -> None:
        self._sessions = sessions
        self._jobs = jobs
        self._calendars = calendars
        self._clock = clock
        self._seconds = seconds
        self._jitter = jitter
        self._replica = replica
        self._told: set[str] = set()
        self._visits: dict[Day, _PollState] = {}
        self._judged: dict[str, _JudgedRead] = {}

    def expect_change(self, user_id: str) -> None:
        """Read a person's days in the next round, in this program, since their provider told of a change."""
        self._told.add(user_id)

    async def run_once(self) -> bool:
        """Read each day that is due; return ``True`` if some are left over. Raises ``StoreError``.

        A round ends early when it has loaded many sessions. A day that has not changed loads none.
        """
        now = self._clock.now()
        told = frozenset(self._told)
        place, count = await self._jobs.get_share(self._replica)
        days: dict[Day, list[SessionHead]] = {}
        # The day before counts: somewhere it may not be over yet.
        lately = HeadFilter(since=now - WATCHED_FOR, first=now.date() - timedelta(days=1), active=True)
        async for head in iter_heads(self._sessions, lately):
            is_mine = choose_place(head.user_id, count) == place or head.user_id in told
            if is_mine and poll_interval(head, now, self._seconds) is not None:
                days.setdefault((head.user_id, head.date, head.tz), []).append(head)
        self._told -= told
        self._visits = {day: visits for day, visits in self._visits.items() if day in days}
        open_ids = {head.id for watched in days.values() for head in watched}
        self._judged = {key: judged for key, judged in self._judged.items() if key in open_ids}
        spent: Counter[str] = Counter()
        for known, visits in self._visits.items():
            spent[known[0]] += visits.cost
        due = [day for day, watched in days.items() if day[0] in told or self._due(day, watched, spent[day[0]])]
        loaded = 0
        for reached, day in enumerate(due):
            if loaded >= ROUND_SIZE:
                self._told |= told & {user_id for user_id, *_ in due[reached:]}
                return True
            calendar = await self._calendars.get_watched(day[0])
            if calendar.writing:
                self._told |= told & {day[0]}
            else:
                loaded += await self._visit(day, days[day], calendar)
        return False

    def _due(self, day: Day, watched: Sequence[SessionHead], spent: int) -> bool:
        """Check whether a day is to be read; ``spent`` are the requests of one read of each day of its person."""
        visits, now = self._visits.get(day), self._clock.now()
        if visits is None:
            return True
        paces = [p for head in watched if (p := poll_interval(head, now, self._seconds)) is not None]
        rest = max(min(paces, default=SLOW_SECONDS), 60.0 * spent / REQUESTS_A_MINUTE)
        rest = max(rest, visits.asked)
        if visits.failures:
            rest = max(rest, min(LONGEST_REST, rest * 2.0 ** min(visits.failures, 20)) * visits.spread)
        return now - visits.at >= timedelta(seconds=rest)

    async def _visit(self, day: Day, watched: Sequence[SessionHead], calendar: WatchedCalendar) -> int:
        """Read a day, and notify its sessions of what is new to them; return how many were loaded."""
        visits = self._visits.setdefault(day, _PollState(self._clock.now()))
        visits.at, visits.asked = self._clock.now(), 0.0
        try:
            snapshot, ledger = await calendar.read(*day[1:])
            late = may_be_late(snapshot, ledger) and bool(await calendar.late())
        except WorldError as error:
            if isinstance(error, CalendarUnreachable) and error.retry_after is not None:
                visits.asked = error.retry_after  # it is healthy, but wants fewer requests
                return 0
            visits.failures += 1
            visits.spread = 0.5 + self._jitter() / 2
            log.info("the calendar of %s cannot be watched: %s", day[1], error.message)
            return 0
        visits.failures = 0
        visits.cost = 1 + len(snapshot.fetched)
        look = Look(snapshot, ledger)
        return sum([await self._judge(head, look, late=late) for head in watched])

    async def _judge(self, head: SessionHead, look: Look, *, late: bool) -> bool:
        """Notify a session if the read means something to it. Return ``True`` if it was loaded.

        It is loaded only if the answer is not known yet. It may have changed since; then the notification costs one
        more read that finds nothing.
        """
        now, known = self._clock.now(), self._judged.get(head.id)
        same = known is not None and (known.version, known.look) == (head.version, look)
        if same and known is not None and (known.until is None or now < known.until):
            return False
        session = await self._sessions.load(head.id)
        if session is None:
            return True
        told = late or is_in_doubt(session) or notice_changes(session, look) is not None
        asked = known.asked + 1 if same and known is not None else 1
        self._judged[session.id] = _JudgedRead(session.version, look, now + ASK_AGAIN if told else None, asked)
        if told:
            command_id = f"look:{session.id}:{session.version}:{_digest(look)}:{asked}"
            await self._jobs.enqueue(
                build_command_job(RefreshCalendar(command_id=command_id, session_id=session.id), key=session.id),
                now=now,
            )
        return True
