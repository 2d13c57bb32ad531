"""The list of tasks: its changes, and lengths that are observed on one day and proposed for another.

An observation follows from the session alone: from its plan now, and the minutes that were planned when a task began.
What is undone is therefore not observed. Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC

from fateforger.errors import BadInput
from fateforger.limits import MAX_DAY_TASKS
from fateforger.planning.plan import ET, WORK, Resolved
from fateforger.planning.task_details import find_circle, format_items, task_of
from fateforger.session.model import InputFacts, Session, Task
from fateforger.session.placement import by_time
from fateforger.tasks.durations import BegunTask, Estimate, Observation, find_estimate, scale_minutes
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message, quote_title
from fateforger.values import replace


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


TOO_MANY_TASKS = mark_message("That would be more than {max_tasks} tasks for one day; leave some for another day.")


def with_tasks(inputs: InputFacts, added: Iterable[Task]) -> InputFacts:
    """Return the list with more tasks at its end.

    A new "one thing" replaces the old one. Raises :class:`BadInput`.
    """
    added = tuple(added)
    if len(inputs.tasks) + len(added) > MAX_DAY_TASKS:
        raise BadInput(_(TOO_MANY_TASKS, max_tasks=MAX_DAY_TASKS))
    known = {t.id for t in inputs.tasks}
    if any(t.id in known for t in added):
        raise BadInput(_("One of these tasks is on the list already."))
    return _without_circle(_with_one_thing_last_named(inputs, added))


def with_task(inputs: InputFacts, task: Task) -> InputFacts:
    """Return the list with one task replaced.

    Raises :class:`BadInput` when it is not on the list any more.
    """
    place = _place(inputs, task.id)
    others = (*inputs.tasks[:place], *inputs.tasks[place + 1 :])
    if task.one_thing:
        others = tuple(_without_one_thing(t) for t in others)
    return _without_circle(replace(inputs, tasks=(*others[:place], task, *others[place:])))


def without_task(inputs: InputFacts, task_id: str) -> InputFacts:
    """Return the list without one task.

    Raises :class:`BadInput` when it is not on the list any more.
    """
    place = _place(inputs, task_id)
    return replace(inputs, tasks=(*inputs.tasks[:place], *inputs.tasks[place + 1 :]))


def _without_circle(inputs: InputFacts) -> InputFacts:
    """Return the list. Raises :class:`BadInput` if tasks on it would wait for each other."""
    titles = {task.id: task.title for task in inputs.tasks}
    circle = find_circle({task.id: titles.keys() & {*task.details.after} for task in inputs.tasks})
    if circle:
        raise BadInput(describe_circle([titles[each] for each in circle]))
    return inputs


def describe_circle(titles: Sequence[str]) -> str:
    """Return a sentence about tasks that would wait for each other."""
    named = join_words(quote_title(title) for title in titles)
    return _("{named} would wait for each other. Clear “Comes after” for one of them.", named=named)


def keep_for_later(task: Task) -> Task:
    """Return a task as it is kept for another day, on which another one may matter most."""
    return replace(task, one_thing=False)


def allow_pieces(task: Task) -> Task:
    """Return a task that may be done in pieces."""
    return replace(task, details=task.details.allow_pieces())


def with_one_thing(inputs: InputFacts, task_id: str) -> InputFacts:
    """Return the list with that task as the one thing.

    Raises :class:`BadInput` when it is not on the list any more.
    """
    _place(inputs, task_id)
    return replace(inputs, tasks=tuple(replace(t, one_thing=t.id == task_id) for t in inputs.tasks))


def find_task(inputs: InputFacts, task_id: str) -> Task:
    """Return the task of that id.

    Raises :class:`BadInput` when it is not on the list any more.
    """
    return inputs.tasks[_place(inputs, task_id)]


def _with_one_thing_last_named(inputs: InputFacts, added: tuple[Task, ...]) -> InputFacts:
    tasks = (*inputs.tasks, *added)
    chosen = next((t.id for t in reversed(tasks) if t.one_thing), None)
    named = (t if t.one_thing == (t.id == chosen) else replace(t, one_thing=t.id == chosen) for t in tasks)
    return replace(inputs, tasks=tuple(named))


def _without_one_thing(task: Task) -> Task:
    return replace(task, one_thing=False) if task.one_thing else task


def _place(inputs: InputFacts, task_id: str) -> int:
    for place, task in enumerate(inputs.tasks):
        if task.id == task_id:
            return place
    raise BadInput(_("That task is not on the list any more."))


def block_notes(task: Task) -> str:
    """Return the notes for a task's blocks: the list of a box, its notes, and its success criteria."""
    criteria = _("Done when: {done_when}", done_when="; ".join(task.done_when)) if task.done_when else ""
    return "\n\n".join(filter(None, (format_items(task.details.items), task.notes, criteria)))
