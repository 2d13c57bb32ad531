"""Build the queue entries for tasks that are added together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from fateforger.errors import BadInput, InternalError
from fateforger.tasks.model import Origin, QueuedTask, TaskSpec, TaskState

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
            "Some of these tasks would wait for each other for ever; let one of them wait for nothing.",
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
    raise BadInput(f"There is no task “{name}” in this queue.", where=where)


def _first_state(task: NewTask) -> TaskState:
    if task.state not in _AT_FIRST:
        raise InternalError(f"A new task cannot be {task.state.value}.")
    return task.state
