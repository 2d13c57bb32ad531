"""Details of a task besides its title and its length, and tasks as blocks: their keys, usual lengths and retiming."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    StringConstraints,
    TypeAdapter,
    model_validator,
)

from fateforger.errors import validate
from fateforger.limits import (
    MAX_BOX_ITEMS,
    MAX_ID_CHARS,
    MAX_LABEL_CHARS,
    MAX_MINUTES,
    MAX_NOTES_CHARS,
    MAX_QUERY_CHARS,
    MAX_TASK_PEOPLE,
    MAX_TASK_PREDECESSORS,
    MAX_TITLE_CHARS,
)
from fateforger.planning.patch import UpdateBlock, apply_op
from fateforger.planning.plan import ET, Resolved, TBPlan, resolve
from fateforger.planning.timing import (
    FixedStart,
    ceil,
    clock_at,
    instant,
    is_anchored,
    on_grid,
    read_clock,
    write_clock,
    zone,
)
from fateforger.text import format_day, format_length, gettext, join_words, mark_message
from fateforger.values import Value, replace, replace_named

LUNCH = "lunch"
SHUTDOWN = "shutdown"
WAY = "way-"
WAY_TO = f"{WAY}to-"
WAY_FROM = f"{WAY}from-"
"""Beginnings of the keys of travel: to and from an event or a task, whose id follows."""
USUAL_DEEP = 60
USUAL_SHALLOW = 30
"""Minutes of deep and of shallow work whose length is open (S106)."""


def is_lunch(key: str) -> bool:
    """Check whether a key or an id is that of a lunch break."""
    return key.startswith(f"{LUNCH}-")


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


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """Place of a block: an aware start, and elapsed time."""

    start: datetime
    duration: timedelta

    @property
    def end(self) -> datetime:
        return self.start.astimezone(UTC) + self.duration


def place_of(block: Resolved) -> BlockPlace:
    """Return the current place of a block, in UTC."""
    return BlockPlace(block.start.astimezone(UTC), block.duration)


def to_timing(place: BlockPlace, plan: TBPlan) -> FixedStart:
    """Return a place as the timing of a block.

    Raises pydantic's ``ValidationError`` for one that no block can have.
    """
    return FixedStart(start=clock_at(place.start, plan.date, plan.tz), duration=place.duration)


def retime_blocks(plan: TBPlan, places: Mapping[str, BlockPlace]) -> tuple[UpdateBlock, ...]:
    """Return the ops that put blocks of ``plan`` at these places, by key.

    A block that depends on a neighbor is fixed at its current time, so that nothing else moves. A block that is
    already at its place gets no op.
    """
    updates = []
    for block in resolve(plan):
        now = place_of(block)
        place = places.get(block.key, now)
        leans = not is_anchored(block.event.timing) and block.event.type is not ET.BACKGROUND
        if place != now or leans:
            updates.append(UpdateBlock(key=block.key, timing=to_timing(place, plan)))
    return tuple(updates)


def follow_ways(before: TBPlan, after: TBPlan) -> TBPlan:
    """Return ``after`` with the way to and from a block moved as far as that block was, and gone where it is gone.

    A way that was moved itself stays where it was put.
    """
    if not any(event.block_key.startswith(WAY) for event in after.events):
        return after
    was, now = ({block.key: block for block in resolve(plan)} for plan in (before, after))
    places: dict[str, BlockPlace] = {}
    lost = set()
    for key, way in now.items():
        prefix = next((each for each in (WAY_TO, WAY_FROM) if key.startswith(each)), None)
        target = None if prefix is None else was.get(key.removeprefix(prefix))
        if target is None or key not in was or place_of(was[key]) != place_of(way):
            continue
        if target.key not in now:
            lost.add(key)
            continue
        there = now[target.key]
        by = there.start - target.start if prefix == WAY_TO else there.end - target.end
        if by:
            places[key] = BlockPlace(way.start + by, way.duration)
    events = after.replace(event for event in after.events if event.block_key not in lost).events
    for op in retime_blocks(after, places) if places else ():
        events, _ = apply_op(events, op)
    return after.replace(events)


def fix_starts(plan: TBPlan) -> TBPlan:
    """Return the plan with each block at its own fixed start."""
    return plan.replace(
        replace(block.event, timing=to_timing(BlockPlace(block.start, block.duration), plan)) for block in resolve(plan)
    )


def with_length(plan: TBPlan, key: str, minutes: int) -> TBPlan:
    """Return the plan with that block at another length, and each block at a fixed start."""
    return _with_timing(plan, key, duration=timedelta(minutes=minutes))


def start_at(plan: TBPlan, key: str, start: datetime) -> TBPlan:
    """Return the plan with that block at another start, even if it overlaps others there."""
    return _with_timing(plan, key, start=clock_at(start.astimezone(zone(plan.tz)), plan.date, plan.tz))


def _with_timing(plan: TBPlan, key: str, **changes: Any) -> TBPlan:
    return plan.replace(
        replace(event, timing=replace_named(event.timing, changes)) if event.key == key else event
        for event in fix_starts(plan).events
    )


def keys_before(plan: TBPlan, now: datetime) -> tuple[str, ...]:
    """Return the keys of movable blocks that begin before ``now``, in time order.

    Meetings and background blocks do not count.
    """
    early = [b for b in resolve(plan) if b.start.astimezone(UTC) < now.astimezone(UTC)]
    early = [b for b in early if b.event.type not in {ET.BACKGROUND, ET.MEETING}]
    return tuple(b.key for b in sorted(early, key=lambda b: (b.start.astimezone(UTC), b.index)))


def start_from(plan: TBPlan, keys: Iterable[str], now: datetime) -> TBPlan:
    """Return the plan with those blocks one after the other from ``now`` on.

    They start on the grid and may overlap others.
    """
    lengths = {block.key: block.minutes for block in resolve(plan)}
    start = instant(ceil(now))
    for key in keys:
        plan = start_at(plan, key, start)
        start += timedelta(minutes=on_grid(lengths[key]))
    return plan


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_LABEL_CHARS)]
Clock = Annotated[time, BeforeValidator(read_clock), PlainSerializer(write_clock, return_type=str)]
"""Local time of day."""


class TaskKind(StrEnum):
    """Kind of a task. Only ``deep`` and ``shallow`` tasks are work."""

    DEEP = "deep"
    SHALLOW = "shallow"
    HABIT = "habit"
    ERRAND = "errand"
    MEAL = "meal"
    FAMILY = "family"
    REST = "rest"

    @property
    def type(self) -> ET:
        """Type of the blocks of such a task."""
        return _TYPES.get(self, ET.HABIT)

    @property
    def words(self) -> str:
        """Name in a word."""
        return gettext(_KIND_WORDS[self])

    @property
    def stays_open(self) -> bool:
        """True if such a task is still to be done when its day is over: a meal or a rest is past then."""
        return self in {TaskKind.DEEP, TaskKind.SHALLOW, TaskKind.ERRAND}

    @property
    def usual_minutes(self) -> int:
        """Minutes of such a task whose length is open (S106)."""
        return USUAL_DEEP if self is TaskKind.DEEP else USUAL_SHALLOW


_TYPES = {
    TaskKind.DEEP: ET.DEEP_WORK,
    TaskKind.SHALLOW: ET.SHALLOW_WORK,
    TaskKind.MEAL: ET.REGENERATION,
    TaskKind.REST: ET.REGENERATION,
}

_KIND_WORDS = {
    TaskKind.DEEP: mark_message("deep"),
    TaskKind.SHALLOW: mark_message("shallow"),
    TaskKind.HABIT: mark_message("habit"),
    TaskKind.ERRAND: mark_message("errand"),
    TaskKind.MEAL: mark_message("meal"),
    TaskKind.FAMILY: mark_message("family"),
    TaskKind.REST: mark_message("rest"),
}
KINDS: Mapping[TaskKind, str] = {
    TaskKind.DEEP: mark_message("Deep: needs undisturbed attention"),
    TaskKind.SHALLOW: mark_message("Shallow: can be done in between"),
    TaskKind.HABIT: mark_message("Habit: sport, reading, practice"),
    TaskKind.ERRAND: mark_message("Errand: out and about, or at home"),
    TaskKind.MEAL: mark_message("Meal"),
    TaskKind.FAMILY: mark_message("Family and friends"),
    TaskKind.REST: mark_message("Rest"),
}
"""Labels of the kinds."""


def kind_of_type(kind: ET) -> TaskKind:
    """Return the kind of task that a block of that type comes from."""
    found = {ET.DEEP_WORK: TaskKind.DEEP, ET.HABIT: TaskKind.HABIT, ET.REGENERATION: TaskKind.REST}
    return found.get(kind, TaskKind.SHALLOW)


class BestTime(StrEnum):
    """Part of the day in which a task is best done."""

    MORNING = "morning"
    AFTER_LUNCH = "after_lunch"
    EVENING = "evening"


BEST_TIMES: Mapping[BestTime, str] = {
    BestTime.MORNING: mark_message("in the morning"),
    BestTime.AFTER_LUNCH: mark_message("after lunch"),
    BestTime.EVENING: mark_message("in the evening"),
}
"""Names of the parts of the day."""


class Travel(Value):
    """Place of a task, and the minutes of the way there; the way back takes as long."""

    place: Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_QUERY_CHARS)] = ""
    minutes: int = Field(0, ge=0, le=240)

    @model_validator(mode="after")
    def _require_content(self) -> Self:
        if not self.place and not self.minutes:
            raise ValueError("a way needs a place, or the minutes that it takes")
        return self


class BoxItem(Value):
    """A small task in a box; with an id, minutes and notes if it was a task of its own before."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TITLE_CHARS)]
    done: bool = False
    id: str = Field("", max_length=MAX_ID_CHARS)
    minutes: int | None = Field(None, gt=0, le=MAX_MINUTES)
    notes: str = Field("", max_length=MAX_NOTES_CHARS)


