"""Engines with one bug each, put in where the real one goes: the witness has to see every one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from tests.soak.oracle import OWN

from fateforger.calendar.access import CommitContext
from fateforger.calendar.event import EventImage
from fateforger.calendar.model import Ledger
from fateforger.calendar.ports import Calendar, Delete, Journal, Outcome, Update, Write
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.calendar.transactions import Transaction


class ForwardingPort:
    """A port that hands everything on."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


class BlindReads(ForwardingPort):
    """Reads that show events as the program left them: the person's changes are ignored, so an undo takes them back."""

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        return tuple(self._as_left(e) for e in await self._real.window(start, end))

    async def get(self, event_id: str) -> EventImage | None:
        image: EventImage | None = await self._real.get(event_id)
        return None if image is None else self._as_left(image)

    def _as_left(self, image: EventImage) -> EventImage:
        return image.model_copy(update=self._real.journal.truth.get_left(image.id))


class UnmarkedReads(ForwardingPort):
    """Reads that hide the mark of an op: a write whose answer was lost is not recognized."""

    async def get(self, event_id: str) -> EventImage | None:
        image: EventImage | None = await self._real.get(event_id)
        if image is None or image.marker is None:
            return image
        return image.model_copy(update={"properties": {**image.properties, "ffo": "?"}})


class PrefixOnly(ForwardingPort):
    """A calendar that takes any event with our id prefix for ours: here an occurrence of the person's own series."""

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        seen: tuple[EventImage, ...] = await self._real.window(start, end)
        return tuple(e for e in seen if e.series_id is None)

    async def write(self, write: Write) -> Outcome:
        if isinstance(write, Update):
            properties = write.marker.properties()
            self._write(write.event_id, lambda name: self._store.patch(name, write.changes, properties))
        outcome: Outcome = await self._real.write(write)
        if isinstance(write, Delete):
            self._write(write.event_id, self._store.cancel)
        return outcome

    @property
    def _store(self) -> Any:
        return self._real.inner.store

    def _occurrences(self, event_id: str) -> list[str]:
        return [i for i, e in self._store.events.items() if i.startswith(f"{event_id}_") and not e.gone]

    def _write(self, event_id: str, write: Callable[[str], object]) -> None:
        for name in self._occurrences(event_id):
            self._store.deleting.setdefault(name, self._store.deleting.get(event_id))
            write(name)


class ForgetfulJournal(ForwardingPort):
    """The journal forgets what it knows of the calendar: no record of blocks, and of ids that were used."""

    async def ledger(self, calendar: str, day: Any) -> Ledger:
        return Ledger()


class NamedTransactionOnly(ForwardingPort):
    """An undo that goes back to before a transaction does not see what was written after it, and leaves that."""

    def __init__(self, real: Any) -> None:
        super().__init__(real)
        self._named: str | None = None

    async def get(self, transaction_id: str) -> Transaction | None:
        self._named = transaction_id
        found: Transaction | None = await self._real.get(transaction_id)
        return found

    async def history(self, calendar: str | None, *, day: Any = None, **query: Any) -> tuple[Transaction, ...]:
        """Return the newest first; ``day`` is given when an undo looks for what goes along with the named one."""
        found: tuple[Transaction, ...] = await self._real.history(calendar, day=day, **query)
        named, self._named = self._named, None
        at = next((n for n, t in enumerate(found) if t.id == named), 0) if day is not None else 0
        return found[at:]


class NewestTransactionsOnly(ForwardingPort):
    """An undo looks at the newest transactions only, and takes what is older for nothing."""

    async def history(self, calendar: str | None, **query: Any) -> tuple[Transaction, ...]:
        found: tuple[Transaction, ...] = await self._real.history(calendar, **query)
        return found[:3]


class StrippedReads(ForwardingPort):
    """Reads that hide the person's additions to an event, beyond the fields that the program writes."""

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        return tuple(map(_bare, await self._real.window(start, end)))

    async def get(self, event_id: str) -> EventImage | None:
        image: EventImage | None = await self._real.get(event_id)
        return None if image is None else _bare(image)


def _bare(image: EventImage) -> EventImage:
    if image.marker is None:
        return image
    properties = {name: value for name, value in image.properties.items() if name.startswith("ff")}
    raw = {name: value for name, value in image.raw.items() if name not in OWN}
    return image.model_copy(update={"properties": properties, "raw": raw})


def _with(outside: CommitContext, calendar: Any = None, journal: Any = None) -> CommitContext:
    seen: Calendar = calendar or outside.calendar
    known: Journal = journal or outside.journal
    return CommitContext(seen, known, outside.clock, outside.sleep, outside.jitter, outside.limits)


def blind(outside: CommitContext, *, owner: str, new_id: Callable[[], str]) -> CalendarSubmitter:
    return CalendarSubmitter(_with(outside, BlindReads(outside.calendar)), owner=owner, new_id=new_id)


def no_marks(outside: CommitContext, *, owner: str, new_id: Callable[[], str]) -> CalendarSubmitter:
    return CalendarSubmitter(_with(outside, UnmarkedReads(outside.calendar)), owner=owner, new_id=new_id)


def prefix_only(outside: CommitContext, *, owner: str, new_id: Callable[[], str]) -> CalendarSubmitter:
    return CalendarSubmitter(_with(outside, PrefixOnly(outside.calendar)), owner=owner, new_id=new_id)


def forgetful(outside: CommitContext, *, owner: str, new_id: Callable[[], str]) -> CalendarSubmitter:
    return CalendarSubmitter(_with(outside, journal=ForgetfulJournal(outside.journal)), owner=owner, new_id=new_id)


def named_only(outside: CommitContext, *, owner: str, new_id: Callable[[], str]) -> CalendarSubmitter:
    return CalendarSubmitter(_with(outside, journal=NamedTransactionOnly(outside.journal)), owner=owner, new_id=new_id)


def shallow(outside: CommitContext, *, owner: str, new_id: Callable[[], str]) -> CalendarSubmitter:
    return CalendarSubmitter(
        _with(outside, journal=NewestTransactionsOnly(outside.journal)), owner=owner, new_id=new_id
    )


def bare(outside: CommitContext, *, owner: str, new_id: Callable[[], str]) -> CalendarSubmitter:
    return CalendarSubmitter(_with(outside, StrippedReads(outside.calendar)), owner=owner, new_id=new_id)


BROKEN: Sequence[tuple[Any, str]] = (
    (blind, "lost"),
    (no_marks, "duplicate"),
    (prefix_only, "foreign"),
    (forgetful, "duplicate"),
    (named_only, "blamed"),
    (shallow, "left"),
    (bare, "lost"),
)
"""Each with what it must be counted as."""
