"""Context of an instance: its days, busy time, the past, and its constraints as slots and numbers (S10).

- *prefer_window*, and any wanted window: blocks lie within it. *avoid_window*, and any unwanted window: no block
touches it. ``duration_min`` and ``duration_max`` bound the length of a block.
- *fixed_bedtime*: its window is the night, and nothing is planned in it. *min_sleep*: nothing is planned in the
``duration_min`` minutes before the next day begins.
- *buffer*: ``duration_min`` minutes are kept free after each block of its types, and on both sides of meetings. If it
names tasks, it applies to these alone.
- *sequencing*: blocks of its types (or its tasks) come in the order listed; with the contiguity ``contiguous``, a
task is done in one piece.
- *capacity*: at least ``duration_min`` and at most ``duration_max`` minutes a day of its types, and at most
``count_max`` blocks.

In a rule over the order of the day, times, lengths, and counts translate exactly. An order translates to a stricter one
(all of one kind before all of the other), so a draft treats it as a preference; the rule's own judge decides once there
is a plan. Other rules of this kind do not affect a draft.

No event types means all blocks. A must is kept; a should or a preference may be broken, and is then reported.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from fateforger.drafting.axis import (
    Axis,
    PlannedDay,
    run_starts,
    slot_range,
    slots_of,
    spread,
    wall_instant,
    window_slots,
)
from fateforger.drafting.instance import Between, Immovable, Instance, Task, Told
from fateforger.drafting.policy import applies_on, policy_in_force
from fateforger.errors import BadInput
from fateforger.memory.record import ConstraintRecord, Payload, ScalarParams, Window
from fateforger.memory.settings import is_kept_by_policy
from fateforger.memory.vocabulary import Necessity, RuleKind, Status, WindowKind
from fateforger.planning.plan import ET, Resolved, resolve
from fateforger.planning.timing import GRID, ceil, floor, instant_of, zone
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace
from fateforger.workflow.day_rules import DayName, parse_day_name, read_day_rule
from fateforger.workflow.rules import Atom, Expression, Rule
from fateforger.workflow.rules import RuleKind as Kind

_DAY = timedelta(hours=24)
_MIDNIGHT = time()
_PLACED = frozenset({ET.DEEP_WORK, ET.SHALLOW_WORK, ET.PLAN_REVIEW, ET.HABIT})
"""Kinds of blocks whose order a draft chooses.

