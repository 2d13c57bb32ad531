"""Lengths of tasks: observed on a day, and proposed for another one by what was observed before.

An observation follows from the session alone: from its plan now, and the minutes that were planned when a task began.
What is undone is therefore not observed. Pure functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC

from fateforger.planning.block_times import task_of
from fateforger.planning.plan import ET, WORK, Resolved
from fateforger.session.model import Session, Task
from fateforger.session.placement import by_time
from fateforger.tasks.durations import BegunTask, Estimate, Observation, find_estimate, scale_minutes


def find_usual(session: Session, task: Task) -> Estimate | None:
    """Return the estimate of a task without minutes, if the usual length of its kind is known."""
    found = None if task.minutes is not None else _find_estimate(session, task)
    return None if found is None or found.minutes is None else found


def planned_minutes(session: Session, task: Task) -> int | None:
    """Return the minutes that a task is planned with, if any: its own, or those that the person usually needs."""
    usual = find_usual(session, task)
    return task.minutes if usual is None else usual.minutes


def find_short(session: Session) -> tuple[tuple[Task, Estimate, int], ...]:
    """Return the tasks with minutes that are probably too few, each with its estimate and the minutes to propose.

    Tasks whose length the person has settled are left out.
    """
    found = ((task, _find_estimate(session, task)) for task in session.day.inputs.tasks if not task.length_settled)
    return tuple(
        (task, each, scale_minutes(each, task.minutes))
        for task, each in found
        if each is not None
        and task.minutes is not None
        and each.has_been_short
        and scale_minutes(each, task.minutes) > task.minutes
    )


def _find_estimate(session: Session, task: Task) -> Estimate | None:
    kind = task.details.kind.type
    return find_estimate(session.day.estimates, task.title, deep=kind is ET.DEEP_WORK) if kind in WORK else None


def note_begun(session: Session) -> Session:
    """Return the session with the planned minutes of each task whose time has begun.

    They are those from before any later change. A task that was put off to a later time has not begun.
    """
    if session.now is None or session.sync.written is None or session.planning.plan is None:
        return session
    now, known = session.now.astimezone(UTC), {each.id: each for each in session.planning.begun}
    begun: list[BegunTask] = []
    for task_id, blocks in _group_blocks(session).items():
        start, minutes = blocks[0].start.astimezone(UTC), sum(block.minutes for block in blocks)
        if start > now or not minutes:
            continue
        before = known.get(task_id)
        changed = before is not None and before.minutes != minutes
        begun.append(before if before is not None and changed else BegunTask(id=task_id, start=start, minutes=minutes))
    return session if tuple(begun) == session.planning.begun else session.with_planning(begun=tuple(begun))


def observe(session: Session) -> tuple[Observation, ...]:
    """Return the lengths that are known of this day's tasks.

    The length of a task is known if the person said that it is done, or changed its length since it began. It is
    unclear, and left out, if the task was also moved, or is not done and part of it is left for another time.
    """
    if session.sync.written is None or session.planning.plan is None:
        return ()
    blocks = _group_blocks(session)
    found = (_observe(session, each, blocks.get(each.id, [])) for each in session.planning.begun)
    return tuple(each for each in found if each is not None)


def _observe(session: Session, begun: BegunTask, blocks: list[Resolved]) -> Observation | None:
    left = (*(task.id for task in session.open_work.deferred), *(each.task_id for each in session.planning.unplaced))
    if not blocks or any(task_of(task_id, [begun.id]) for task_id in left):
        return None
    done, minutes = begun.id in session.open_work.settled, sum(block.minutes for block in blocks)
    moved = blocks[0].start.astimezone(UTC) != begun.start
    if (minutes == begun.minutes and not done) or (minutes != begun.minutes and moved):
        return None
    first = blocks[0].event
    return Observation(
        id=f"{session.id}/{begun.id}",
        title=first.name[:300],
        deep=first.type is ET.DEEP_WORK,
        planned=begun.minutes,
        actual=minutes,
        day=session.date,
        source="done" if done else "changed",
    )


def _group_blocks(session: Session) -> Mapping[str, list[Resolved]]:
    """Return the blocks of the person's work by task, in time order."""
    assert session.planning.plan is not None  # noqa: S101  callers check it
    known = {
        *(task.id for task in session.day.inputs.tasks),
        *session.open_work.settled,
        *(each.id for each in session.planning.begun),
    }
    groups: dict[str, list[Resolved]] = {}
    for block in by_time(session.planning.plan):
        if block.event.type in WORK:
            groups.setdefault(task_of(block.key, known) or block.key, []).append(block)
    return groups
