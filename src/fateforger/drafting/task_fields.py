"""Details of a task as fields of the engine's task, on a day with its zone and frame."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from typing import Any

from fateforger.drafting.context import build_context
from fateforger.drafting.instance import Between, Instance, Task
from fateforger.planning.plan import ET, WORK
from fateforger.planning.task_details import BestTime, TaskDetails
from fateforger.planning.timing import instant_of, zone
from fateforger.values import replace, replace_named

_FAR = timedelta(days=8)
"""Days and deadlines farther away than the longest instance make no difference to it."""
_BEST = {
    BestTime.MORNING: Between(start=time(5), end=time(12)),
    BestTime.AFTER_LUNCH: Between(start=time(12, 30), end=time(17)),
    BestTime.EVENING: Between(start=time(18), end=time(23, 30)),
}
_LAST_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class TaskDay:
    """Day of a task: its date and zone, and the aware ends of its frame."""

    date: Date
    tz: str
    start: datetime
    end: datetime

    def instant(self, clock: time, day: Date | None = None) -> datetime:
        """Return a time of day as an instant.

        Without a day it is on this one, or in the night after it if the frame reaches there and begins later.
        """
        local = zone(self.tz)
        when = instant_of(datetime.combine(day or self.date, clock), local).astimezone(UTC)
        if day is None and when < self.start.astimezone(UTC):
            later = instant_of(datetime.combine(self.date + timedelta(days=1), clock), local).astimezone(UTC)
            if later < self.end.astimezone(UTC):
                return later
        return when


def task_fields(details: TaskDetails, day: TaskDay, known: Collection[str]) -> dict[str, Any]:
    """Return the fields of an engine's task that the details decide.

    ``known`` are the ids of the tasks of the day; others need not be waited for. An overdue task has no deadline any
    more, and comes first.
    """
    overdue = details.due_day is not None and details.due_day < day.date
    fields: dict[str, Any] = {
        "type": details.kind.type,
        "after": tuple(each for each in details.after if each in known),
        "energy": () if details.best is None else (_hours_of(details.best, details.kind.type, day),),
    }
    if details.at is not None:
        fields["start"] = day.instant(details.at)
    if not overdue and (deadline := _deadline(details, day)) is not None:
        fields["deadline"] = deadline
    if (earliest := _earliest(details, day)) is not None:
        fields["not_before"] = earliest
    if details.travel is not None:
        fields["travel"] = details.travel.minutes
    if details.splittable is not None:
        fields["splittable"] = details.splittable
    if details.priority is not None:
        fields["priority"] = details.priority + 1
    elif overdue or details.at is not None:
        fields["priority"] = 1
    return fields


def with_details(task: Task, details: TaskDetails, day: TaskDay, known: Collection[str]) -> Task:
    """Return the engine's task with those details."""
    return replace_named(task, task_fields(details, day, known))


def apply_details(instance: Instance) -> Instance:
    """Return the instance with the details of its tasks as fields of the engine; what they leave open stays."""
    if not any(task.details for task in instance.tasks):
        return instance
    (first, *_) = build_context(replace(instance, tasks=())).days
    day = TaskDay(instance.date, instance.tz, first.start, first.end)
    known = {task.id for task in instance.tasks}
    return replace(instance, tasks=tuple(_apply(task, day, known) for task in instance.tasks))


def _apply(task: Task, day: TaskDay, known: Collection[str]) -> Task:
    details = task.details
    if details is None:
        return task
    fields = task_fields(details, day, known)
    open_ = {"type"} if "kind" not in details.model_fields_set else set()
    open_ |= {name for name in ("after", "energy") if not fields[name]}
    return replace_named(task, {name: value for name, value in fields.items() if name not in open_})


def _hours_of(best: BestTime, kind: ET, day: TaskDay) -> Between:
    """Return the hours of a part of the day; work in the evening is no later than the last hour of the frame."""
    hours = _BEST[best]
    latest = (day.end.astimezone(UTC) - _LAST_HOUR).astimezone(zone(day.tz))
    if best is BestTime.EVENING and kind in WORK and latest.date() == day.date and latest.time() < hours.start:
        return replace(hours, start=latest.time().replace(second=0, microsecond=0))
    return hours


def _deadline(details: TaskDetails, day: TaskDay) -> datetime | None:
    if details.due_day is None:
        return None if details.due_time is None else day.instant(details.due_time)
    if details.due_day - day.date > _FAR:
        return None
    if details.due_time is not None:
        return day.instant(details.due_time, None if details.due_day == day.date else details.due_day)
    return max(day.instant(time(), details.due_day + timedelta(days=1)), day.end.astimezone(UTC))


def _earliest(details: TaskDetails, day: TaskDay) -> datetime | None:
    if details.from_day is None or details.from_day <= day.date:
        begun = details.from_day is not None and details.from_day < day.date
        return None if details.from_time is None or begun else day.instant(details.from_time)
    return day.instant(details.from_time or time(), min(details.from_day, day.date + _FAR))
