"""A process that may die: at any call to the calendar, and on either side of every commit of the journal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, Self, TypeVar

from tests.fakes.google_calendar import Answer, Crash, Fault, GoogleCalendarFake, LateWrite, LostAnswer
from tests.fakes.memory_journal import MemoryJournal

from fateforger.calendar.event import EventImage
from fateforger.calendar.model import Head, Ledger
from fateforger.calendar.ports import (
    CalendarTraits,
    Delete,
    Lease,
    Limited,
    Outcome,
    Unauthorized,
    Unknown,
    Write,
)
from fateforger.calendar.transactions import OpRecord, OpState, Transaction, TxState

T = TypeVar("T")
Side = Literal["before", "after"]


SIDES: tuple[Side, Side] = ("before", "after")


class ProcessDied(BaseException):
    """The process is gone. No part of it may act any more."""


CALL_FAULTS: dict[str, Callable[[], Fault]] = {
    "fails": lambda: Answer(Unknown("reset")),
    "answer lost": LostAnswer,
    "lands late": LateWrite,
    "limited": lambda: Answer(Limited(2.0)),
    "login expired": lambda: Answer(Unauthorized("expired")),
    "dies before": lambda: Crash(ProcessDied(), "before"),
    "dies after": lambda: Crash(ProcessDied(), "after"),
}


def call_fault(number: int) -> Fault:
    """Return one of the faults, by number."""
    return list(CALL_FAULTS.values())[number]()


@dataclass
class DyingJournal:
    """A journal as one process sees it. With ``point`` the process dies on a side of that commit (counted from 0);
    once ``dead``, nothing gets through."""

    inner: MemoryJournal
    point: tuple[int, Side] | None = None
    commits: int = 0
    dead: bool = False

    def kill(self) -> ProcessDied:
        self.dead = True
        return ProcessDied()

    async def _commit(self, act: Callable[[], Awaitable[T]]) -> T:
        if self.dead:
            raise ProcessDied
        position, self.commits = self.commits, self.commits + 1
        if self.point == (position, "before"):
            raise self.kill()
        result = await act()
        if self.point == (position, "after"):
            raise self.kill()
        return result

    async def begin(self, transaction: Transaction) -> None:
        await self._commit(lambda: self.inner.begin(transaction))

    async def mark(self, transaction_id: str, op_ids: Sequence[str], state: OpState) -> None:
        await self._commit(lambda: self.inner.mark(transaction_id, op_ids, state))

    async def settle(
        self, transaction_id: str, record: OpRecord, *, head: Head | None = None, forget: str | None = None
    ) -> None:
        await self._commit(lambda: self.inner.settle(transaction_id, record, head=head, forget=forget))

    async def close(self, transaction_id: str, state: TxState, at: datetime) -> None:
        await self._commit(lambda: self.inner.close(transaction_id, state, at))

    async def acquire(self, calendar: str, owner: str, *, now: datetime, seconds: float) -> Lease | None:
        return await self._commit(lambda: self.inner.acquire(calendar, owner, now=now, seconds=seconds))

    async def release(self, lease: Lease) -> None:
        await self._commit(lambda: self.inner.release(lease))

    async def _read(self, act: Callable[[], Awaitable[T]]) -> T:
        if self.dead:
            raise ProcessDied
        return await act()

    async def get(self, transaction_id: str) -> Transaction | None:
        return await self._read(lambda: self.inner.get(transaction_id))

    async def by_cause(self, calendar: str, cause: str) -> Transaction | None:
        return await self._read(lambda: self.inner.by_cause(calendar, cause))

    async def list_unsettled(self, calendar: str | None = None) -> tuple[Transaction, ...]:
        return await self._read(lambda: self.inner.list_unsettled(calendar))

    async def history(
        self, calendar: str | None, *, day: date | None = None, group: str | None = None, limit: int = 50
    ) -> tuple[Transaction, ...]:
        return await self._read(lambda: self.inner.history(calendar, day=day, group=group, limit=limit))

    async def ledger(self, calendar: str, day: date) -> Ledger:
        return await self._read(lambda: self.inner.ledger(calendar, day))


@dataclass
class WatchedCalendar:
    """A calendar as one process sees it, which notes every write without a durable intent or a lease of ``owner``
    (P2). The answer to the call ``slow_at`` (counted from 0) takes as long as ``slowly``."""

    inner: GoogleCalendarFake
    journal: DyingJournal
    now: Callable[[], datetime]
    breaches: list[str] = field(default_factory=list)
    owner: str = "test"
    slow_at: int | None = None
    slowly: Callable[[], Awaitable[None]] | None = None
    answered: int = 0

    @property
    def key(self) -> str:
        return self.inner.key

    @property
    def traits(self) -> CalendarTraits:
        return self.inner.traits

    def in_background(self) -> Self:
        return self

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        return await self._call(self.inner.window(start, end))

    async def get(self, event_id: str) -> EventImage | None:
        return await self._call(self.inner.get(event_id))

    async def write(self, write: Write) -> Outcome:
        self._watch(write.event_id, None if isinstance(write, Delete) else write.marker.op_id)
        return await self._call(self.inner.write(write))

    async def aclose(self) -> None:
        return

    async def _call(self, call: Awaitable[T]) -> T:
        if self.journal.dead:
            call.close()  # type: ignore[attr-defined]  # a coroutine that will never run
            raise ProcessDied
        try:
            answer = await call
        except ProcessDied:
            self.journal.dead = True
            raise
        position, self.answered = self.answered, self.answered + 1
        if position == self.slow_at and self.slowly is not None:
            await self.slowly()
        return answer

    def _watch(self, event_id: str, op_id: str | None) -> None:
        if self.journal.dead:
            return
        records = [r for t in self.journal.inner.transactions.values() for r in t.records]
        intents = [r for r in records if r.state is OpState.INFLIGHT and r.op.event_id == event_id]
        if not any(op_id in {None, r.op.op_id} for r in intents):
            self.breaches.append(f"{event_id} was written without an intent")
        lease, released = self.journal.inner.leases[self.key]
        if released or lease.expires_at <= self.now() or lease.owner != self.owner:
            self.breaches.append(f"{event_id} was written without a lease")
