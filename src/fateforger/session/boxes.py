"""Boxes: small tasks that share one task and its block, put together and taken apart. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fateforger.errors import BadInput
from fateforger.limits import MAX_BOX_ITEMS, MAX_MINUTES
from fateforger.planning.plan import TBEvent, TBPlan
from fateforger.planning.task_details import BoxItem, TaskDetails, TaskKind, task_of
from fateforger.session.model import Session, Task
from fateforger.session.tasks import block_notes, find_task, planned_minutes, with_task
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message
from fateforger.values import replace

SMALL = 20
"""Most minutes of a task that is offered for a box."""
FEWEST = 3
"""Fewest small tasks for which a box is offered."""
_KINDS = (TaskKind.SHALLOW, TaskKind.ERRAND)
GONE = mark_message("That is not in the box any more; please look at the newest card.")


def find_small_tasks(session: Session) -> tuple[Task, ...]:
    """Return the small tasks of one kind that can go into a box together; nothing if they are too few."""
    begun = {each.id for each in session.planning.begun}
    for kind in _KINDS:
        found = [
            task
            for task in session.day.inputs.tasks
            if task.details.kind is kind
            and task.id not in begun
            and _length(session, task) <= SMALL
            and _find_obstacle(task) is None
        ]
        if len(found) >= FEWEST:
            return tuple(found[:MAX_BOX_ITEMS])
    return ()


def put_together(session: Session, task_ids: Sequence[str], title: str, box_id: str) -> Session:
    """Return the session with these tasks as one box, at the place of the first.

    It takes as long as they do together. Raises ``BadInput``.
    """
    tasks = [find_task(session.day.inputs, task_id) for task_id in dict.fromkeys(task_ids)]
    if not 1 < len(tasks) <= MAX_BOX_ITEMS:
        raise BadInput(_("A box holds 2 to {most} small tasks; name them once more.", most=MAX_BOX_ITEMS))
    for task in tasks:
        if (obstacle := _find_obstacle(task)) is not None:
            raise BadInput(
                _("“{title}” has {obstacle}, so it keeps a block of its own.", title=task.title, obstacle=obstacle)
            )
    kind = tasks[0].details.kind
    kind = kind if all(task.details.kind is kind for task in tasks) else TaskKind.SHALLOW
    items = tuple(
        BoxItem(title=task.title, id=task.id, minutes=_length(session, task), notes=task.notes) for task in tasks
    )
    urgent = [task.details.priority for task in tasks if task.details.priority is not None]
    box = Task(
        id=box_id,
        title=title or (_("Errands") if kind is TaskKind.ERRAND else _("Small tasks")),
        minutes=min(sum(item.minutes or 0 for item in items), MAX_MINUTES),
        details=TaskDetails(kind=kind, priority=min(urgent) if urgent else None, items=items),
    )
    line = _("{titles} are one box now: “{title}”.", titles=join_words(item.title for item in items), title=box.title)
    return _with_tasks(session, {task.id: (box,) if task is tasks[0] else () for task in tasks}).say(line)


def take_apart(session: Session, task_id: str) -> Session:
    """Return the session with what is not ticked in a box as tasks of their own. Raises ``BadInput``."""
    box = find_task(session.day.inputs, task_id)
    left = [(n, item) for n, item in enumerate(box.details.items, 1) if not item.done]
    if not left:
        raise BadInput(_(GONE))
    share = max(1, (box.minutes or 0) // len(box.details.items)) if box.minutes else None
    tasks = tuple(
        Task(
            id=item.id or f"{box.id}.{n}",
            title=item.title,
            minutes=item.minutes or share,
            details=replace(box.details, items=()),
            notes=item.notes,
        )
        for n, item in left
    )
    return _with_tasks(session, {box.id: tasks}).say(_("“{title}” is taken apart again.", title=box.title))


def tick_items(session: Session, items: Sequence[tuple[str, int]], *, done: bool) -> Session:
    """Return the session with items of boxes ticked, or not ticked any more, and a line on each.

    An item is given by the id of the box and its place in it. A box of which all is ticked is done. Raises
    ``BadInput``.
    """
    for task_id, place in items:
        session = _tick(session, task_id, place, done=done)
    return session


def tick_item(details: TaskDetails, place: int, *, done: bool) -> TaskDetails:
    """Return the details of a box with one item ticked, or not ticked any more. Raises ``BadInput``."""
    items = details.items
    if not 0 <= place < len(items):
        raise BadInput(_(GONE))
    return replace(details, items=(*items[:place], replace(items[place], done=done), *items[place + 1 :]))


def list_boxes(session: Session) -> tuple[Task, ...]:
    return tuple(task for task in session.day.inputs.tasks if task.details.items)


def list_items(session: Session) -> tuple[tuple[str, int], ...]:
    """Return the items of all boxes on the list, each by the id of its box and its place in it."""
    return tuple((box.id, place) for box in list_boxes(session) for place, _item in enumerate(box.details.items))


def with_ticks(plan: TBPlan, before: Session, after: Session) -> TBPlan:
    """Return the plan with the lists of the boxes in the notes of their blocks as they are now."""
    lists = {task.id: (block_notes(task), "") for task in list_boxes(before)}
    lists |= {task.id: (lists[task.id][0], block_notes(task)) for task in list_boxes(after) if task.id in lists}
    return plan.replace(_with_list(event, lists) for event in plan.events)


def _with_list(event: TBEvent, lists: Mapping[str, tuple[str, str]]) -> TBEvent:
    """Return a block with the new list of its box, unless the person wrote other notes."""
    before, after = lists.get(task_of(event.block_key, lists) or "", ("", ""))
    return replace(event, description=after) if before and event.description == before else event


def _tick(session: Session, task_id: str, place: int, *, done: bool) -> Session:
    box = find_task(session.day.inputs, task_id)
    details = tick_item(box.details, place, done=done)
    items, item = details.items, details.items[place]
    whole = all(each.done for each in items)
    session = session.with_day(inputs=with_task(session.day.inputs, replace(box, details=details)))
    settled = [each for each in session.open_work.settled if each not in {box.id, item.id}]
    settled += [each for each, is_done in ((item.id, done), (box.id, whole)) if each and is_done]
    return session.with_open_work(settled=tuple(settled)).say(*_describe(box, item, done=done, whole=whole))


def _describe(box: Task, item: BoxItem, *, done: bool, whole: bool) -> Iterator[str]:
    if done:
        yield _("“{title}” is done.", title=item.title)
    else:
        yield _("“{title}” is open again.", title=item.title)
    if whole:
        yield _("That was all of “{title}”; it is done.", title=box.title)


def _length(session: Session, task: Task) -> int:
    return planned_minutes(session, task) or task.details.kind.usual_minutes


def _find_obstacle(task: Task) -> str | None:
    """Return what a task has that a box would lose, in a few words, or ``None``."""
    details = task.details
    obstacles = {
        _("a list of its own"): details.items,
        _("a time"): details.at or details.due_day or details.due_time or details.from_day or details.from_time,
        _("people"): details.people,
        _("a way"): details.travel,
        _("its own order"): details.after,
        _("conditions for being done"): task.done_when,
        _("the star of the one thing"): task.one_thing,
    }
    found = [name for name, value in obstacles.items() if value]
    return join_words(found) if found else None


def _with_tasks(session: Session, instead: dict[str, tuple[Task, ...]]) -> Session:
    """Return the session with other tasks in the place of some, also for the tasks that come after those."""
    tasks = [new for task in session.day.inputs.tasks for new in instead.get(task.id, (task,))]
    ids = {old: [task.id for task in new] for old, new in instead.items()}
    (box, *_more) = [new for each in ids.values() for new in each] or [""]
    ids = {old: new or [box] for old, new in ids.items()}
    moved = (replace(task, details=_with_order(task.details, ids)) for task in tasks)
    return session.with_day(inputs=replace(session.day.inputs, tasks=tuple(moved)))


def _with_order(details: TaskDetails, ids: dict[str, list[str]]) -> TaskDetails:
    if ids.keys().isdisjoint(details.after):
        return details
    after = (new for old in details.after for new in ids.get(old, [old]))
    return replace(details, after=tuple(dict.fromkeys(after)))