class TaskDetails(Value):
    """Details of a task.

    ``at`` is its start. It is ``due`` on a day, to the end of it unless there is a time; a time alone counts on the
    planned day. It begins no earlier than ``from``: on any day at that time if there is no day. ``priority`` is that of
    the queue, 0 first; without one the order of the list decides. ``after`` are the ids of tasks to do before.
    ``splittable`` left open means deep work of an hour or more. With ``items`` the task is a box of small tasks.
    """

    kind: TaskKind = TaskKind.DEEP
    at: Clock | None = None
    due_day: date | None = None
    due_time: Clock | None = None
    from_day: date | None = None
    from_time: Clock | None = None
    best: BestTime | None = None
    priority: int | None = Field(None, ge=0, le=4)
    people: tuple[Name, ...] = Field((), max_length=MAX_TASK_PEOPLE)
    travel: Travel | None = None
    splittable: bool | None = None
    after: tuple[Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)], ...] = Field(
        (), max_length=MAX_TASK_PREDECESSORS
    )
    items: tuple[BoxItem, ...] = Field((), max_length=MAX_BOX_ITEMS)

    @model_validator(mode="after")
    def _require_consistency(self) -> Self:
        problem = find_contradiction(self)
        if problem is not None:
            raise ValueError(problem)
        return self

    def allow_pieces(self) -> Self:
        """Return the details of a task that may be done in pieces."""
        return replace(self, splittable=True)

    def move_to(self, day: date) -> Self:
        """Return the details of a task that the person keeps for a day: not before it, and not due before it."""
        moved = replace(self, from_day=day, from_time=self.from_time if self.from_day is None else None)
        if self.due_day is not None and self.due_day < day:
            return replace(moved, due_day=day, due_time=None)
        return moved

    def allow_on(self, day: date) -> Self:
        """Return the details of a task that the person does on a day, though it was not before a later one."""
        return self if self.from_day is None or self.from_day <= day else replace(self, from_day=None, from_time=None)

    def with_days_of(self, other: TaskDetails) -> Self:
        """Return the details with the first and the due day, and their times, of another task."""
        return replace(
            self,
            from_day=other.from_day,
            from_time=other.from_time,
            due_day=other.due_day,
            due_time=other.due_time,
        )


