"""A calendar port in memory with Google's semantics, and everything that can go wrong on the way to it.

    fake = GoogleCalendarFake()
    fake.inject(LostAnswer(), at=3)                    # the fourth call of all takes effect, its answer is lost
    fake.inject(Answer(Limited(1.0)), verb="update")   # the next update is refused
    fake.inject(Race(lambda: fake.store.user_delete(an_id)), verb="write", nth=1)
    fake.store.user_edit(an_id, summary="Mine now")    # the person, in the calendar's own page

Faults fit every call: one that makes sense for writes only raises the matching error when it meets a read, so that
a sweep may put any fault at any position.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Self, TypeVar

from tests.fakes.google_store import EventInvalid, EventMissing, GoogleStore, IdTaken

from fateforger.calendar.directory import build_extras
from fateforger.calendar.event import EventImage
from fateforger.calendar.ports import (
    CalendarTraits,
    Create,
    Delete,
    Done,
    Exists,
    Gone,
    Limited,
    Outcome,
    Rejected,
    Stale,
    Unauthorized,
    Unknown,
    Update,
    Write,
    WriteKind,
)
from fateforger.errors import CalendarAuthFailed, CalendarError, CalendarReadOnly, CalendarUnreachable

Verb = Literal["window", "get", "create", "update", "delete"]
Where = Verb | Literal["any", "write", "read"]
When = Literal["before", "after"]
_WRITES = ("create", "update", "delete")
_ARGUMENTS: dict[WriteKind, tuple[str, ...]] = {
    "create": ("fields", "marker", "extras"),
    "update": ("changes", "marker", "expect"),
    "delete": ("expect",),
}
T = TypeVar("T")


# --- faults ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """The call has no effect and this is its answer: ``Unknown`` (failed before the effect), ``Limited``, ..."""

    outcome: Outcome


@dataclass(frozen=True)
class LostAnswer:
    """The call takes effect, and then its answer is lost."""


@dataclass(frozen=True)
class LateWrite:
    """The answer is lost first, and the write takes effect later: when ``calls`` more calls begin, before theirs."""

    calls: int = 1


@dataclass(frozen=True)
class CallFailure:
    """A read raises this. A write with this fault has no effect and answers ``Unknown``."""

    error: CalendarError = field(default_factory=lambda: CalendarUnreachable("The calendar does not answer."))


@dataclass(frozen=True)
class Crash:
    """The process dies: ``error`` is raised out of the call, before or after its effect."""

    error: BaseException
    when: When = "before"


@dataclass(frozen=True)
class Race:
    """A change by another client right before or right after the call takes effect."""

    hook: Callable[[], object]
    when: When = "before"


@dataclass(frozen=True)
class Status:
    """A request is answered with this status: instead of its effect, or ``after`` it. Only for adapters that make
    requests."""

    status: int
    retry_after: float | None = None
    after: bool = False


Fault = Answer | LostAnswer | LateWrite | CallFailure | Crash | Race | Status


# --- the port -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """One call as it came in, and what was answered: ``result`` is ``None`` while it runs or when it raised."""

    position: int
    verb: Verb
    event_id: str | None
    arguments: Mapping[str, Any]
    applied: bool = False
    result: object = None


@dataclass
class _Armed:
    fault: Fault
    at: int | None
    verb: Where
    skip: int

    def meets(self, position: int, verb: Verb) -> bool:
        """Check whether its call has come. Counts down the calls that it lets pass."""
        if self.at is not None:
            return self.at == position
        if self.verb not in ("any", verb, "write" if verb in _WRITES else "read"):
            return False
        self.skip -= 1
        return self.skip < 0


class GoogleCalendarFake:
    """The port over a :class:`GoogleStore`. ``calls`` is the record of all calls; ``most_at_once`` the highest
    number of them that were under way together."""

    def __init__(
        self, store: GoogleStore | None = None, *, key: str = "fake/primary", conditional_write: bool = False
    ) -> None:
        self.store = GoogleStore() if store is None else store
        self.calls: list[Call] = []
        self.most_at_once = 0
        self.closed = False
        self._key = key
        self._traits = CalendarTraits(conditional_write=conditional_write)
        self._armed: list[_Armed] = []
        self._late: list[tuple[int, Callable[[], object]]] = []
        self._under_way = 0

    @property
    def key(self) -> str:
        return self._key

    @property
    def traits(self) -> CalendarTraits:
        return self._traits

    def set_traits(self, traits: CalendarTraits) -> None:
        self._traits = traits

    def in_background(self) -> Self:
        return self

    @property
    def writes(self) -> list[Call]:
        """The calls that may change something."""
        return [call for call in self.calls if call.verb in _WRITES]

    def inject(self, fault: Fault, *, at: int | None = None, verb: Where = "any", nth: int = 0) -> None:
        """Let a call meet a fault: the one at position ``at`` of all calls (from 0), else the ``nth`` call of that
        ``verb`` from now on. Several faults may meet the same call; they act in the order they were given."""
        self._armed.append(_Armed(fault, at, verb, nth))

    def calm(self) -> None:
        """Forget all faults that did not happen yet, and let late writes land."""
        self._armed.clear()
        self._land(everything=True)

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        return await self._read("window", None, {"start": start, "end": end}, lambda: self.store.window(start, end))

    async def get(self, event_id: str) -> EventImage | None:
        return await self._read("get", event_id, {}, lambda: self.store.get(event_id))

    async def write(self, write: Write) -> Outcome:
        arguments = {name: getattr(write, name) for name in _ARGUMENTS[write.kind]}
        return await self._write(write.kind, write.event_id, arguments, lambda: self._carry_out(write))

    def _carry_out(self, write: Write) -> Outcome:
        try:
            if isinstance(write, Create):
                return self._insert(write)
            if refusal := self._refusal(write.event_id, write.expect, getattr(write, "seen", None)):
                return refusal
            if isinstance(write, Delete):
                self.store.cancel(write.event_id)
                return Done(None)
            return self._patch(write)
        except IdTaken:
            return Exists()
        except EventInvalid as reason:
            return Rejected(str(reason))

    def _insert(self, write: Create) -> Outcome:
        extras, marker = write.extras, write.marker
        properties = {**extras.properties, **marker.properties()}
        shared = {"extendedProperties": {"shared": dict(extras.shared_properties)}} if extras.shared_properties else {}
        return Done(self.store.insert(write.event_id, write.fields, properties, **build_extras(extras), **shared))

    def _patch(self, write: Update) -> Outcome:
        if write.changes and all(change == ("color_id", None) for change in write.changes.items()):
            return Rejected("This calendar can change a color but not take it away.")
        taken = {n: v for n, v in write.changes.items() if n != "color_id" or v is not None}
        return Done(self.store.patch(write.event_id, taken, write.marker.properties()))

    async def aclose(self) -> None:
        self.closed = True

    def _refusal(self, event_id: str, expect: str | None, seen: EventImage | None = None) -> Outcome | None:
        try:
            image = self.store.live(event_id)
        except EventMissing:
            return Gone()
        if seen is not None and not self._traits.conditional_write:
            image = seen  # without ETags there is no second look, and later changes go unnoticed
        foreign = image.series_id is not None or image.event_type != "default" or not image.organized_by_me
        if image.marker is None or foreign:
            return Rejected("The event is not one of ours.")
        if self._traits.conditional_write and expect is not None and expect != image.version:
            return Stale()
        return None

    # --- one call, with the faults it meets ---

    async def _read(self, verb: Verb, event_id: str | None, arguments: dict[str, Any], effect: Callable[[], T]) -> T:
        position, faults = await self._begin(verb, event_id, arguments)
        try:
            result: T | None = None
            for fault in faults:
                strike(fault, "before")
                if isinstance(fault, Answer | LostAnswer | LateWrite | CallFailure):
                    raise _read_error(fault)
            result = effect()
            for fault in faults:
                strike(fault, "after")
            return result
        finally:
            self._end(position, applied=False, result=result)

    async def _write(
        self, verb: Verb, event_id: str, arguments: dict[str, Any], effect: Callable[[], Outcome]
    ) -> Outcome:
        position, faults = await self._begin(verb, event_id, arguments)
        outcome: Outcome | None = None
        applied = False
        try:
            for fault in faults:
                strike(fault, "before")
                if isinstance(fault, Answer):
                    outcome = fault.outcome
                    return outcome
                if isinstance(fault, CallFailure):
                    outcome = Unknown(fault.error.message)
                    return outcome
                if isinstance(fault, LateWrite):
                    self._late.append((len(self.calls) + fault.calls, effect))
                    outcome = Unknown("The operation was aborted.")
                    return outcome
            outcome = effect()
            applied = isinstance(outcome, Done)
            for fault in faults:
                strike(fault, "after")
                if isinstance(fault, LostAnswer):
                    outcome = Unknown("The operation was aborted.")
            return outcome
        finally:
            self._end(position, applied=applied, result=outcome)

    async def _begin(self, verb: Verb, event_id: str | None, arguments: dict[str, Any]) -> tuple[int, list[Fault]]:
        position = len(self.calls)
        self.calls.append(Call(position, verb, event_id, arguments))
        self._land()
        met = [armed for armed in self._armed if armed.meets(position, verb)]
        self._armed = [armed for armed in self._armed if armed not in met]
        self._under_way += 1
        self.most_at_once = max(self.most_at_once, self._under_way)
        try:
            await asyncio.sleep(0)  # others get their turn here, as they would while a real call travels
        except BaseException:
            self._under_way -= 1
            raise
        return position, [armed.fault for armed in met]

    def _end(self, position: int, *, applied: bool, result: object) -> None:
        self._under_way -= 1
        call = self.calls[position]
        self.calls[position] = Call(position, call.verb, call.event_id, call.arguments, applied, result)

    def _land(self, *, everything: bool = False) -> None:
        due = [effect for position, effect in self._late if everything or position <= len(self.calls)]
        self._late = [late for late in self._late if late[1] not in due]
        for effect in due:
            effect()


def strike(fault: Fault, when: When) -> None:
    """Let a crash or a race happen, if its time has come."""
    if isinstance(fault, Crash) and fault.when == when:
        raise fault.error
    if isinstance(fault, Race) and fault.when == when:
        fault.hook()


def _read_error(fault: Fault) -> CalendarError:
    if isinstance(fault, CallFailure):
        return fault.error
    if isinstance(fault, Answer):
        if isinstance(fault.outcome, Unauthorized):
            return CalendarAuthFailed(fault.outcome.reason)
        if isinstance(fault.outcome, Rejected):
            return CalendarReadOnly(fault.outcome.reason)
        if isinstance(fault.outcome, Limited):
            return CalendarUnreachable("The calendar wants fewer requests.")
    return CalendarUnreachable("The calendar does not answer.")
