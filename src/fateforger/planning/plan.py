"""Plan of one day: its blocks in order, and their resolution to instants.

These are the only plan models that a language model ever sees (S111).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Self, assert_never
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, field_validator, model_validator

from fateforger.errors import PlanInvalid
from fateforger.limits import MAX_DESCRIPTION_CHARS, MAX_ID_CHARS, MAX_PLAN_EVENTS, MAX_TITLE_CHARS
from fateforger.planning.timing import (
    AfterPrevious,
    BeforeNext,
    Clock,
    FixedStart,
    FixedWindow,
    PlanDate,
    Timing,
    instant_of,
    is_anchored,
    second_reading,
    zone,
)
from fateforger.text import gettext, mark_message, quote_title
from fateforger.values import Value, replace


class ET(StrEnum):
    """What a block is for. The values are the codes on the wire."""

    MEETING = "M"
    COMMUTE = "C"
    DEEP_WORK = "DW"
    SHALLOW_WORK = "SW"
    PLAN_REVIEW = "PR"
    HABIT = "H"
    REGENERATION = "R"
    BUFFER = "BU"
    BACKGROUND = "BG"

    @property
    def words(self) -> str:
        """Name of the type for people."""
        return gettext(_TYPE_WORDS[self])

    @property
    def block_words(self) -> str:
        """Name of a block of the type for people."""
        words = _BLOCK_WORDS.get(self)
        return self.words if words is None else gettext(words)


_TYPE_WORDS = {
    ET.MEETING: mark_message("meeting"),
    ET.COMMUTE: mark_message("commute"),
    ET.DEEP_WORK: mark_message("deep work"),
    ET.SHALLOW_WORK: mark_message("shallow work"),
    ET.PLAN_REVIEW: mark_message("plan review"),
    ET.HABIT: mark_message("habit"),
    ET.REGENERATION: mark_message("regeneration"),
    ET.BUFFER: mark_message("buffer"),
    ET.BACKGROUND: mark_message("background"),
}
_BLOCK_WORDS = {ET.REGENERATION: mark_message("break"), ET.HABIT: mark_message("personal")}
"""Words for types that also cover other blocks: errands and the children's bedtime are not habits."""
WORK = frozenset({ET.DEEP_WORK, ET.SHALLOW_WORK})
"""Types of blocks that are work of the person's own."""


COLOR_BY_TYPE: dict[ET, str] = {
    ET.MEETING: "6",
    ET.COMMUTE: "4",
    ET.DEEP_WORK: "9",
    ET.SHALLOW_WORK: "8",
    ET.PLAN_REVIEW: "10",
    ET.HABIT: "7",
    ET.REGENERATION: "2",
    ET.BUFFER: "5",
    ET.BACKGROUND: "1",
}
"""Google Calendar ``colorId`` of each type."""

_TYPE_BY_COLOR = {color: et for et, color in COLOR_BY_TYPE.items()}


def type_of_color(color_id: str | None) -> ET:
    """Return the type for a ``colorId``; an unknown or missing color means a meeting."""
    return _TYPE_BY_COLOR.get(color_id or "", ET.MEETING)


class TBEvent(Value):
    """One block. ``key`` names it for good, whatever happens to its name, place or time."""

    name: str = Field(alias="n", min_length=1, max_length=MAX_TITLE_CHARS, description="Title")
    description: str = Field("", alias="d", max_length=MAX_DESCRIPTION_CHARS, description="Notes")
    type: ET = Field(alias="t", description="Event type code")
    timing: Timing = Field(alias="p", description="When it happens")
    key: str | None = Field(None, min_length=1, max_length=MAX_ID_CHARS, description="Stable name of the block")

    @model_validator(mode="after")
    def _require_background_time(self) -> Self:
        if self.type is ET.BACKGROUND and not is_anchored(self.timing):
            raise ValueError(f"“{self.name}” is a background block and needs a fixed start (fs) or window (fw)")
        if not self.name.strip():
            raise ValueError("a block needs a title")
        return self

    @property
    def block_key(self) -> str:
        """Key of the block.

        Blocks inside a :class:`TBPlan` always have one; others raise ``ValueError``.
        """
        if self.key is None:
            raise ValueError(f"“{self.name}” is not part of a plan yet, so it has no key")
        return self.key


