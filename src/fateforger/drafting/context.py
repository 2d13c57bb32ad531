"""Context of an instance: its days, busy time, the past, the rules, and the ids of its musts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from fateforger.drafting.axis import GRID, Axis, ceil, floor, slot_range, wall_instant
from fateforger.drafting.instance import Immovable, Instance, Task
from fateforger.drafting.rules import PlannedDay, SlotRule, build_rules
from fateforger.errors import BadInput
from fateforger.planning.plan import ET, Resolved, resolve
from fateforger.planning.timing import instant_of, zone

_NIGHT = timedelta(hours=12)
_LATE = timedelta(hours=18)
_SMALL_HOURS = time(6, 0)
_MARGIN = 24
"""Slots added before the first frame and after the last one, for what is near their edges."""


@dataclass(frozen=True, slots=True)
class Occupied:
    """An immovable entry on the axis.

    ``way`` marks a commute, ``late`` one that collides with another event.
    """

    id: str
    title: str
    kind: ET
    start: datetime
    end: datetime
    mask: int
    way: bool = False
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

    def instant(self, clock: time | datetime) -> datetime:
        """Return a clock value of the instance as an instant, in UTC."""
        return _instant(self.instance, clock)


def build_context(instance: Instance) -> DraftContext:
    """Compute the fixed parts of an instance.

    Raises :class:`BadInput` for a frame that ends before it starts or is longer than 36 hours, and ``PlanInvalid``
    for a broken previous plan.
    """
    now = None if instance.now is None else _instant(instance, instance.now)
    frames = [_frame(instance, number) for number in range(instance.days)]
    axis, days = _days(instance, frames, now)
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


def _frame(instance: Instance, number: int) -> tuple[datetime, datetime, datetime]:
    """Return start and end of a day's frame, and the start of the day after it."""
    frame = instance.frame
    start, end = _on_day(instance, frame.start, number), _on_day(instance, frame.end, number)
    if end <= start and isinstance(frame.end, time):
        end = _on_day(instance, frame.end, number + 1)
        if end - start > (_LATE if frame.end <= _SMALL_HOURS else _NIGHT):
            raise BadInput("The frame ends before it starts; choose an end after the start.", where="frame.end")
    if end <= start:
        raise BadInput("The frame ends before it starts; choose an end after the start.", where="frame.end")
    if end - start > timedelta(hours=36):
        raise BadInput("The frame is longer than 36 hours, which no day is.", where="frame.end")
    return start, end, _on_day(instance, frame.start if frame.next_start is None else frame.next_start, number + 1)


def _days(
    instance: Instance, frames: list[tuple[datetime, datetime, datetime]], now: datetime | None
) -> tuple[Axis, tuple[PlannedDay, ...]]:
    tz = zone(instance.tz)
    midnights = [wall_instant(instance.date + timedelta(days=n), time(), tz) for n in range(instance.days + 1)]
    first = min(floor(midnights[0]), floor(frames[0][0])) - _MARGIN * GRID
    last = max(ceil(midnights[-1]), ceil(frames[-1][1])) + _MARGIN * GRID
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
                title = f"Way {side} {event.title}"[:300]
                late = bool(mask & taken)
                yield Occupied(f"way-{side}-{name}"[:64], title, ET.COMMUTE, begin, finish, mask, way=True, late=late)
                taken |= 0 if late else mask


USUAL_DEEP = 60
USUAL_SHALLOW = 30
LUNCH = "lunch"
SHUTDOWN = "shutdown"


def must_ids(ground: DraftContext) -> tuple[str, ...]:
    """Return the ids of all musts: rules, then required tasks, then pinned blocks."""
    rules = (rule.id for rule in ground.rules if rule.must)
    tasks = (task.id for task in ground.instance.tasks if task.required)
    return (*rules, *tasks, *(pin.key for pin in ground.instance.pinned))


def minutes_of(task: Task, block: int) -> int:
    """Return the length of a task: its minutes, its blocks, or the usual length (S106)."""
    if task.minutes is not None:
        return task.minutes
    if task.blocks is not None:
        return task.blocks * block
    return USUAL_DEEP if task.type is ET.DEEP_WORK else USUAL_SHALLOW


def is_shutdown(key: str) -> bool:
    """Check whether a key or an id is that of the shutdown."""
    return key.startswith(f"{SHUTDOWN}-")


def task_of(key: str, tasks: Iterable[str]) -> str | None:
    """Return the task that a block key belongs to, or ``None``.

    A key is the task's id, optionally with the number of the piece.
    """
    ids = set(tasks)
    if key in ids:
        return key
    stem, _, number = key.rpartition("-")
    return stem if stem in ids and number.isdigit() else None
