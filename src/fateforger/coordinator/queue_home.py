"""A person's queue in App Home: the next task, the state of each task, and the actions for it."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.session.cards import (
    Button,
    Choice,
    Control,
    Controls,
    Divider,
    Heading,
    Menu,
    Note,
    Part,
    Prose,
    Select,
    plain,
)
from fateforger.tasks import ENDED, PRIORITIES, STATES, QueuedTask, TaskState, blockers, possible_actions, ready_tasks

PAGE = 20
"""Tasks per page; each takes one of the hundred blocks of App Home."""
LONGEST_OUTCOME = 160
ADD = Button(label="Add a task", action="form.queue_add")
EMPTY = "Your queue is empty. What there is to do, and not on which day, goes here."
NOT_NOW = "I cannot look up your queue just now; open this page again in a moment."


def build_queue_parts(everything: Sequence[QueuedTask], *, page: int = 1, said: str = "") -> tuple[Part, ...]:
    """Return the queue, the next task first.

    ``everything`` are all tasks of the person that have not ended, in order, and those that they wait for. ``said`` is
    the result of the person's last action.
    """
    tasks = [task for task in everything if task.state not in ENDED]
    head: tuple[Part, ...] = (Divider(), Heading(text="Your queue"))
    word = (Prose(text=said),) if said else ()
    if not tasks:
        return (*head, *word, Prose(text=EMPTY), Controls(items=(ADD,)))
    pages = -(-len(tasks) // PAGE)
    page = min(max(page, 1), pages)
    first = (page - 1) * PAGE
    shown = tasks[first : first + PAGE]
    can = ready_tasks(everything)
    rows = [
        Prose(
            text=_format_row(n, task, everything),
            control=_build_menu(n, task, last=n == len(tasks), can_be_pulled=task in can),
        )
        for n, task in enumerate(shown, first + 1)
    ]
    above = (Prose(text=_count_words(tasks, can)), _build_header(can))
    return (*head, *word, *above, *rows, *_build_pages(page, pages, tasks), _build_edit_select(shown))


def build_unknown_queue() -> tuple[Part, ...]:
    """Return the parts to show while the queue cannot be read."""
    return (Divider(), Heading(text="Your queue"), Note(text=NOT_NOW))


def _count_words(tasks: Sequence[QueuedTask], can: Sequence[QueuedTask]) -> str:
    count = len(tasks)
    waiting = sum(task.state is TaskState.WAITING for task in tasks)
    yours = f" {waiting} wait{'s' if waiting == 1 else ''} for you." if waiting else ""
    following = f" Next: **{plain(can[0].spec.title)}**." if can else " None can be pulled just now."
    return f"{count} task{'' if count == 1 else 's'}, {len(can)} ready.{yours}{following}"


def _build_header(can: Sequence[QueuedTask]) -> Controls:
    pull = (Button(label="Pull the next", action="queue.pull", target=task.id) for task in can[:1])
    return Controls(items=(*pull, ADD))


def _format_row(number: int, task: QueuedTask, everything: Sequence[QueuedTask]) -> str:
    """Return the title, priority and state of a task, and the task that blocks it."""
    tags = "".join(f"\\[{plain(tag, 20)}\\] " for tag in task.spec.tags)
    first = blockers(task, everything)
    stand = STATES[task.state]
    if task.state is TaskState.ACTIVE and first:
        more = f" and {len(first) - 1} more" if len(first) > 1 else ""
        gone = " (which was stopped)" if first[0].state is TaskState.STOPPED else ""
        stand = f"after “{plain(first[0].spec.title, 60)}”{gone}{more}"
    facts = [PRIORITIES[task.spec.priority], stand]
    if task.spec.project:
        facts.append(plain(task.spec.project, 40))
    outcome = f"\n_{plain(task.outcome, LONGEST_OUTCOME)}_" if task.outcome else ""
    return f"{number}. {tags}**{plain(task.spec.title, 120)}** `{task.id}`\n{' · '.join(facts)}{outcome}"


def _build_menu(number: int, task: QueuedTask, *, last: bool, can_be_pulled: bool) -> Control:
    """Return the actions that make sense in the task's state; Slack's overflow menu takes five at most."""
    choices = []
    if can_be_pulled:
        choices.append(Choice(label="Pull", value="queue.pull"))
    if task.state is TaskState.WAITING:
        choices.append(Choice(label="Open", value="queue.open"))
    if number > 1:
        choices.append(Choice(label="Up", value="queue.up"))
    if not last:
        choices.append(Choice(label="Down", value="queue.down"))
    choices += [
        Choice(label=deed.value.capitalize(), value=f"queue.do.{deed.value}") for deed in possible_actions(task)
    ]
    return Menu(choices=tuple(choices), target=task.id)


def _build_pages(page: int, pages: int, tasks: Sequence[QueuedTask]) -> tuple[Part, ...]:
    if pages == 1:
        return ()
    first, last = (page - 1) * PAGE + 1, min(page * PAGE, len(tasks))
    before = Button(label="Previous page", action="queue.page", target=str(page - 1))
    after = Button(label="Next page", action="queue.page", target=str(page + 1))
    ways = (*((before,) if page > 1 else ()), *((after,) if page < pages else ()))
    return (Note(text=f"Tasks {first} to {last} of {len(tasks)}."), Controls(items=ways))


def _build_edit_select(shown: Sequence[QueuedTask]) -> Controls:
    choices = tuple(Choice(label=f"{task.spec.title} ({task.id})", value=task.id) for task in shown)
    return Controls(items=(Select(action="form.queue_edit", placeholder="Edit a task…", choices=choices),))