def find_contradiction(details: TaskDetails) -> str | None:
    """Return a sentence on two details that exclude each other, or ``None``."""
    at, due_day, due_time = details.at, details.due_day, details.due_time
    from_day, from_time = details.from_day, details.from_time
    if due_day is not None and from_day is not None and due_day < from_day:
        return gettext("it is due before it may begin; choose a later due day, or an earlier first day")
    same_day = from_day is None or due_day is None or from_day == due_day
    if due_time is not None and from_time is not None and same_day and due_time <= from_time:
        return gettext("it is due before it may begin; choose a later due time, or an earlier start")
    if at is not None and from_time is not None and at < from_time:
        return gettext("it starts before it may begin; leave out one of the two times")
    if at is not None and due_time is not None and due_day is None and due_time <= at:
        return gettext("it is due before it starts; choose a later due time")
    return None


PLAIN = TaskDetails()
"""Details of a task of which nothing is said."""
SHORTEST_DEEP = 60
"""Minutes from which a task counts as deep work, unless the person says otherwise."""


def usual_details(minutes: int | None) -> TaskDetails:
    """Return the details of a task of which at most the length is known: a short task does not count as deep work."""
    short = minutes is not None and minutes < SHORTEST_DEEP
    return TaskDetails(kind=TaskKind.SHALLOW) if short else PLAIN


def read_depth(document: Any) -> Any:
    """Return a task stored by earlier versions, with its ``depth`` and ``in_pieces`` among its details."""
    if not isinstance(document, Mapping) or document.keys().isdisjoint({"depth", "in_pieces"}):
        return document
    rest = {name: value for name, value in document.items() if name not in {"depth", "in_pieces"}}
    stored = {"kind": document.get("depth") or TaskKind.DEEP}
    if document.get("in_pieces"):
        stored["splittable"] = True
    return {"details": stored, **rest}


