"""Access to a calendar: time limits, complete reads, the lease for writing, waits that it asks for, refused writes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TypeVar

from fateforger.calendar.event import EventImage
from fateforger.calendar.model import Ledger, Snapshot, Standing, Verb
from fateforger.calendar.ports import Calendar, DayReads, Journal, Lease, Window
from fateforger.calendar.transactions import OpState
from fateforger.errors import CalendarBusy, CalendarUnreachable
from fateforger.metrics import LEASE_WAIT_SECONDS
from fateforger.planning.timing import local_day, zone
from fateforger.ports.clock import Clock
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace


@dataclass(frozen=True, slots=True)
class Limits:
    """All durations are in seconds, except ``roll_forward`` and ``window_after``."""

    concurrency: int = 4
    attempts: int = 4
    """The number of tries of one write, or of one read that has to succeed."""
    backoff_first: float = 0.5
    backoff_most: float = 8.0
    waiting_budget: float = 90.0
    """The total wait of one transaction for a calendar that wants fewer requests or does not answer: longer than the
    minute after which calendars accept requests again."""
    fresh_for: float = 10.0
    """The age up to which a read event is used; after that it is read again before it is written to."""
    vouched_for: float = 5.0
    """The age up to which a read event replaces the read that a calendar does before an update."""
    landing_grace: float = 5.0
    """The time in which an unanswered update or delete may still land: longer than any server works on a request."""
    lease_seconds: float = 30.0
    lease_margin: float = 15.0
    """No write starts with less than this left of the lease: longer than any call lasts."""
    lease_wait: float = 5.0
    lease_poll: float = 0.1
    roll_forward: timedelta = timedelta(minutes=15)
    """An interrupted write younger than this is finished; an older one is only settled. An undo is always finished."""
    window_after: timedelta = timedelta(hours=12)
    """The time after the end of the local day up to which the calendar is read: blocks may cross midnight."""
    id_rounds: int = 3
    """The number of tries for blocks whose ids turn out to be used up; the last one takes ids that are new for sure."""
    history: int = 200
    """The number of transactions an undo reads at first."""


Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause in a write, with its reason in a few words."""

    seconds: float
    reason: str


WriteProgressCallback = Callable[[int, int, Wait | None], None]
"""Callback for the progress of a write: the number of events written, their total (0 while unknown), and each wait when
it begins. It must not block and must not fail."""


def ignore_write_progress(done: int, of: int, wait: Wait | None) -> None:
    del done, of, wait


@dataclass(frozen=True, slots=True)
class CommitContext:
    """One calendar with its journal, and time. ``jitter`` returns numbers in [0, 1) that spread retries."""

    calendar: Calendar
    journal: Journal
    clock: Clock
    sleep: Sleep
    jitter: Callable[[], float] = random.random
    limits: Limits = field(default_factory=Limits)
    told: WriteProgressCallback = ignore_write_progress

    def pause_before(self, attempt: int, asked: float | None = None) -> float:
        """Return the seconds to wait before another attempt (0 is the first).

        This is what the calendar asked for, otherwise exponential backoff with jitter.
        """
        if asked is not None:
            return asked
        most = min(self.limits.backoff_most, self.limits.backoff_first * float(2**attempt))
        return most * (0.5 + self.jitter() / 2)


T = TypeVar("T")