Meetings stay where they are, and breaks can lie anywhere.
"""


def express_record(record: ConstraintRecord) -> ConstraintRecord:
    """Return the record as a draft follows it.

    Only a record with a rule over the order of the day changes. The clock times of such a rule are in the planned
    day's zone.
    """
    if record.payload.day_rule is None:
        return record
    local = replace(record.applicability, timezone=None)
    followed = replace(record, applicability=local, **_changes(read_day_rule(record.payload.day_rule)))
    strict = followed.payload.rule_kind is RuleKind.SEQUENCING and record.necessity is Necessity.MUST
    return replace(followed, necessity=Necessity.SHOULD) if strict else followed


def _changes(rule: Rule) -> dict[str, Any]:
    match rule.kind:
        case Kind.NEVER:
            unwanted = _name(rule.target)
            return {} if unwanted is None else _forbid(unwanted)
        case Kind.BEFORE | Kind.AFTER:
            here, there = _name(rule.activation), _name(rule.target)
            if here is None or there is None or here.kind is None or there.kind is None:
                return {}
            return _require_order(here, there, first=rule.kind is Kind.AFTER)
        case _:
            return {}


def _name(expression: Expression | None) -> DayName | None:
    return parse_day_name(expression.name) if isinstance(expression, Atom) else None


def _forbid(name: DayName) -> dict[str, Any]:
    """Forbid a kind of block: altogether, at a time, or beyond a length."""
    if name.kind is None:
        return {}
    match name.aspect:
        case "after" if name.clock < _DAY:
            return _of(name.kind, RuleKind.AVOID_WINDOW, windows=(_window(_clock(name.clock), _MIDNIGHT),))
        case "before" if _clock(name.clock) > _MIDNIGHT:
            return _of(name.kind, RuleKind.AVOID_WINDOW, windows=(_window(_MIDNIGHT, _clock(name.clock)),))
        case "longer":
            return _of(name.kind, None, scalar_params=ScalarParams(duration_max=name.number))
        case "block":
            none = ScalarParams.model_validate({"count_max": 0})
            return _of(name.kind, RuleKind.CAPACITY, scalar_params=none)
        case _:
            return {}


def _require_order(here: DayName, there: DayName, *, first: bool) -> dict[str, Any]:
    """Require ``here`` before ``there`` if ``first``, else after it."""
    kinds = (here.kind, there.kind) if first else (there.kind, here.kind)
    if here.aspect != "block" or there.aspect not in {"block", "done"} or kinds[0] is kinds[1]:
        return {}
    if not set(kinds) <= _PLACED:
        return {}
    return {"payload": Payload(rule_kind=RuleKind.SEQUENCING), "applies_event_types": kinds}


def _of(kind: ET, rule_kind: RuleKind | None, **payload: Any) -> dict[str, Any]:
    return {"payload": Payload(rule_kind=rule_kind, **payload), "applies_event_types": (kind,)}


def _window(start: time, end: time) -> Window:
    return Window(kind=WindowKind.AVOID, start=start, end=end)


def _clock(since_midnight: timedelta) -> time:
    minutes = int(since_midnight.total_seconds()) // 60 % (24 * 60)
    return time(minutes // 60, minutes % 60)


_MORNING = time(6, 0)


@dataclass(frozen=True, slots=True)
class DailyLimits:
    """Limits per day, in slots and in blocks; a missing one is ``None``."""

    least: int | None = None
    most: int | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class SlotRule:
    """A constraint on the axis.

    ``on`` are the slots of the days on which it counts, ``closed`` those closed to the blocks that it applies to.
    Lengths are in slots; a missing bound is ``None``. ``stricter`` marks a rule that is stricter than the stated one: a
    draft treats it as a preference, and no violation is reported.
    """

    told: Told
    necessity: Necessity
    types: frozenset[ET]
    on: int
    closed: int
    gap: int = 0
    around: int = 0
    daily: DailyLimits = DailyLimits()
    order: tuple[ET, ...] = ()
    task_order: tuple[str, ...] = ()
    whole: bool = False
    shortest: int | None = None
    longest: int | None = None
    stricter: bool = False

    @property
    def id(self) -> str:
        return self.told.id

    @property
    def words(self) -> str:
        return self.told.constraint_record.words

    @property
    def must(self) -> bool:
        return self.necessity is Necessity.MUST

    def applies_to(self, kind: ET, task: str | None) -> bool:
        """Check whether the rule applies to blocks of a type, for a task."""
        tasks = self.told.tasks
        return (not self.types or kind in self.types) and (not tasks or task in tasks)

    def slots_near_meetings(self, context: DraftContext, task: str | None) -> int:
        """Return the slots that the rule keeps clear of a task on both sides of meetings."""
        if not self.around or (self.told.tasks and task not in self.told.tasks):
            return 0
        return context.near_meetings(self.around) & self.on

    @property
    def is_checkable(self) -> bool:
        """True when a plan can be checked against the rule."""
        return (
            bool(self.closed or self.gap or self.around or self.order or self.whole or len(self.told.tasks) > 1)
            or self.daily != DailyLimits()
            or self.shortest is not None
            or self.longest is not None
        )


def build_rules(told: Sequence[Told], days: Sequence[PlannedDay], axis: Axis, tz: str) -> tuple[SlotRule, ...]:
    """Return the constraints that count on at least one of the days and can be checked."""
    records = ((each, each.constraint_record) for each in told)
    kept = (each for each, record in records if record.status is not Status.DECLINED and not is_kept_by_policy(record))
    rules = (_rule(each, days, axis, tz) for each in kept)
    return tuple(rule for rule in rules if rule.on and rule.is_checkable)


def _rule(told: Told, days: Sequence[PlannedDay], axis: Axis, tz: str) -> SlotRule:
    record = express_record(told.constraint_record)
    kind, numbers = record.payload.rule_kind, record.payload.scalar_params
    on = [day for day in days if applies_on(record, day.date)]
    least, most = _slots(numbers.duration_min, up=True), _slots(numbers.duration_max, up=False)
    count = (numbers.model_extra or {}).get("count_max")
    types = frozenset(record.applies_event_types)
    buffer = kind is RuleKind.BUFFER
    sized = kind in {RuleKind.PREFER_WINDOW, RuleKind.AVOID_WINDOW, None}
    sequence = kind is RuleKind.SEQUENCING
    order = record.applies_event_types if sequence and len(record.applies_event_types) > 1 else ()
    room = (least if least is not None else most) or 0
    return SlotRule(
        told,
        record.necessity,
        types,
        on=sum(day.slots for day in on),
        closed=_closed_slots(record, on, axis, tz),
        gap=room if buffer and types != {ET.MEETING} else 0,
        around=room if buffer and (ET.MEETING in types or not types) else 0,
        daily=DailyLimits(least, most, count if isinstance(count, int) and count >= 0 else None)
        if kind is RuleKind.CAPACITY
        else DailyLimits(),
        order=order,
        task_order=told.tasks if sequence and not order else (),
        whole=sequence and numbers.contiguity == "contiguous",
        shortest=least if sized else None,
        longest=most if sized else None,
        stricter=sequence and record is not told.constraint_record,
    )


def _slots(minutes: int | None, *, up: bool) -> int | None:
    if minutes is None:
        return None
    return -(-minutes // GRID) if up else minutes // GRID


def _closed_slots(record: ConstraintRecord, days: Sequence[PlannedDay], axis: Axis, tz: str) -> int:
    """Return the slots of those days outside of wanted windows, if any, and those in unwanted ones."""
    kind = record.payload.rule_kind
    if kind is RuleKind.MIN_SLEEP:
        return _before_next_day(record, days, axis)
    local = zone(record.applicability.timezone or tz)
    within = sum(day.slots for day in days)
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
    return within & (avoided | ~wanted if named else avoided)


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


_NIGHT = timedelta(hours=12)
_LATE = timedelta(hours=18)
_SMALL_HOURS = time(6, 0)
MARGIN = 24
"""Slots added before the first frame and after the last one, for what is near their edges."""


@dataclass(frozen=True, slots=True)
class Occupied:
    """An immovable entry on the axis.

    ``late`` marks a commute that collides with another event.
    """

    id: str
    title: str
    kind: ET
    start: datetime
    end: datetime
    mask: int
    late: bool = False


@dataclass(frozen=True, slots=True)
class DraftContext:
    """The fixed parts of a day.

    ``events`` take time. ``ways`` are the commutes, which become blocks. ``past`` are the blocks of the previous plan
    that began before now. ``free`` are the slots in frames that nothing takes.
    """

    instance: Instance
    axis: Axis
    days: tuple[PlannedDay, ...]
    now: datetime | None
    events: tuple[Occupied, ...]
    ways: tuple[Occupied, ...]
    past: tuple[Resolved, ...]
    previous: tuple[Resolved, ...]
    busy: int
    free: int
    rules: tuple[SlotRule, ...]
    mending: bool = False
    """True when the tasks are the blocks of a plan to be repaired with as few moves as possible."""

    def rules_in_force(self, in_force: Container[str]) -> tuple[SlotRule, ...]:
        """Return the rules without the musts that are not among those ids."""
        return tuple(rule for rule in self.rules if not rule.must or rule.id in in_force)

    def near_meetings(self, slots: int) -> int:
        """Return the slots within that many slots of a meeting, without the meetings."""
        near = within = 0
        for event in self.events:
            if event.kind is ET.MEETING:
                within |= event.mask
                for n in range(slots + 1):
                    near |= event.mask << n | event.mask >> n
        return near & ~within

    def after_meeting_rows(self, slots: int) -> int:
        """Return the slots within that many slots after two or more meetings in a row."""
        after = rows = 0
        end = 0
        for event in sorted(self.events, key=lambda e: (e.start, e.end)):
            if event.kind is not ET.MEETING:
                continue
            first, last = (event.mask & -event.mask).bit_length() - 1, event.mask.bit_length()
            rows = rows + 1 if rows and first - end < slots else 1
            end = max(end, last) if rows > 1 else last
            after |= slot_range(end, end + slots) if rows > 1 else 0
        return after

    def windows(self, windows: Sequence[Between]) -> int:
        """Return the slots inside of windows that recur each day."""
        mask = 0
        for day in self.days:
            for near in (-1, 0, 1):
                for each in windows:
                    mask |= window_slots(
                        self.axis,
                        day.date + timedelta(days=near),
                        each.start,
                        each.end,
                        zone(self.instance.tz),
                        whole=True,
                    )
        return mask

    def best_hours(self, task: Task) -> int:
        """Return the slots that the person named for a task, or for deep work; all if they named none."""
        windows = task.energy or (self.instance.policy.focus if task.type is ET.DEEP_WORK else ())
        return self.windows(windows) if windows else -1

    def limits(self, task: Task) -> int:
        """Return the slots between the earliest start and the deadline of a task."""
        allowed = slot_range(0, self.axis.slots)
        if task.not_before is not None:
            start = self.instant(task.not_before)
            first = self.axis.slot(start)
            allowed &= ~slot_range(0, first if self.axis.when(first) == start else first + 1)
        if task.deadline is not None:
            allowed &= slot_range(0, self.axis.slot(self.instant(task.deadline)))
        return allowed

    def open_to(self, kind: ET, task: str | None = None) -> int:
        """Return the free slots that no must closes to a kind of block."""
        closed = 0
        for rule in self.rules:
            closed |= rule.closed if rule.must and rule.applies_to(kind, task) else 0
        return self.free & ~closed

    def late_starts(self, task: Task) -> int:
        """Return, for each day, the starts in the second half of the time that a task could have."""
        late = 0
        allowed = self.open_to(task.type, task.id) & self.limits(task)
        shortest = -(-min(task.min_chunk, task.length(self.instance.policy)) // GRID)
        for day in self.days:
            usable = allowed & day.slots & self.best_hours(task) or allowed & day.slots
            usable = spread(run_starts(usable, shortest), shortest)
            half = usable.bit_count() // 2
            begin = next((slot for early, slot in enumerate(slots_of(usable)) if early > half), None)
            late |= 0 if begin is None else day.slots & ~slot_range(0, begin)
        return late

    def instant(self, clock: time | datetime) -> datetime:
        """Return a clock value of the instance as an instant, in UTC."""
        return _instant(self.instance, clock)


def build_context(instance: Instance, margin: int = MARGIN) -> DraftContext:
    """Compute the fixed parts of an instance, with so many slots before its first frame and after its last.

    Raises :class:`BadInput` for a frame that ends before it starts or is longer than 36 hours, and ``PlanInvalid``
    for a broken previous plan.
    """
    instance = replace(instance, policy=policy_in_force(instance.policy, instance.constraints, instance.date))
    now = None if instance.now is None else _instant(instance, instance.now)
    frames = [_frame(instance, number) for number in range(instance.days)]
    axis, days = _days(instance, frames, now, margin)
    events = tuple(_events(instance, axis))
    taken = 0
    for event in events:
        taken |= event.mask
    ways = tuple(_commutes(instance, axis, taken))
    blocks = () if instance.previous is None else resolve(instance.previous)
    past = tuple(b for b in blocks if now is not None and b.start.astimezone(UTC) < now)
    for each in ways:
        taken |= 0 if each.late else each.mask
    for block in past:
        taken |= axis.slots_touching(block.start, block.end)
    free = 0
    for day in days:
        free |= day.frame
    return DraftContext(
        instance=instance,
        axis=axis,
        days=days,
        now=now,
        events=events,
        ways=ways,
        past=past,
        previous=tuple(b for b in blocks if b not in past),
        busy=taken,
        free=free & ~taken,
        rules=build_rules(instance.constraints, days, axis, instance.tz),
    )


def _instant(instance: Instance, clock: time | datetime) -> datetime:
    local = clock if isinstance(clock, datetime) else datetime.combine(instance.date, clock)
    return instant_of(local, zone(instance.tz)).astimezone(UTC)


def _on_day(instance: Instance, clock: time | datetime, number: int) -> datetime:
    """Shift a clock value of the first day to day ``number``, in UTC."""
    if isinstance(clock, time):
        return wall_instant(instance.date + timedelta(days=number), clock, zone(instance.tz))
    if number == 0:
        return _instant(instance, clock)
    local = instant_of(clock, zone(instance.tz)).replace(tzinfo=None) + timedelta(days=number)
    return instant_of(local, zone(instance.tz)).astimezone(UTC)


ENDS_FIRST = mark_message("The day ends before it starts; choose an end after the start.")


def _frame(instance: Instance, number: int) -> tuple[datetime, datetime, datetime]:
    """Return start and end of a day's frame, and the start of the day after it."""
    frame = instance.frame
    start, end = _on_day(instance, frame.start, number), _on_day(instance, frame.end, number)
    if end <= start and isinstance(frame.end, time):
        end = _on_day(instance, frame.end, number + 1)
        if end - start > (_LATE if frame.end <= _SMALL_HOURS else _NIGHT):
            raise BadInput(_(ENDS_FIRST), where="frame.end")
    if end <= start:
        raise BadInput(_(ENDS_FIRST), where="frame.end")
    if end - start > timedelta(hours=36):
        raise BadInput(_("The day is longer than 36 hours, which no day is."), where="frame.end")
    return start, end, _on_day(instance, frame.start if frame.next_start is None else frame.next_start, number + 1)


