r"""Translate constraint records into slots and numbers for the planned days (S10).

- *prefer_window*, and any wanted window: blocks lie within it. *avoid_window*, and any unwanted window: no block
touches it. ``duration_min`` and ``duration_max`` bound the length of a block.
- *fixed_bedtime*: its window is the night, and nothing is planned in it. *min_sleep*: nothing is planned in the
``duration_min`` minutes before the next day begins.
- *buffer*: ``duration_min`` minutes are kept free after each block of its types, and on both sides of meetings.
- *sequencing*: blocks of its types (or its tasks) come in the order listed; with the contiguity ``contiguous``, a
task is done in one piece.
- *capacity*: at least ``duration_min`` and at most ``duration_max`` minutes a day of its types, and at most
``count_max`` blocks.

A rule over the order of the day is followed as far as :mod:`fateforger.drafting.day_rules` can express it this way.
No event types means all blocks. A must is kept; a should or a preference may be broken, and is then reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from fateforger.constraints.kinds import WEEK, Necessity, RuleKind, Status, WindowKind
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.recurrence import occurs
from fateforger.drafting.axis import Axis, slot_range, window_slots
from fateforger.drafting.day_rules import express_record
from fateforger.drafting.instance import Told
from fateforger.drafting.minutes import GRID
from fateforger.plan import ET, zone

_MORNING = time(6, 0)


@dataclass(frozen=True, slots=True)
class PlannedDay:
    """A day on the axis: its frame, and all of its slots until the next day's."""

    date: date
    start: datetime
    end: datetime
    next_start: datetime
    frame: int
    slots: int


@dataclass(frozen=True, slots=True)
class SlotRule:
    """A constraint on the axis.

    ``on`` are the slots of the days on which it counts. ``wanted`` holds all slots when no window is wanted. Lengths
    are in slots; a missing bound is ``None``.
    """

    id: str
    necessity: Necessity
    kind: RuleKind | None
    words: str
    said_on: date | None
    assumed: bool
    confidence: float
    types: frozenset[ET]
    tasks: tuple[str, ...]
    on: int
    wanted: int
    avoided: int
    gap: int = 0
    around: int = 0
    least: int | None = None
    most: int | None = None
    count: int | None = None
    order: tuple[ET, ...] = ()
    whole: bool = False
    shortest: int | None = None
    longest: int | None = None
    stricter: bool = False
    """True when it is stricter than the stated rule.

    A draft treats it as a preference, and no violation is reported.
    """

    @property
    def must(self) -> bool:
        return self.necessity is Necessity.MUST

    def applies_to(self, kind: ET, task: str | None) -> bool:
        """Check whether the rule applies to blocks of a type, for a task."""
        return (not self.types or kind in self.types) and (not self.tasks or task in self.tasks)

    @property
    def closed_slots(self) -> int:
        """Slots closed to the blocks that the rule applies to."""
        return self.avoided | (self.on & ~self.wanted)

    @property
    def is_checkable(self) -> bool:
        """True when a plan can be checked against the rule."""
        numbers = (self.least, self.most, self.count, self.shortest, self.longest)
        return bool(
            self.closed_slots or self.gap or self.around or self.order or self.whole or len(self.tasks) > 1
        ) or any(n is not None for n in numbers)


def build_rules(told: Sequence[Told], days: Sequence[PlannedDay], axis: Axis, tz: str) -> tuple[SlotRule, ...]:
    """Return the constraints that count on at least one of the days and can be checked."""
    rules = (_rule(each, days, axis, tz) for each in told if each.constraint_record.status is not Status.DECLINED)
    return tuple(rule for rule in rules if rule.on and rule.is_checkable)


def applies_on(record: ConstraintRecord, day: date) -> bool:
    """Check whether a record applies to that day, by its dates, weekdays, and recurrence."""
    when = record.applicability
    if not when.within_dates(day) or (when.days_of_week and WEEK[day.weekday()] not in when.days_of_week):
        return False
    return when.recurrence is None or occurs(when.recurrence, when.start_date, day)


