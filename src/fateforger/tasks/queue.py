"""Order of the queue: by priority, then by rank; additions and moves (S157-S160, S167).

Pure functions; the stores select in the same order. A task that is moved among tasks of another priority takes on that
priority, so it stays where the person put it; the confirmation says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from fateforger.errors import BadInput, InternalError
from fateforger.planning.task_details import describe_due
from fateforger.tasks.task import (
    ENDED,
    PRIORITIES,
    STATES,
    Do,
    Origin,
    QueuedTask,
    TaskSpec,
    TaskState,
    describe_reminder,
)
from fateforger.text import format_day, format_length, join_sentences, join_words, quote_title
from fateforger.text import gettext as _
from fateforger.values import replace


def sort_key(task: QueuedTask) -> tuple[int, int, str]:
    return task.spec.priority, task.rank, task.id


def blockers(task: QueuedTask, tasks: Iterable[QueuedTask]) -> tuple[QueuedTask, ...]:
    """Return the tasks that must be done before this one.

    ``tasks`` are all of the person's. A stopped task still blocks: the person has to decide about what depends on it.
    """
    return tuple(t for t in tasks if t.id in task.blocked_by and t.state is not TaskState.DONE)


def sort_tasks(tasks: Iterable[QueuedTask]) -> tuple[QueuedTask, ...]:
    """Sort the tasks as the person sees the queue."""
    return tuple(sorted(tasks, key=sort_key))


def is_for_later(task: QueuedTask, today: date | None) -> bool:
    """Check whether a task is kept for a day after ``today``."""
    first = task.spec.details.from_day
    return first is not None and today is not None and first > today


def ready_tasks(tasks: Sequence[QueuedTask], today: date | None = None) -> tuple[QueuedTask, ...]:
    """Return the tasks that can be pulled, the next one first; ``today`` leaves out those kept for a later day.

    ``tasks`` are all of the person's.
    """
    ready = (t for t in tasks if t.state is TaskState.ACTIVE and not blockers(t, tasks))
    return sort_tasks(t for t in ready if not is_for_later(t, today))


def describe_facts(
    task: QueuedTask,
    tasks: Iterable[QueuedTask],
    today: date,
    name: Callable[[QueuedTask], str] = lambda first: quote_title(first.spec.title),
) -> tuple[str, ...]:
    """Return the facts that a list shows of a task: its state, length and dates, in a few words each.

    What a task waits for (by its ``name``), or the later day that it is kept for, replaces the state “ready”.
    ``tasks`` are all of the person's.
    """
    details, at = task.spec.details, task.spec.remind_at
    first = blockers(task, tasks) if task.state is TaskState.ACTIVE else ()
    kept = _("for {day}", day=format_day(details.from_day)) if details.from_day and is_for_later(task, today) else ""
    after = _("after {names}", names=join_words(map(name, first), 1)) if first else ""
    state = "" if task.state is TaskState.ACTIVE and (kept or after) else _(STATES[task.state])
    length = task.spec.work.minutes if isinstance(task.spec.work, Do) else None
    lasts = "" if length is None else format_length(length)
    starts = "" if details.at is None else _("at {time}", time=f"{details.at:%H:%M}")
    due = describe_due_by(task, today)
    reminder = "" if at is None else f"⏰ {describe_reminder(at)}"
    return tuple(filter(None, (state, after, kept, lasts, starts, due, reminder)))


def describe_due_by(task: QueuedTask, today: date) -> str:
    """Return when a task is due, with a mark if that has passed; empty if it has no due time."""
    due, day = describe_due(task.spec.details), task.spec.details.due_day
    return _("⚠️ {due}, and not done", due=due) if day is not None and day < today else due


SPACE = 1_000_000
"""Distance between newly assigned ranks: one second."""


QueuePlace = Literal["first", "last", "up", "down", "before"]
"""A place in the queue: either end, one place up or down, or before another task."""


def move_task(
    tasks: Sequence[QueuedTask], task_id: str, where: QueuePlace, *, before: str | None = None
) -> tuple[QueuedTask, ...]:
    """Return the tasks that change when one is moved.

    ``tasks`` are all of the person's that have not ended. Raises :class:`BadInput` when the task is not in the queue,
    or is at that place already.
    """
    queue = [task for task in sort_tasks(tasks) if task.state not in ENDED]
    at = _place(queue, task_id)
    to = _target(queue, at, where, before)
    task, others = queue[at], [*queue[:at], *queue[at + 1 :]]
    above = others[to - 1] if to else None
    below = others[to] if to < len(others) else None
    least = 0 if above is None else above.spec.priority
    most = max(PRIORITIES) if below is None else below.spec.priority
    priority = min(max(task.spec.priority, least), most)
    task = replace(task, spec=replace(task.spec, priority=priority))
    rank = _between(
        above.rank if above is not None and above.spec.priority == priority else None,
        below.rank if below is not None and below.spec.priority == priority else None,
        task.rank,
    )
    if rank is not None:
        return (replace(task, rank=rank),)
    return _spread([*others[:to], task, *others[to:]], priority)


def describe_move(before: QueuedTask, tasks: Sequence[QueuedTask]) -> str:
    """Describe a task's new place in the queue.

    ``before`` is the task as it was.
    """
    queue = [task for task in sort_tasks(tasks) if task.state not in ENDED]
    at = _place(queue, before.id)
    task = queue[at]
    title = quote_title(task.spec.title)
    if at == 0:
        said = _("{title} is first now.", title=title)
    elif at == len(queue) - 1:
        said = _("{title} is last now.", title=title)
    else:
        said = _("{title} is number {place} of {count} now.", title=title, place=at + 1, count=len(queue))
    if task.spec.priority == before.spec.priority:
        return said
    word = _(PRIORITIES[task.spec.priority])
    more = _("That makes its priority “{word}”, like that of the task next to it.", word=word)
    return join_sentences(said, more)


def _place(queue: Sequence[QueuedTask], task_id: str) -> int:
    for at, task in enumerate(queue):
        if task.id == task_id:
            return at
    raise BadInput(_("There is no task {id} in the queue that could be moved.", id=task_id), where="id")


def _target(queue: Sequence[QueuedTask], at: int, where: QueuePlace, before: str | None) -> int:
    """Return the index among the other tasks."""
    task, last = queue[at], len(queue) - 1
    if where == "before":
        if before is None or before == task.id:
            raise BadInput(
                _("Name another task that {title} shall come before.", title=quote_title(task.spec.title)),
                where="before",
            )
        other = _place(queue, before)
        to = other - 1 if other > at else other
        if to == at:
            after = quote_title(queue[other].spec.title)
            raise BadInput(
                _("{title} comes right before {other} already.", title=quote_title(task.spec.title), other=after),
                where="before",
            )
        return to
    to = {"first": 0, "last": last, "up": at - 1, "down": at + 1}[where]
    if to == at or not 0 <= to <= last:
        title = quote_title(task.spec.title)
        first = to <= 0 and where in {"first", "up"}
        raise BadInput(
            _("{title} is first already.", title=title) if first else _("{title} is last already.", title=title),
            where="place",
        )
    return to


def _between(above: int | None, below: int | None, own: int) -> int | None:
    """Return a rank between two others, or ``None`` without room.

    The task's own rank stays if it fits.
    """
    if (above is None or above < own) and (below is None or own < below):
        return own
    if above is None:
        return None if below is None else below - SPACE
    if below is None:
        return above + SPACE
    return (above + below) // 2 if below - above > 1 else None


def _spread(queue: Sequence[QueuedTask], priority: int) -> tuple[QueuedTask, ...]:
    """Return the tasks of that priority in this order, with evenly spaced ranks."""
    same = [task for task in queue if task.spec.priority == priority]
    first = min(task.rank for task in same)
    return tuple(replace(task, rank=first + place * SPACE) for place, task in enumerate(same))


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_AT_FIRST = frozenset({TaskState.ACTIVE, TaskState.PAUSED})


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to put into the queue.

    ``key`` names it among the tasks added with it. ``goal`` and ``blocked_by`` are such keys, or ids of tasks that
    exist already.
    """

    spec: TaskSpec
    origin: Origin
    key: str = ""
    goal: str | None = None
    blocked_by: tuple[str, ...] = ()
    state: TaskState = field(default=TaskState.ACTIVE)
    """``active``, or ``paused`` for a task that must not be pulled yet."""