def read_day(document: Any) -> Any:
    """Return a task of the queue as earlier versions stored it, with the day of its work among its details."""
    work = document.get("work") if isinstance(document, Mapping) else None
    if not isinstance(work, Mapping) or "day" not in work:
        return document
    rest = {name: value for name, value in work.items() if name != "day"}
    if work["day"] is None:
        return {**document, "work": rest}
    details = TaskDetails.model_validate(document.get("details") or {})
    return {**document, "work": rest, "details": details.move_to(_DAY.validate_python(work["day"]))}


_DAY: TypeAdapter[date] = TypeAdapter(date)


def change_details(said: Mapping[str, Any], before: TaskDetails = PLAIN) -> TaskDetails:
    """Return the details with what a person says: fields by name; ``None`` takes what was said before away.

    The way is said as ``place`` and ``travel_minutes``, items by their titles. Raises ``BadInput``.
    """
    way = before.travel.model_dump() if before.travel is not None else {"place": "", "minutes": 0}
    way |= {name: said[key] or way_default for name, key, way_default in _WAY if key in said}
    known = {item.title: item for item in before.items}
    fields: dict[str, Any] = {name: getattr(before, name) for name in TaskDetails.model_fields}
    fields |= {name: value for name, value in said.items() if name in fields and value is not None}
    for name in said.keys() & fields.keys():
        if said[name] is None:
            del fields[name]
    fields["travel"] = way if any(way.values()) else None
    if said.get("items") is not None:
        fields["items"] = [known.get(title) or {"title": title} for title in said["items"]]
    return validate(TaskDetails, fields)


_WAY = (("place", "place", ""), ("minutes", "travel_minutes", 0))


def describe_due(details: TaskDetails) -> str:
    """Return when a task is due, as in :func:`list_facts`; empty if that is not said."""
    return "".join(_format_limit(_DUE, details.due_day, details.due_time))


def list_facts(details: TaskDetails) -> tuple[str, ...]:
    """Return the details in a few words each, without the kind: ``at 14:00``, ``due on Friday 6 March``."""
    return tuple(_facts(details))


def _facts(details: TaskDetails) -> Iterator[str]:
    if details.at is not None:
        yield gettext("at {time}", time=f"{details.at:%H:%M}")
    yield from _format_limit(_DUE, details.due_day, details.due_time)
    yield from _format_limit(_EARLIEST, details.from_day, details.from_time)
    if details.best is not None:
        yield gettext("best {part}", part=gettext(BEST_TIMES[details.best]))
    if details.people:
        yield gettext("with {people}", people=join_words(details.people))
    if details.travel is not None:
        yield _format_travel(details.travel)
    if details.splittable is not None:
        yield gettext("in pieces") if details.splittable else gettext("in one piece")
    if details.items:
        yield gettext("{done} of {count} done", done=sum(i.done for i in details.items), count=len(details.items))


def format_items(items: Sequence[BoxItem], separator: str = "\n") -> str:
    """Return the list of a box, each small task with a box that is ticked once it is done."""
    return separator.join(f"{'☑' if item.done else '☐'} {item.title}" for item in items)


_DUE = (
    mark_message("due {day} at {time:%H:%M}"),
    mark_message("due {day}"),
    mark_message("due at {time:%H:%M}"),
)
_EARLIEST = (
    mark_message("not before {day} at {time:%H:%M}"),
    mark_message("not before {day}"),
    mark_message("not before {time:%H:%M}"),
)


def _format_limit(words: tuple[str, str, str], day: date | None, clock: time | None) -> Iterator[str]:
    """Yield a limit in words for a day with a time, a day, or a time; nothing if there is neither."""
    day_and_time, only_day, only_time = words
    if day is not None and clock is not None:
        yield gettext(day_and_time, day=format_day(day), time=clock)
    elif day is not None:
        yield gettext(only_day, day=format_day(day))
    elif clock is not None:
        yield gettext(only_time, time=clock)


def _format_travel(travel: Travel) -> str:
    if not travel.minutes:
        return gettext("at {place}", place=travel.place)
    length = format_length(travel.minutes)
    if not travel.place:
        return gettext("{length} each way", length=length)
    return gettext("{place}, {length} each way", place=travel.place, length=length)


def find_circle(after: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Return tasks of which each comes after the next and the last after the first, or nothing.

    ``after`` maps a task to those that it comes after.
    """
    try:
        TopologicalSorter(after).prepare()
    except CycleError as error:
        return tuple(reversed(error.args[1][1:]))
    return ()