class TBPlan(Value):
    """The blocks of one local day in one IANA zone. Blocks without a key are given one on the way in.

    Raises pydantic's ``ValidationError``; ``read_plan`` turns it into one sentence.
    """

    date: PlanDate
    tz: Annotated[str, AfterValidator(lambda name: zone(name).key)]
    events: tuple[TBEvent, ...] = Field((), max_length=MAX_PLAN_EVENTS)

    @field_validator("events")
    @classmethod
    def _require_unique_keys(cls, events: tuple[TBEvent, ...]) -> tuple[TBEvent, ...]:
        keys = [e.key for e in events if e.key is not None]
        if len(set(keys)) != len(keys):
            twice = next(k for k in keys if keys.count(k) > 1)
            raise ValueError(f"two blocks have the key “{twice}”; each block needs its own")
        return with_keys(events)

    @cached_property
    def zone(self) -> ZoneInfo:
        return zone(self.tz)

    @cached_property
    def resolved(self) -> tuple[Resolved, ...]:
        """The blocks on the time line, as :func:`resolve` returns them."""
        return _resolve(self)

    def position(self, key: str) -> int:
        """Return the list index of the block with that key.

        Raises ``KeyError``.
        """
        for index, event in enumerate(self.events):
            if event.key == key:
                return index
        raise KeyError(key)

    def block(self, key: str) -> TBEvent:
        """Return the block with that key.

        Raises ``KeyError``.
        """
        return self.events[self.position(key)]

    def replace(self, events: Iterable[TBEvent]) -> TBPlan:
        """Return a plan of the same day with other blocks."""
        return TBPlan(date=self.date, tz=self.tz, events=tuple(events))


def with_keys(events: Iterable[TBEvent], taken: Iterable[str] = ()) -> tuple[TBEvent, ...]:
    """Give each block without a key one that is derived from its content.

    The same input always gets the same keys. No key in ``taken`` is used.
    """
    events = tuple(events)
    used: set[str] = {e.key for e in events if e.key is not None}.union(taken)
    keyed: list[TBEvent] = []
    tried: dict[str, int] = {}
    for event in events:
        if event.key is not None:
            keyed.append(event)
            continue
        key = _fresh_key(event, used, tried)
        used.add(key)
        keyed.append(replace(event, key=key))
    return tuple(keyed)


def _fresh_key(event: TBEvent, used: set[str], tried: dict[str, int]) -> str:
    """Return a key that is not used; ``tried`` counts the keys tried for each content, none of which is free."""
    content = event.model_dump_json(by_alias=True, exclude={"key"})
    while True:
        attempt = tried.get(content, 0)
        tried[content] = attempt + 1
        digest = hashlib.sha1(f"{content}|{attempt}".encode(), usedforsecurity=False).digest()
        key = base64.b32hexencode(digest)[:10].decode().lower()
        if key not in used:
            return key


LONGEST_NIGHT = timedelta(hours=12)
"""Longest window that may end on the next day.

A window whose end is earlier than its start ends on the next day if that keeps it within this limit: 23:00-07:00 is a
night, 14:00-13:00 is a mistake.
"""