async def run_each(items: Collection[T], work: Callable[[T], Awaitable[None]], *, at_once: int) -> None:
    """Run ``work`` for each item, at most ``at_once`` concurrently.

    After the first failure no further item is started; running ones finish, and then that failure is raised.
    """
    if len(items) < 2:
        for item in items:
            await work(item)
        return
    queue = iter(items)
    failed = False

    async def worker() -> None:
        nonlocal failed
        for item in queue:
            if failed:
                return
            try:
                await work(item)
            except BaseException:  # also when cancelled, the other workers stop
                failed = True
                raise

    ends = await asyncio.gather(*(worker() for _ in range(min(at_once, len(items)))), return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end


async def read_day(
    calendar: DayReads, journal: Journal, day: date, tz: str, *, limits: Limits | None = None
) -> tuple[Snapshot, Ledger]:
    """Return what the calendar shows for a local day, and our known writes.

    Raises ``CalendarError`` and ``StoreError``.
    """
    limits = limits or Limits()
    ledger = await journal.ledger(calendar.key, day)
    snapshot = await read_snapshot(calendar, ledger, day, tz, limits=limits)
    return snapshot, await find_brought_back(snapshot, ledger, journal, calendar.key, limits=limits)


async def find_brought_back(
    snapshot: Snapshot, ledger: Ledger, journal: Journal, calendar: str, *, limits: Limits
) -> Ledger:
    """Return the ledger with the events that the person took out of the bin and that have no record any more.

    A create that was given up and arrived late has no record either, but it never counted as done. The history is read
    only if there is such an event.
    """
    held = {head.event_id for head in ledger.heads}
    markers = {i: event.own_marker for i, event in snapshot.live.items() if i not in held}
    unknown = {i for i, marker in markers.items() if marker is not None and marker.day == snapshot.day}
    if not unknown:
        return ledger
    history = await journal.history(calendar, day=snapshot.day, limit=limits.history)
    done = (r.op for t in history for r in t.records if r.state is OpState.APPLIED)
    made = {op.event_id for op in done if op.verb is Verb.CREATE}
    return replace(ledger, brought_back=tuple(sorted(made & unknown)))


async def read_snapshot(
    calendar: DayReads, ledger: Ledger, day: date, tz: str, *, limits: Limits, also: Iterable[str] = ()
) -> Snapshot:
    """Return all events from the start of the local day to some hours after its end.

    Every event that we hold, and those of ``also``, are requested by id if they are not among them: they may have been
    moved away or not be listed yet, and only the answer proves that they are gone.
    """
    start, end = local_day(day, zone(tz))
    events = await calendar.window(start, end + limits.window_after)
    seen = {event.id for event in events}
    held = [h.event_id for h in ledger.heads if h.standing in {Standing.HELD, Standing.RELEASED}]
    fetched: dict[str, EventImage | None] = {}

    async def fetch(event_id: str) -> None:
        fetched[event_id] = await calendar.get(event_id)

    missing = dict.fromkeys(i for i in (*held, *also) if i not in seen)
    await run_each(missing, fetch, at_once=limits.concurrency)
    left_out = events.left_out if isinstance(events, Window) else ()
    return Snapshot(day=day, tz=tz, events=events, fetched={i: fetched[i] for i in missing}, left_out=left_out)


_BUSY = mark_message("Another change to this calendar is being written right now. Please try again in a moment.")
_LOST = mark_message(
    "Writing took too long and was stopped; what is missing will be finished or settled with the next try."
)


class Hold:
    """A lease on the calendar of ``outside`` that is renewed while it is used.

    It cannot stop a write in progress, so none starts unless the lease outlasts it. A write that outlasted the lease is
    not recorded, since other processes may have settled it.
    """

    def __init__(self, outside: CommitContext, owner: str) -> None:
        self.outside = outside
        self._owner = owner
        self._lease: Lease | None = None

    async def take(self) -> None:
        """Acquire the lease, waiting a little for another holder. Raises :class:`~fateforger.errors.CalendarBusy`."""
        limits = self.outside.limits
        waited = 0.0
        while (lease := await self._acquire()) is None:
            if waited >= limits.lease_wait:
                LEASE_WAIT_SECONDS.labels("busy").observe(waited)
                raise CalendarBusy(_(_BUSY))
            await self.outside.sleep(limits.lease_poll)
            waited += limits.lease_poll
        LEASE_WAIT_SECONDS.labels("taken").observe(waited)
        self._lease = lease

    async def ensure(self) -> None:
        """Ensure that a write may start or be recorded.

        Raises :class:`~fateforger.errors.CalendarBusy` if the lease was lost: another process may have settled the
        transaction.
        """
        lease = self._lease
        if lease is None:
            raise CalendarBusy(_(_LOST))
        left = (lease.expires_at - self.outside.clock.now()).total_seconds()
        limits = self.outside.limits
        if limits.lease_margin < left <= limits.lease_seconds:  # more is left only if the clock was set back
            return
        renewed = await self._acquire()
        if renewed is None or renewed.fence != lease.fence:
            self._lease = None
            if renewed is not None:
                await self.outside.journal.release(renewed)
            raise CalendarBusy(_(_LOST))
        self._lease = renewed

    async def give_back(self) -> None:
        """Release the lease, if it is held."""
        if self._lease is not None:
            lease, self._lease = self._lease, None
            await self.outside.journal.release(lease)

    async def _acquire(self) -> Lease | None:
        outside = self.outside
        return await outside.journal.acquire(
            outside.calendar.key, self._owner, now=outside.clock.now(), seconds=outside.limits.lease_seconds
        )


class WaitingReads:
    """The reads of a write that holds the lease.

    When the calendar asks for patience they wait, report it, and keep the lease; only the failed read is repeated.
    ``seen_at`` is the time of the last request for a window.
    """

    def __init__(self, hold: Hold) -> None:
        self.seen_at = hold.outside.clock.now()
        self._hold = hold
        self._outside = hold.outside

    @property
    def key(self) -> str:
        return self._outside.calendar.key

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        async def request() -> tuple[EventImage, ...]:
            self.seen_at = self._outside.clock.now()
            return await self._outside.calendar.window(start, end)

        return await self._patiently(request)

    async def get(self, event_id: str) -> EventImage | None:
        return await self._patiently(lambda: self._outside.calendar.get(event_id))

    async def _patiently(self, read: Callable[[], Awaitable[T]]) -> T:
        async def wait(pause: Wait) -> None:
            self._outside.told(0, 0, pause)
            await wait_with_lease(pause.seconds, self._hold)

        return await read_patiently(read, wait, seconds=self._outside.limits.waiting_budget)


async def read_patiently(
    read: Callable[[], Awaitable[T]], wait: Callable[[Wait], Awaitable[None]], *, seconds: float
) -> T:
    """Read; if the calendar asks to wait, wait and read again, for so many seconds in all.

    Raises what the read raises.
    """
    while True:
        try:
            return await read()
        except CalendarUnreachable as error:
            if error.retry_after is None or error.retry_after > seconds:
                raise
            seconds -= error.retry_after
            await wait(Wait(error.retry_after, error.reason))


async def wait_with_lease(seconds: float, hold: Hold) -> None:
    """Sleep, and keep the lease meanwhile."""
    while seconds > 0:
        nap = min(seconds, hold.outside.limits.lease_margin)
        await hold.outside.sleep(nap)
        await hold.ensure()
        seconds -= nap
