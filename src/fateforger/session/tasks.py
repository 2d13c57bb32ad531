"""Changes of the list of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.errors import BadInput
from fateforger.limits import MAX_DAY_TASKS
from fateforger.planning.task_details import find_circle, format_items
from fateforger.session.model import InputFacts, Task
from fateforger.text import gettext as _
from fateforger.text import join_words, quote_title
from fateforger.values import replace


def with_tasks(inputs: InputFacts, added: Iterable[Task]) -> InputFacts:
    """Return the list with more tasks at its end.

    A new "one thing" replaces the old one. Raises :class:`BadInput`.
    """
    added = tuple(added)
    if len(inputs.tasks) + len(added) > MAX_DAY_TASKS:
        raise BadInput(
            _(
                "That would be more than {max_tasks} tasks for one day; leave some for another day.",
                max_tasks=MAX_DAY_TASKS,
            )
        )
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