@dataclass(frozen=True)
class Resolved:
    """A block on the time line.

    ``start`` and ``end`` are aware, in the plan's zone, and ``end > start``.
    """

    index: int
    key: str
    event: TBEvent
    start: datetime
    end: datetime

    @cached_property
    def duration(self) -> timedelta:
        """Elapsed time, which a change of the clock does not affect."""
        return self.end.astimezone(UTC) - self.start.astimezone(UTC)

    @cached_property
    def minutes(self) -> int:
        """Elapsed minutes, rounded down."""
        return int(self.duration.total_seconds() // 60)


def resolve(plan: TBPlan) -> tuple[Resolved, ...]:
    """Resolve each block to instants, in the plan's order.

    Background blocks neither push other blocks nor are pushed. Overlaps are not checked: see :func:`overlaps`.

    Raises :class:`PlanInvalid` when a block depends on a neighbor that does not exist, or ends before it starts.
    """
    return plan.resolved


def _resolve(plan: TBPlan) -> tuple[Resolved, ...]:
    _require_anchor(plan)
    spans: dict[int, tuple[datetime, datetime]] = {}
    chain = [i for i, e in enumerate(plan.events) if e.type is not ET.BACKGROUND]
    for index, event in enumerate(plan.events):
        if event.type is ET.BACKGROUND:
            spans[index] = _anchored_span(plan, index, event)
    _resolve_forward(plan, chain, spans)
    _resolve_backward(plan, chain, spans)
    return tuple(Resolved(i, e.block_key, e, *spans[i]) for i, e in enumerate(plan.events))


def _require_anchor(plan: TBPlan) -> None:
    chain = [i for i, e in enumerate(plan.events) if e.type is not ET.BACKGROUND]
    if chain and not any(is_anchored(plan.events[i].timing) for i in chain):
        raise PlanInvalid(
            gettext(
                "No block has a fixed time, so nothing says when the day starts; give one a start (fs) or window (fw)."
            ),
            events=tuple(chain),
        )


def _resolve_forward(plan: TBPlan, chain: Sequence[int], spans: dict[int, tuple[datetime, datetime]]) -> None:
    """Resolve fixed blocks and blocks that follow a predecessor.

    A run of ``bn`` blocks is left for :func:`_resolve_backward`. A block that follows such a run raises
    :class:`PlanInvalid`.
    """
    previous: tuple[datetime, datetime] | None = None
    for place, index in enumerate(chain):
        event = plan.events[index]
        timing = event.timing
        if isinstance(timing, BeforeNext):
            previous = None
            continue
        if isinstance(timing, AfterPrevious):
            if place == 0:
                raise PlanInvalid(
                    gettext(
                        "{title} follows the previous block, but it is the first one.", title=quote_title(event.name)
                    ),
                    events=(index,),
                )
            if previous is None:
                raise PlanInvalid(
                    gettext(
                        "{title} follows {other}, which itself waits for what comes next;"
                        " give one of them a fixed time.",
                        title=quote_title(event.name),
                        other=quote_title(plan.events[chain[place - 1]].name),
                    ),
                    events=(chain[place - 1], index),
                )
            span = previous[1], _add_elapsed(previous[1], timing.duration)
        else:
            span = _anchored_span(plan, index, event)
        spans[index] = previous = span


def _resolve_backward(plan: TBPlan, chain: Sequence[int], spans: dict[int, tuple[datetime, datetime]]) -> None:
    following: tuple[datetime, datetime] | None = None
    for index in reversed(chain):
        event = plan.events[index]
        if isinstance(event.timing, BeforeNext):
            if following is None:
                raise PlanInvalid(
                    gettext("{title} ends at the next block, but it is the last one.", title=quote_title(event.name)),
                    events=(index,),
                )
            spans[index] = _add_elapsed(following[0], -event.timing.duration), following[0]
        following = spans[index]


def _anchored_span(plan: TBPlan, index: int, event: TBEvent) -> tuple[datetime, datetime]:
    match event.timing:
        case FixedStart(start=start, duration=duration):
            begin = instant_of(_on_day(start, plan.date), plan.zone)
            return begin, _add_elapsed(begin, duration)
        case FixedWindow(start=start, end=end):
            return _window(plan, index, event.name, start, end)
        case AfterPrevious() | BeforeNext():
            raise AssertionError("only anchored timings come here")
        case _:
            assert_never(event.timing)


def _window(plan: TBPlan, index: int, name: str, start: Clock, end: Clock) -> tuple[datetime, datetime]:
    tz = plan.zone
    begin = instant_of(_on_day(start, plan.date), tz)
    wall_end = _on_day(end, begin.date() if isinstance(start, datetime) else plan.date)
    finish = instant_of(wall_end, tz)
    if not _is_before(begin, finish):
        finish = _next_reading(begin, wall_end, end, tz) or finish
    if not _is_before(begin, finish):
        raise PlanInvalid(
            gettext(
                "{title} ends at {end:%H:%M}, which is not after its start at {start:%H:%M}.",
                title=quote_title(name),
                end=finish,
                start=begin,
            ),
            events=(index,),
        )
    return begin, finish


def _next_reading(begin: datetime, wall_end: datetime, end: Clock, tz: ZoneInfo) -> datetime | None:
    """Return a later instant that the same end can mean, or ``None``.

    This is the second pass of a repeated hour, or the next morning.
    """
    second = second_reading(wall_end, tz)
    if second is not None and _is_before(begin, second):
        return second
    if isinstance(end, datetime):
        return None
    tomorrow = instant_of(wall_end + timedelta(days=1), tz)
    return tomorrow if tomorrow.astimezone(UTC) - begin.astimezone(UTC) <= LONGEST_NIGHT else None


def _on_day(clock: Clock, day: date) -> datetime:
    return datetime.combine(day, clock) if isinstance(clock, time) else clock


def _add_elapsed(instant: datetime, duration: timedelta) -> datetime:
    """Add elapsed time on the time line, not on the wall clock."""
    return (instant.astimezone(UTC) + duration).astimezone(instant.tzinfo)


def _is_before(a: datetime, b: datetime) -> bool:
    """Compare two instants.

    Python compares datetimes of one zone by wall clock.
    """
    return a.astimezone(UTC) < b.astimezone(UTC)


def overlaps(resolved: Sequence[Resolved]) -> tuple[tuple[Resolved, Resolved], ...]:
    """Return the pairs of blocks that share time, the earlier block first.

    Background blocks may overlap anything.
    """
    chain = sorted(
        (r for r in resolved if r.event.type is not ET.BACKGROUND), key=lambda r: (r.start.astimezone(UTC), r.index)
    )
    pairs: list[tuple[Resolved, Resolved]] = []
    running: list[Resolved] = []
    for block in chain:
        running = [r for r in running if _is_before(block.start, r.end)]
        pairs.extend((r, block) for r in running)
        running.append(block)
    return tuple(pairs)


def resolve_strict(plan: TBPlan) -> tuple[Resolved, ...]:
    """Resolve a plan and refuse one in which two blocks share time (S67).

    Raises :class:`PlanInvalid`.
    """
    resolved = resolve(plan)
    for first, second in overlaps(resolved):
        raise PlanInvalid(overlap_sentence(first, second), events=(first.index, second.index))
    return resolved


def overlap_sentence(first: Resolved, second: Resolved) -> str:
    """Describe an overlap with its times, for a person."""
    return gettext(
        "{title} starts at {start:%H:%M}, but {other} runs until {end:%H:%M}.",
        title=quote_title(second.event.name),
        start=second.start,
        other=quote_title(first.event.name),
        end=first.end,
    )
