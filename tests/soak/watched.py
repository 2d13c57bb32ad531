"""Calendar, journal and time as one process has them: it may die at any await, and the witness sees all it does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from random import Random
from typing import Any, Self, TypeVar

from tests.emulators.google.simulated import SimulatedGoogle, name_request
from tests.emulators.google.wire import Ask, Reply
from tests.factories.trouble import ProcessDied
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.google_store import GoogleStore
from tests.soak.oracle import Command, Oracle, WrittenTransaction

from fateforger.calendar.event import EventFields, EventImage
from fateforger.calendar.history import list_undone
from fateforger.calendar.model import Head, Ledger, Verb
from fateforger.calendar.ports import CalendarTraits, Create, Delete, Journal, Lease, Outcome, Write
from fateforger.calendar.transactions import OpRecord, OpState, Transaction, TxState

T = TypeVar("T")
LONGEST_CALL = 1.5
LATEST = 4.9
MUCH_LATER = 90.0
"""A create may land long after the program gave it up: nothing that the person did can be lost by it."""


@dataclass
class Clock:
    """A clock that moves in sleeps and while a call travels; other tasks get their turn meanwhile."""

    instant: datetime
    tick: Callable[[], None] = lambda: None

    def now(self) -> datetime:
        return self.instant

    async def sleep(self, seconds: float) -> None:
        self.instant += timedelta(seconds=seconds)
        self.tick()
        await asyncio.sleep(0)


@dataclass
class ProcessLife:
    """One process. With ``left`` it dies at that await from now: before a call or a commit, or right after."""

    left: int | None = None
    dead: bool = False
    steps: int = 0

    def step(self) -> None:
        if self.dead:
            raise ProcessDied
        self.steps += 1
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                self.dead = True
                raise ProcessDied

    async def through(self, work: Callable[[], Awaitable[T]]) -> T:
        self.step()
        try:
            result = await work()
        except ProcessDied:
            self.dead = True
            raise
        except Exception:
            if self.dead:
                raise ProcessDied from None
            raise
        self.step()
        return result


@dataclass
class WatchedStore(GoogleStore):
    """Tells the witness every write of the program when it takes effect, and every look. ``deleting`` says which
    transaction asked for a deletion: a deletion carries no mark."""

    truth: Oracle | None = None
    deleting: dict[str, str] = field(default_factory=dict)

    def insert(self, event_id: str, fields: EventFields, properties: Mapping[str, str], **extras: Any) -> EventImage:
        image = super().insert(event_id, fields, properties, **extras)
        self._witness.record_insert(transaction_of(properties["ffo"]), image)
        return image

    def patch(self, event_id: str, changes: Mapping[str, Any], properties: Mapping[str, str]) -> EventImage:
        before = self.live(event_id)
        after = super().patch(event_id, changes, properties)
        self._witness.record_patch(transaction_of(properties["ffo"]), before, after)
        return after

    def cancel(self, event_id: str) -> EventImage:
        before = self.live(event_id)
        after = super().cancel(event_id)
        self._witness.record_delete(self.deleting[event_id], before)
        return after

    def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        seen = super().window(start, end)
        self._witness.record_look(seen)
        return seen

    def get(self, event_id: str) -> EventImage | None:
        image = super().get(event_id)
        if image is not None:
            self._witness.record_look([image])
        return image

    def user_delete(self, event_id: str) -> EventImage:
        return super().cancel(event_id)

    @property
    def _witness(self) -> Oracle:
        assert self.truth is not None
        return self.truth


class LateGoogleCalendar(GoogleCalendarFake):
    """A write that lands late does so within the time that a server works on a request at most, by the clock."""

    delays: Delays

    def land(self) -> None:
        """Apply every write that is due by now."""
        self._land()

    def clear(self) -> None:
        """End all faults; late writes still land when they are due."""
        self._armed.clear()

    def restart(self) -> None:
        """Restart the program."""

    def trouble(self, rng: Random) -> str:
        """Let some of the next requests meet a fault of their own kind. Says which, if there are any."""
        return ""

    def _land(self, *, everything: bool = False) -> None:
        self._late, due = self.delays.part(self._late, everything=everything)
        for effect in due:
            effect()


class LateCalendar(LateGoogleCalendar):
    """The fake of the port."""

    def __init__(self, store: WatchedStore, *, clock: Clock, **more: Any) -> None:
        super().__init__(store, **more)
        self.delays = Delays(self, store, clock)

    async def _write(self, *call: Any) -> Outcome:
        with self.delays.noting(str(call[0]), str(call[1])):
            return await super()._write(*call)


class LateGoogle(LateGoogleCalendar, SimulatedGoogle):
    """The adapter for Google: it is the request that lands late."""

    def __init__(self, store: WatchedStore, *, clock: Clock, key: str) -> None:
        SimulatedGoogle.__init__(self, store, key=key)
        self.delays = Delays(self, store, clock)

    async def travel(self, ask: Ask) -> Reply:
        verb, event_id = name_request(ask)
        with self.delays.noting(verb, str(event_id)):
            return await super().travel(ask)


Due = tuple[int, Callable[[], object]]


@dataclass
class Delays:
    """The time when each late write reaches a calendar."""

    calendar: GoogleCalendarFake
    store: WatchedStore
    clock: Clock
    latest_create: float = MUCH_LATER
    due: dict[int, datetime] = field(default_factory=dict)

    @contextmanager
    def noting(self, verb: str, event_id: str) -> Iterator[None]:
        """Give a write that was sent meanwhile, and did not arrive, the time of its arrival."""
        truth = self.store.truth
        assert truth is not None
        looked = truth.looked_at(event_id)
        try:
            yield
        finally:
            late, calls = self.calendar._late, len(self.calendar.calls)
            for n, (position, effect) in enumerate(late):
                if id(effect) not in self.due:
                    landing = partial(_land_late, effect, truth, event_id, looked)
                    late[n] = (position, landing)
                    latest = self.latest_create if verb == "create" and calls % 3 == 0 else LATEST
                    self.due[id(landing)] = self.clock.now() + timedelta(seconds=latest * (calls % 7) / 7)

    def part(self, late: list[Due], *, everything: bool) -> tuple[list[Due], list[Callable[[], object]]]:
        """Split late writes into those still due and those that have arrived."""
        due = [effect for _, effect in late if everything or self.clock.now() >= self.due[id(effect)]]
        return [one for one in late if one[1] not in due], due


def _land_late(effect: Callable[[], object], truth: Oracle, event_id: str, looked: int) -> None:
    truth.sent[event_id] = looked
    effect()
    del truth.sent[event_id]


def transaction_of(op_id: str) -> str:
    return op_id.rsplit("-", 1)[0]


@dataclass
class SeenJournal:
    """A journal as one process has it. ``command_of`` finds what the person asked for by the cause of a transaction."""

    inner: Journal
    life: ProcessLife
    truth: Oracle
    command_of: Callable[[str], Command]

    async def begin(self, transaction: Transaction) -> None:
        async def act() -> None:
            await self.inner.begin(transaction)
            keys = frozenset(op.key for op in transaction.plan.ops)
            dropped = frozenset(op.key for op in transaction.plan.ops if op.verb is Verb.DELETE)
            made = {op.key for op in transaction.plan.ops if op.verb is Verb.CREATE}
            replaced = {op.event_id for op in transaction.plan.ops if op.verb is Verb.DELETE and op.key in made}
            targets = list_undone(transaction)
            written = WrittenTransaction(
                self.command_of(transaction.cause), targets, keys, dropped, replaced=frozenset(replaced)
            )
            self.truth.begins(transaction.id, written)

        await self.life.through(act)

    async def mark(self, transaction_id: str, op_ids: Sequence[str], state: OpState) -> None:
        await self.life.through(lambda: self.inner.mark(transaction_id, op_ids, state))

    async def settle(
        self, transaction_id: str, record: OpRecord, *, head: Head | None = None, forget: str | None = None
    ) -> None:
        await self.life.through(lambda: self.inner.settle(transaction_id, record, head=head, forget=forget))

    async def close(self, transaction_id: str, state: TxState, at: datetime) -> None:
        await self.life.through(lambda: self.inner.close(transaction_id, state, at))

    async def get(self, transaction_id: str) -> Transaction | None:
        return await self.life.through(lambda: self.inner.get(transaction_id))

    async def by_cause(self, calendar: str, cause: str) -> Transaction | None:
        return await self.life.through(lambda: self.inner.by_cause(calendar, cause))

    async def list_unsettled(self, calendar: str | None = None) -> tuple[Transaction, ...]:
        return await self.life.through(lambda: self.inner.list_unsettled(calendar))

    async def history(self, calendar: str | None, **query: Any) -> tuple[Transaction, ...]:
        return await self.life.through(lambda: self.inner.history(calendar, **query))

    async def ledger(self, calendar: str, day: Any) -> Ledger:
        return await self.life.through(lambda: self.inner.ledger(calendar, day))

    async def acquire(self, calendar: str, owner: str, *, now: datetime, seconds: float) -> Lease | None:
        return await self.life.through(lambda: self.inner.acquire(calendar, owner, now=now, seconds=seconds))

    async def release(self, lease: Lease) -> None:
        await self.life.through(lambda: self.inner.release(lease))


@dataclass
class SeenCalendar:
    """A calendar as one process has it; each call takes a while. A write without an intent in the journal is noted
    (P2), and an id that two ops ask for."""

    inner: GoogleCalendarFake
    journal: SeenJournal
    clock: Clock
    rng: Random
    minted: dict[str, str]

    @property
    def key(self) -> str:
        return self.inner.key

    @property
    def traits(self) -> CalendarTraits:
        return self.inner.traits

    def in_background(self) -> Self:
        return self

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        return await self._call(lambda: self.inner.window(start, end))

    async def get(self, event_id: str) -> EventImage | None:
        return await self._call(lambda: self.inner.get(event_id))

    async def write(self, write: Write) -> Outcome:
        op_id = None if isinstance(write, Delete) else write.marker.op_id
        found = await self._find_intent(write.event_id, op_id)
        if isinstance(write, Create):
            minted = self.minted.setdefault(write.event_id, write.marker.op_id)
            if minted != op_id:
                self.journal.truth.breach("reused", f"{op_id} uses the id of {minted}")
        if isinstance(write, Delete) and isinstance(self.inner.store, WatchedStore):
            self.inner.store.deleting[write.event_id] = found
        return await self._call(lambda: self.inner.write(write))

    async def aclose(self) -> None:
        return

    async def _call(self, work: Callable[[], Awaitable[T]]) -> T:
        self.clock.instant += timedelta(seconds=self.rng.random() * LONGEST_CALL)
        return await self.journal.life.through(work)

    async def _find_intent(self, event_id: str, op_id: str | None) -> str:
        """Return the transaction whose intent to write this event is durable."""
        self.journal.life.step()
        for transaction in await self.journal.inner.list_unsettled(self.key):
            for record in transaction.records:
                if (
                    record.state is OpState.INFLIGHT
                    and record.op.event_id == event_id
                    and op_id in {None, record.op.op_id}
                ):
                    return transaction.id
        self.journal.truth.breach("intent", f"{event_id} is written without an intent")
        return transaction_of(op_id or "")