def _days(
    instance: Instance, frames: list[tuple[datetime, datetime, datetime]], now: datetime | None, margin: int
) -> tuple[Axis, tuple[PlannedDay, ...]]:
    tz = zone(instance.tz)
    midnights = [wall_instant(instance.date + timedelta(days=n), time(), tz) for n in range(instance.days + 1)]
    first = min(floor(midnights[0]), floor(frames[0][0])) - margin * GRID
    last = max(ceil(midnights[-1]), ceil(frames[-1][1])) + margin * GRID
    axis = Axis(first, (last - first) // GRID)
    behind = 0 if now is None else slot_range(0, -(-(ceil(now) - first) // GRID))
    days: list[PlannedDay] = []
    at = 0
    for number, (start, end, next_start) in enumerate(frames):
        until = axis.slots
        if number + 1 < len(frames):
            until = max(axis.slot(midnights[number + 1]), -(-(ceil(end) - first) // GRID))
        frame = axis.slots_within(start, end) & slot_range(at, until)
        day = instance.date + timedelta(days=number)
        days.append(PlannedDay(day, start, end, next_start, frame & ~behind, slot_range(at, until)))
        at = until
    return axis, tuple(days)


def _events(instance: Instance, axis: Axis) -> Iterator[Occupied]:
    for number, event in enumerate(instance.immovables, 1):
        if not event.busy or event.type is ET.BACKGROUND:
            continue
        start, end = _times(instance, event)
        mask = axis.slots_touching(start, end)
        if mask:
            yield Occupied(event.id or f"event-{number}", event.title, event.type, start, end, mask)


def _times(instance: Instance, event: Immovable) -> tuple[datetime, datetime]:
    if event.all_day:
        tz = zone(instance.tz)
        first = event.start.date() if isinstance(event.start, datetime) else instance.date
        last = event.end.date() if isinstance(event.end, datetime) else first
        return wall_instant(first, time(), tz), wall_instant(max(last, _next(first)), time(), tz)
    assert event.start is not None  # noqa: S101  the value has been checked; for the type checker
    assert event.end is not None  # noqa: S101  as above
    start, end = _instant(instance, event.start), _instant(instance, event.end)
    if end < start and isinstance(event.end, time):
        end = _instant(instance, datetime.combine(_next(instance.date), event.end))
    return start, end


def _next(day: date) -> date:
    return day + timedelta(days=1)


def _commutes(instance: Instance, axis: Axis, taken: int) -> Iterator[Occupied]:
    """Yield the commutes; one that another event collides with is marked as late."""
    if not instance.policy.commute:
        return
    for number, event in enumerate(instance.immovables, 1):
        if not event.busy or event.type is ET.BACKGROUND or event.all_day:
            continue
        start, end = _times(instance, event)
        name = event.id or f"event-{number}"
        for side, minutes in (("to", event.commute_before), ("from", event.commute_after)):
            if minutes:
                way = timedelta(minutes=minutes)
                begin, finish = (start - way, start) if side == "to" else (end, end + way)
                mask = axis.slots_touching(begin, finish) & ~axis.slots_touching(start, end)
                title = (
                    _("Way to {title}", title=event.title) if side == "to" else _("Way from {title}", title=event.title)
                )
                late = bool(mask & taken)
                yield Occupied(f"way-{side}-{name}"[:64], title, ET.COMMUTE, begin, finish, mask, late=late)
                taken |= 0 if late else mask


def must_ids(context: DraftContext) -> tuple[str, ...]:
    """Return the ids of all musts: rules, then required tasks, then pinned blocks."""
    rules = (rule.id for rule in context.rules if rule.must)
    tasks = (task.id for task in context.instance.tasks if task.required)
    return (*rules, *tasks, *(pin.key for pin in context.instance.pinned))