def _rule(told: Told, days: Sequence[PlannedDay], axis: Axis, tz: str) -> SlotRule:
    record = express_record(told.constraint_record)
    kind, numbers = record.payload.rule_kind, record.payload.scalar_params
    on = [day for day in days if applies_on(record, day.date)]
    wanted, avoided = _windows(record, on, axis, tz)
    least, most = _slots(numbers.duration_min, up=True), _slots(numbers.duration_max, up=False)
    count = (numbers.model_extra or {}).get("count_max")
    types = frozenset(record.applies_event_types)
    ours = types - {ET.MEETING}
    buffer = kind is RuleKind.BUFFER
    capacity = kind is RuleKind.CAPACITY
    sized = kind in {RuleKind.PREFER_WINDOW, RuleKind.AVOID_WINDOW, None}
    sequence = kind is RuleKind.SEQUENCING
    minutes = least if least is not None else most
    return SlotRule(
        id=told.id,
        necessity=record.necessity,
        kind=kind,
        words=record.words,
        said_on=told.said_on,
        assumed=record.status is Status.PROPOSED,
        confidence=1.0 if record.confidence is None else record.confidence,
        types=types,
        tasks=told.tasks,
        on=sum(day.slots for day in on),
        wanted=wanted,
        avoided=avoided,
        gap=minutes or 0 if buffer and (ours or not types) else 0,
        around=minutes or 0 if buffer and (ET.MEETING in types or not types) else 0,
        least=least if capacity else None,
        most=most if capacity else None,
        count=count if capacity and isinstance(count, int) and count >= 0 else None,
        order=record.applies_event_types if sequence and len(record.applies_event_types) > 1 else (),
        whole=sequence and numbers.contiguity == "contiguous",
        shortest=least if sized else None,
        longest=most if sized else None,
        stricter=sequence and record is not told.constraint_record,
    )


def _slots(minutes: int | None, *, up: bool) -> int | None:
    if minutes is None:
        return None
    return -(-minutes // GRID) if up else minutes // GRID


def _windows(record: ConstraintRecord, days: Sequence[PlannedDay], axis: Axis, tz: str) -> tuple[int, int]:
    """Return the wanted slots (all of them when no window is wanted) and the unwanted ones."""
    kind = record.payload.rule_kind
    if kind is RuleKind.MIN_SLEEP:
        return slot_range(0, axis.slots), _before_next_day(record, days, axis)
    local = zone(record.applicability.timezone or tz)
    wanted = avoided = 0
    named = False
    for day in days:
        for near in (-1, 0, 1):
            on = day.date + timedelta(days=near)
            for asks, begin, end in _clocks(record):
                if kind is RuleKind.FIXED_BEDTIME or asks is WindowKind.AVOID:
                    avoided |= window_slots(axis, on, begin, end, local, whole=False)
                else:
                    named, wanted = True, wanted | window_slots(axis, on, begin, end, local, whole=True)
    return wanted if named else slot_range(0, axis.slots), avoided & sum(day.slots for day in days)


def _clocks(record: ConstraintRecord) -> list[tuple[WindowKind, time, time]]:
    found = [(window.kind, window.start, window.end) for window in record.payload.windows]
    aspect = record.aspect
    if record.payload.rule_kind is RuleKind.FIXED_BEDTIME and not found and aspect and aspect.schedule_start:
        return [(WindowKind.AVOID, aspect.schedule_start, aspect.schedule_end or _MORNING)]
    return found


def _before_next_day(record: ConstraintRecord, days: Sequence[PlannedDay], axis: Axis) -> int:
    sleep = timedelta(minutes=record.payload.scalar_params.duration_min or 0)
    night = 0
    for day in days:
        night |= axis.slots_touching(day.next_start - sleep, day.next_start) & day.slots
    return night