def enter_tasks(
    new: Sequence[NewTask], ids: Sequence[str], *, user_id: str, there: Collection[str], highest: int, now: datetime
) -> tuple[QueuedTask, ...]:
    """Return the new tasks of ``user_id``, in the given order, after all existing ones.

    ``ids`` are their ids, ``there`` the ids of the person's existing tasks, ``highest`` the highest rank of these.

    Raises :class:`BadInput` for a goal or blocker that does not exist, and for tasks that would wait for each other
    forever.
    """
    names = _names(new, ids)
    rank = max((now - _EPOCH) // _MICROSECOND, highest + 1)
    tasks = tuple(
        QueuedTask(
            id=task_id,
            user_id=user_id,
            spec=task.spec,
            origin=task.origin,
            created_at=now,
            changed_at=now,
            state=_first_state(task),
            rank=rank + place,
            goal=None if task.goal is None else _resolve_name(task.goal, names, there, "goal"),
            blocked_by=tuple(
                dict.fromkeys(_resolve_name(name, names, there, "blocked_by") for name in task.blocked_by)
            ),
        )
        for place, (task_id, task) in enumerate(zip(ids, new, strict=True))
    )
    check_blockers({task.id: task.blocked_by for task in tasks})
    return tasks


def check_blockers(blocked_by: Mapping[str, Sequence[str]]) -> None:
    """Refuse tasks that wait for each other.

    Raises :class:`BadInput`.
    """
    left = {name: set(first) & blocked_by.keys() for name, first in blocked_by.items()}
    while free := {name for name, first in left.items() if not first}:
        left = {name: first - free for name, first in left.items() if name not in free}
    if left:
        raise BadInput(
            _("Some of these tasks would wait for each other for ever; let one of them wait for nothing."),
            where="blocked_by",
        )


def _names(new: Sequence[NewTask], ids: Sequence[str]) -> Mapping[str, str]:
    keys = [task.key for task in new if task.key]
    if keys and Counter(keys).most_common(1)[0][1] > 1:
        raise InternalError("Two tasks that are added together have the same key.")
    return {task.key: task_id for task, task_id in zip(new, ids, strict=True) if task.key}


def _resolve_name(name: str, names: Mapping[str, str], there: Collection[str], where: str) -> str:
    if name in names:
        return names[name]
    if name in there:
        return name
    raise BadInput(_("There is no task “{name}” in this queue.", name=name), where=where)


def _first_state(task: NewTask) -> TaskState:
    if task.state not in _AT_FIRST:
        raise InternalError(f"A new task cannot be {task.state.value}.")
    return task.state
