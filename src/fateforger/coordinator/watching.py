"""The calendar of open sessions, looked at again and again, so that what the person changes there shows up in the
thread by itself (S200, S202)."""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Protocol

from fateforger.background.turns import look_job
from fateforger.commit.late import may_be_late
from fateforger.coordinator.looking import Look, Read
from fateforger.coordinator.noticing import in_doubt, noticed
from fateforger.errors import CalendarUnreachable, StoreError, WorldError
from fateforger.plan import local_day, zone
from fateforger.ports import Clock, Jobs, Sessions
from fateforger.session.commands import LookAgain
from fateforger.session.model import Session, SessionStatus
from fateforger.stages import TimeboxingStage

log = logging.getLogger(__name__)

WATCH_SECONDS = 5.0
"""How long after the last look at a day the next one follows, while its person is there."""
ATTENTIVE_FOR = timedelta(minutes=30)
"""How long a person counts as being there after they did something."""
SLOW_SECONDS = 120.0
"""The same after that,"""
WATCHED_FOR = timedelta(hours=6)
"""and after this nobody looks until the session is touched again."""
REQUESTS_A_MINUTE = 40.0
"""What all looks together may cost the calendar: less than its budget leaves to reads that nobody waits for."""
LONGEST_REST = 300.0
"""Seconds between two looks at a calendar that does not answer."""
ASK_AGAIN = timedelta(seconds=15)
"""When a session that was told of a change still does not show it."""

Day = tuple[date, str]
Sleep = Callable[[float], Awaitable[None]]


class Readable(Protocol):
    """What watching needs of :class:`fateforger.commit.CalendarSubmitter`."""

    @property
    def read(self) -> Read: ...

    @property
    def writing(self) -> bool: ...

    async def late(self) -> tuple[str, ...]: ...


def pace(session: Session, now: datetime, seconds: float = WATCH_SECONDS) -> float | None:
    """Seconds between two looks at the day of a session; ``None`` when nobody needs them: it ended or is not on its day
    yet, was left alone for hours, or its day is over. Pure."""
    if session.status is SessionStatus.CANCELLED or session.stage is TimeboxingStage.DATE:
        return None
    idle = now - session.touched_at
    if idle >= WATCHED_FOR or local_day(session.date, zone(session.tz))[1].astimezone(UTC) <= now:
        return None
    return seconds if idle < ATTENTIVE_FOR else max(seconds, SLOW_SECONDS)


@dataclass(slots=True)
class _Visits:
    """How looking at one day went so far. ``cost`` is what the last look took in requests to the calendar."""

    at: datetime
    cost: int = 1
    failures: int = 0
    spread: float = 1.0
    asked: float = 0.0
    """Seconds that the calendar asked for before the next look."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A look that a session was held against, and until when that need not be done again (``None``: ever)."""

    version: int
    look: Look
    until: datetime | None


class Watcher:
    """One read per day, however many sessions plan it, and none while a plan is being written. A change that means
    something to a session is put on its lane, among the person's own commands; an unchanged day leaves no trace.

    Nothing is remembered beyond the process: what is open is asked of ``sessions``. ``seconds`` is the pace while the
    person is there. ``jitter`` gives numbers in [0, 1).
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        jobs: Jobs,
        calendar: Readable,
        clock: Clock,
        sleep: Sleep,
        seconds: float = WATCH_SECONDS,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._sessions = sessions
        self._jobs = jobs
        self._calendar = calendar
        self._clock = clock
        self._sleep = sleep
        self._seconds = seconds
        self._jitter = jitter
        self._visits: dict[Day, _Visits] = {}
        self._judged: dict[str, _Judged] = {}

    async def run(self) -> None:
        """Watch until it is cancelled."""
        while True:
            try:
                await self.round()
            except StoreError as error:
                log.warning("open sessions are not watched for now: %s", error.message)
            except Exception:  # the outermost edge of watching: one session that is beyond us must not end it for all
                log.exception("a round of watching failed")
            await self._sleep(self._seconds)

    async def round(self) -> None:
        """Look at each day that is due. Raises ``StoreError``."""
        now = self._clock.now()
        days: dict[Day, list[Session]] = {}
        for session in await self._sessions.touched_since(now - WATCHED_FOR):
            if pace(session, now, self._seconds) is not None:
                days.setdefault((session.date, session.tz), []).append(session)
        self._visits = {day: visits for day, visits in self._visits.items() if day in days}
        open_ids = {session.id for watched in days.values() for session in watched}
        self._judged = {key: judged for key, judged in self._judged.items() if key in open_ids}
        for day, watched in days.items():
            if self._due(day, watched) and not self._calendar.writing:
                await self._visit(day, watched)

    def _due(self, day: Day, watched: Sequence[Session]) -> bool:
        visits, now = self._visits.get(day), self._clock.now()
        if visits is None:
            return True
        paces = [p for session in watched if (p := pace(session, now, self._seconds)) is not None]
        spent = sum(each.cost for each in self._visits.values())
        rest = max(min(paces, default=SLOW_SECONDS), 60.0 * spent / REQUESTS_A_MINUTE)
        rest = max(rest, visits.asked)
        if visits.failures:
            rest = max(rest, min(LONGEST_REST, rest * 2.0 ** min(visits.failures, 20)) * visits.spread)
        return now - visits.at >= timedelta(seconds=rest)

    async def _visit(self, day: Day, watched: Sequence[Session]) -> None:
        visits = self._visits.setdefault(day, _Visits(self._clock.now()))
        visits.at, visits.asked = self._clock.now(), 0.0
        try:
            snapshot, ledger = await self._calendar.read(*day)
            late = may_be_late(snapshot, ledger) and bool(await self._calendar.late())
        except WorldError as error:
            if isinstance(error, CalendarUnreachable) and error.retry_after is not None:
                visits.asked = error.retry_after  # it is well, and wants fewer requests
                return
            visits.failures += 1
            visits.spread = 0.5 + self._jitter() / 2
            log.info("the calendar of %s cannot be watched: %s", day[0], error.message)
            return
        visits.failures = 0
        visits.cost = 1 + len(snapshot.fetched)
        look = Look(snapshot, ledger)
        for session in watched:
            await self._judge(session, look, late=late)

    async def _judge(self, session: Session, look: Look, *, late: bool) -> None:
        """Let a session know when the look means something to it. It may have gone on since it was loaded, which costs
        another look, in its turn, that finds nothing."""
        now, known = self._clock.now(), self._judged.get(session.id)
        same = known is not None and (known.version, known.look) == (session.version, look)
        if same and known is not None and (known.until is None or now < known.until):
            return
        told = late or in_doubt(session) or noticed(session, look) is not None
        self._judged[session.id] = _Judged(session.version, look, now + ASK_AGAIN if told else None)
        if told:
            command_id = f"look:{session.id}:{session.version}:{now.isoformat()}"
            await self._jobs.enqueue(look_job(LookAgain(command_id=command_id, session_id=session.id)), now=now)
