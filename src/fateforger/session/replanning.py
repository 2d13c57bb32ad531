"""New fit of the rest of a session's day: after its course so far, or with an option for unplaced work."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fateforger.drafting.instance import Instance
from fateforger.drafting.model import UnplacedItem
from fateforger.drafting.solver import refit_plan
from fateforger.errors import BadInput
from fateforger.limits import MAX_MINUTES
from fateforger.planning.plan import ET, Resolved, TBPlan, resolve
from fateforger.planning.task_details import (
    TaskDetails,
    fix_starts,
    keys_before,
    kind_of_type,
    start_at,
    start_from,
    task_of,
    with_length,
)
from fateforger.planning.timing import ceil, instant, zone
from fateforger.session.boxes import with_ticks
from fateforger.session.commands.day import (
    WAITS,
    AdjustFrame,
    DeferTask,
    MarkOneThing,
    PutTogether,
    ReceiveTasks,
    RemoveTask,
    ResizeTask,
    ReturnTasks,
    SplitTask,
    TakeApart,
    TakeBack,
    TickItems,
)
from fateforger.session.commands.plan import MovePlan, Replan
from fateforger.session.day import busy_meetings, day_window, is_over, own_key
from fateforger.session.draft import carry_basis, day_of, describe_one_thing, instance_in, options_for, work_of
from fateforger.session.model import Facts, Session, Task, Unplaced
from fateforger.session.other_days import check_free, check_other_day, name_day, with_sent
from fateforger.session.placement import by_time, find_placed, list_differences, resolved_block
from fateforger.session.tasks import allow_pieces, keep_for_later
from fateforger.session.undone import facts_of
from fateforger.text import count_tasks, join_words, mark_message, ngettext, quote_title
from fateforger.text import gettext as _
from fateforger.values import replace


def move_missed(plan: TBPlan, command: Replan, at: datetime) -> TBPlan:
    """Return the plan with missed blocks moved to start from now on."""
    missed = [key for key in command.missed if key not in {*command.done, *command.not_today}]
    under_way = _current_block(plan, at)
    if command.late == 0 and under_way is not None and under_way.key not in missed:
        missed.append(under_way.key)
    starts = {key: resolved_block(plan, key).start.astimezone(UTC) for key in dict.fromkeys(missed)}
    return start_from(plan, sorted((key for key in starts if starts[key] < at), key=lambda key: starts[key]), at)


def apply_delay(
    day: Session, instance: Instance, plan: TBPlan, minutes: int, now: datetime
) -> tuple[Session, Instance, TBPlan]:
    """Extend the current block, or delay the next one.

    A meeting ends the current block; its rest is still to be done.
    """
    at = now.astimezone(UTC)
    under_way = _current_block(plan, at)
    if under_way is not None:
        room = _until_meeting(day, under_way)
        rest = 0 if room is None else max(0, minutes - room)
        late = extend_current_block(instance, plan, now, under_way.key, minutes - rest)
        return _with_rest(day, plan, under_way, rest), late, late.previous or plan
    following = next((b for b in by_time(plan) if b.start.astimezone(UTC) >= at and _is_movable(b)), None)
    if following is None:
        raise BadInput(_("Nothing is left on your plan that could be late."))
    start = following.start.astimezone(UTC) + timedelta(minutes=minutes)
    return day, instance, start_at(plan, following.key, start)


def extend_current_block(instance: Instance, plan: TBPlan, now: datetime, key: str, minutes: int) -> Instance:
    """Return the day when the current block ``key``, and its task, takes ``minutes`` longer.

    Raises ``KeyError``.
    """
    longer = with_length(plan, key, resolve(plan)[plan.position(key)].minutes + minutes)
    task = task_of(key, (t.id for t in instance.tasks))
    tasks = tuple(
        replace(t, minutes=t.minutes + minutes) if t.id == task and t.minutes is not None else t for t in instance.tasks
    )
    return replace(instance, tasks=tasks).from_now(longer, now)


def finish_early(instance: Instance, plan: TBPlan, now: datetime, task: str) -> Instance:
    """Return the day when the task is done: its current block ends now, and its later blocks go."""
    mine = [block.key for block in resolve(plan) if task_of(block.key, [task]) == task]
    return instance.without_task(task).from_now(end_blocks(plan, now, mine), now)


def end_blocks(plan: TBPlan, now: datetime, keys: Container[str]) -> TBPlan:
    """Return the plan when the work of these blocks is done: the current one ends now, and later ones go."""
    at = now.astimezone(UTC)
    rest = fix_starts(plan)
    for block in resolve(rest):
        if block.key not in keys:
            continue
        start = block.start.astimezone(UTC)
        if start >= at:
            rest = rest.replace(event for event in rest.events if event.key != block.key)
        elif start + block.duration > at:
            rest = with_length(rest, block.key, max(1, int((at - start) / timedelta(minutes=1))))
    return rest


def task_id_of(session: Session, block: Resolved) -> str:
    """Return the task id of a block, or the block's own key if it has no task."""
    return task_of(block.key, (task.id for task in session.day.inputs.tasks)) or block.key


def rest_of_task(session: Session, plan: TBPlan, task: str, at: datetime, *, whole: bool) -> Task | None:
    """Return the rest of a task after ``at``, as a task to keep, or ``None`` if nothing is left.

    With ``whole``, nothing before ``at`` was done.
    """
    mine = [b for b in resolve(plan) if task_of(b.key, [task]) == task]
    minutes = sum((_time_after(block, at) for block in mine), start=timedelta()) // timedelta(minutes=1)
    known = next((each for each in session.day.inputs.tasks if each.id == task), None)
    if minutes < 1 and not whole:
        return None
    if minutes < 1:
        minutes = sum(block.minutes for block in mine)
    if known is not None:
        return replace(known, minutes=known.minutes and min(minutes, MAX_MINUTES))
    return task_from_block(mine[0], minutes)


def task_from_block(block: Resolved, minutes: int) -> Task:
    """Turn a block of the person's own into a task of that many minutes, under the same key."""
    details = TaskDetails(kind=kind_of_type(block.event.type))
    title, notes = block.event.name[:300], block.event.description[:3000]
    return Task(id=block.key, title=title, minutes=max(1, min(minutes, MAX_MINUTES)), details=details, notes=notes)


def _until_meeting(session: Session, block: Resolved) -> int | None:
    """Return the minutes between the end of a block and the next meeting, or ``None``."""
    end = block.end.astimezone(UTC)
    starts = [m.start.astimezone(UTC) for m in busy_meetings(session) if m.end.astimezone(UTC) > end]
    return max(0, (min(starts) - end) // timedelta(minutes=1)) if starts else None


def _with_rest(session: Session, plan: TBPlan, block: Resolved, minutes: int) -> Session:
    """Return the session with the rest of a block among its unplaced tasks."""
    if not minutes:
        return session
    stem, used = (
        task_id_of(session, block),
        {e.block_key for e in plan.events} | {u.task_id for u in session.planning.unplaced},
    )
    key = next(key for n in range(2, 1000) if (key := f"{stem}-{n}") not in used)
    task = replace(task_from_block(block, minutes), id=key)
    rest = Unplaced(task_id=key, title=task.title, reason=_("the day is full"), task=task)
    return session.with_planning(unplaced=(*session.planning.unplaced, rest))


def _current_block(plan: TBPlan, at: datetime) -> Resolved | None:
    there = [b for b in by_time(plan) if b.start.astimezone(UTC) < at < b.end.astimezone(UTC) and _is_movable(b)]
    return there[-1] if there else None


def _is_movable(block: Resolved) -> bool:
    return block.event.type not in {ET.BACKGROUND, ET.MEETING}


def _time_after(block: Resolved, at: datetime) -> timedelta:
    return max(timedelta(), block.end.astimezone(UTC) - max(at, block.start.astimezone(UTC)))


ListCommand = TakeBack | ReceiveTasks | ReturnTasks | PutTogether | TakeApart
"""Commands that put tasks on the list or take them off, while the plan is refined."""
OptionCommand = RemoveTask | ResizeTask | AdjustFrame | MarkOneThing | DeferTask | SplitTask | TickItems | ListCommand
"""Commands for an item that found no place, for the one thing, for tasks of other days and for boxes, while the plan is
refined."""
OVER = mark_message("That day is over, so there is nothing left of it to replan.")
MOVED = mark_message("Your plan moved to {day}, with {tasks}; see its thread.")
NO_PLAN = mark_message("There is no plan to refit yet.")
GONE = mark_message("That is not open any more; please look at the newest card.")
DONE = mark_message("“{title}” is done.")
STANDS = mark_message("Nothing has to move; the rest of your day stays as it is.")


@dataclass(frozen=True, slots=True)
class Refit:
    """A refit: the session with changed facts, its plan, and a sentence for each difference."""

    session: Session
    plan: TBPlan
    lines: tuple[str, ...]


def with_facts(session: Session, facts: Facts | None) -> Session:
    """Return the session with these facts, if any."""
    if facts is None:
        return session
    session = session.with_day(frame=facts.frame, inputs=facts.inputs)
    session = session.with_open_work(deferred=facts.deferred, settled=facts.settled, sent=facts.sent)
    return session.with_planning(unplaced=facts.unplaced, draft_basis=facts.draft_basis)


def replan_day(session: Session, command: Replan, now: datetime) -> Refit:
    """Refit the day from ``now`` on, given its course so far.

    Raises ``UserError``; nothing is changed then.
    """
    plan = _current_plan(session, now)
    at, day = now.astimezone(UTC), session
    instance = instance_in(session).from_now(plan, now)
    said: list[str] = []
    over: set[str] = set()
    for key in dict.fromkeys((*command.done, *command.not_today)):
        block = resolved_block(session.planning.plan or plan, key)
        task = task_id_of(session, block)
        if task in over:
            continue
        if key in command.done and _has_other_parts(day, plan, command, block, at):
            day, plan = _without_part(day, task, block), end_blocks(plan, now, [key])
            instance = instance.from_now(plan, now)
            said.append(_(DONE, title=block.event.name))
            continue
        over.add(task)
        rest = rest_of_task(session, plan, task, at, whole=key in command.not_today)
        instance = finish_early(instance, plan, now, task)
        plan = instance.previous or plan
        title = _name_whole(session, block) if rest is None else rest.title
        if key in command.not_today and rest is not None:
            day = day.with_open_work(deferred=(*day.open_work.deferred, keep_for_later(rest)))
            said.append(_(WAITS).format(title=title))
        elif key in command.done:
            day = day.with_open_work(settled=tuple(dict.fromkeys((*day.open_work.settled, task))))
            said.append(_(DONE, title=title))
        day = _without_task(day, task)
    plan = move_missed(plan, command, at)
    if command.late:
        day, instance, plan = apply_delay(day, instance, plan, command.late, now)
    return _fit(session, day, plan, instance, at, said)


def _has_other_parts(session: Session, plan: TBPlan, command: Replan, block: Resolved, at: datetime) -> bool:
    """Check whether another part of a block's task is still to be done, so that the task is not done with the block."""
    task = task_id_of(session, block)
    if any(task_of(each.task_id, [task]) for each in session.planning.unplaced):
        return True
    others = (each for each in resolve(plan) if task_of(each.key, [task]) and each.key not in command.done)
    return any(each.key in command.missed or each.end.astimezone(UTC) > at for each in others)


def _without_part(session: Session, task: str, block: Resolved) -> Session:
    """Return the session with a task on its list that takes only what its other parts do."""
    tasks = (
        replace(each, minutes=max(1, each.minutes - block.minutes)) if each.id == task and each.minutes else each
        for each in session.day.inputs.tasks
    )
    return session.with_day(inputs=replace(session.day.inputs, tasks=tuple(tasks)))


def _name_whole(session: Session, block: Resolved) -> str:
    """Return the title of the task whose last part a block is, or else the name of the block."""
    tasks = (task for task in session.day.inputs.tasks if task.id != block.key)
    return next((task.title for task in tasks if task_of(block.key, [task.id])), block.event.name)


def with_option(session: Session, command: OptionCommand, now: datetime) -> Refit:
    """Refit the day with an option taken for an item that found no place.

    Raises ``UserError``; nothing is changed then.
    """
    if isinstance(command, TickItems):
        return _with_ticks(session, command)
    plan = _current_plan(session, now)
    if isinstance(command, AdjustFrame | MarkOneThing):
        day = command.apply_to(session)
        return _fit(session, day, plan, instance_in(day), now.astimezone(UTC), [*describe_one_thing(session, day)])
    if isinstance(command, ListCommand):
        return _with_other_tasks(session, command, plan, now)
    each = next((u for u in session.planning.unplaced if u.task_id == command.task_id), None)
    if each is None and isinstance(command, DeferTask):
        return _defer_placed(session, command, plan, now)
    task = None if each is None else _task_of(session, each)
    if each is None or task is None:
        raise BadInput(_(GONE))
    said: list[str] = []
    match command:
        case ResizeTask(minutes=minutes):
            day = _with_changed_task(session, each, replace(task, minutes=minutes))
        case SplitTask():
            day = _with_changed_task(session, each, allow_pieces(task))
        case DeferTask():
            day = command.defer(_without_task(session, each.task_id), task)
            said = [command.describe(session, task)]
        case _:
            day = _without_task(session, each.task_id)
            said = [_("“{title}” is off your list.", title=task.title)]
    return _fit(session, day, plan, instance_in(day), now.astimezone(UTC), said)


def _with_ticks(session: Session, command: TickItems) -> Refit:
    """Return the day with the lists of its boxes as they are now; nothing moves."""
    plan = session.planning.plan
    if plan is None:
        raise BadInput(_(NO_PLAN))
    day = command.apply_to(session.with_thread(notice=None))
    lines, day = day.notice_lines, day.with_thread(notice=session.thread.notice)
    return Refit(carry_basis(session, day), with_ticks(plan, session, day), lines)


def _with_other_tasks(session: Session, command: ListCommand, plan: TBPlan, now: datetime) -> Refit:
    """Refit the day with the tasks that a command puts on its list, and without those that it takes off."""
    quiet = session.with_thread(notice=None)
    day = command.apply_to(quiet)
    said, day = [*day.notice_lines], day.with_thread(notice=session.thread.notice)
    known, there = ({task.id for task in each.day.inputs.tasks} for each in (session, day))
    back = command.tasks if isinstance(command, ReturnTasks) else ()
    gone = [*(known - there), *(task.id for task in back)]
    new = [task for task in day.day.inputs.tasks if task.id not in known]
    fresh = tuple(Unplaced(task_id=task.id, title=task.title, reason="") for task in new)
    day = day.with_planning(unplaced=(*session.planning.unplaced, *fresh))
    return _fit_without(session, day, plan, gone, now, said)


def with_safe_undo(before: Session, after: Session, command: OptionCommand) -> Session:
    """Return the session so that undoing the change loses no task of another day, and has none in two places.

    A received task that is undone waits for another day; a returned one cannot come back by an undo.
    """
    if isinstance(command, ReturnTasks):
        return after.with_sync(refine_undo=())
    if not isinstance(command, ReceiveTasks) or not after.sync.refine_undo:
        return after
    facts = facts_of(before)
    kept = replace(facts, deferred=(*facts.deferred, *map(keep_for_later, command.tasks)))
    *steps, last = after.sync.refine_undo
    return after.with_sync(refine_undo=(*steps, replace(last, facts_before=kept)))


def _defer_placed(session: Session, command: DeferTask, plan: TBPlan, now: datetime) -> Refit:
    """Refit the day without a task that has its blocks in the plan; what is left of it goes to another day."""
    if not any(task_of(event.block_key, [command.task_id]) for event in plan.events):
        raise BadInput(_(GONE))
    task = rest_of_task(session, plan, command.task_id, now.astimezone(UTC), whole=True)
    if task is None:
        raise BadInput(_(GONE))
    day = command.defer(session, task)
    return _fit_without(session, day, plan, [task.id], now, [command.describe(session, task)])


def move_plan(session: Session, command: MovePlan, now: datetime) -> Refit:
    """Return the day without what is left of its plan, which goes to another day with its tasks.

    Blocks that began stay. Meals, pauses and the like are not moved, because the draft of the other day has its own.
    Raises ``UserError``; nothing is changed then.
    """
    plan = _current_plan(session, now)
    check_other_day(session, command.day, command.at)
    check_free(session, command.day, join=command.join)
    blocks = by_time(plan)
    left = [block for block in blocks if block.start.astimezone(UTC) >= now.astimezone(UTC)]
    tasks = tuple(_tasks_to_move(session, blocks, left))
    if not tasks:
        raise BadInput(_("Nothing is left on this plan that could move."))
    gone, moved = {block.key for block in left}, {task.id for task in tasks}
    kept = tuple(task for task in session.day.inputs.tasks if task.id not in moved)
    day = session.with_day(inputs=replace(session.day.inputs, tasks=kept)).with_planning(unplaced=())
    day = with_sent(day, tasks, command.day, plan=True)
    rest = fix_starts(plan)
    rest = rest.replace(event for event in rest.events if event.block_key not in gone)
    line = _(MOVED, tasks=count_tasks(len(tasks)), day=name_day(command.day, seen_from=session.date))
    return Refit(carry_basis(session, day.with_planning(sketch=None)), rest, (line,))


def _tasks_to_move(session: Session, blocks: Sequence[Resolved], left: Sequence[Resolved]) -> Iterator[Task]:
    """Yield the tasks with time in the blocks that are left, those without room, and the person's own blocks."""
    ids = [task.id for task in session.day.inputs.tasks]
    for task in session.day.inputs.tasks:
        every = [block for block in blocks if task_of(block.key, [task.id])]
        mine = [block for block in left if task_of(block.key, [task.id])]
        if len(mine) == len(every):
            yield task
        elif mine:
            yield replace(task, minutes=sum(block.minutes for block in mine))
    for block in left:
        if task_of(block.key, ids) is None and block.event.type in {ET.DEEP_WORK, ET.SHALLOW_WORK}:
            yield task_from_block(block, block.minutes)


def _fit_without(
    session: Session, day: Session, plan: TBPlan, gone: list[str], now: datetime, said: list[str]
) -> Refit:
    """Refit the day without these tasks and their blocks."""
    for task_id in gone:
        day = _without_task(day, task_id)
    rest = plan if not gone else fix_starts(plan)
    rest = rest.replace(event for event in rest.events if task_of(event.block_key, gone) is None)
    return _fit(session, day, rest, instance_in(day), now.astimezone(UTC), said)


def refit_again(session: Session, now: datetime) -> Refit:
    """Refit the day without any other change.

    Raises ``UserError``.
    """
    return _fit(session, session, _current_plan(session, now), instance_in(session), now.astimezone(UTC), [])


def move_from_past(session: Session, now: datetime) -> Refit | None:
    """Return the session with blocks that would begin before ``now`` moved as little as possible.

    Returns ``None`` when none has to move. Blocks on the calendar stay, and so do blocks that the person placed in
    the past (K11). Raises ``UserError``.
    """
    plan, at = session.planning.plan, now.astimezone(UTC)
    if plan is None:
        return None
    stays = {*_keys_on_calendar(session), *session.planning.put_in_past}
    late = [key for key in keys_before(plan, at) if key not in stays and not _is_past_by_choice(session, key)]
    if not late:
        return None
    if is_over(session, now):
        raise BadInput(_(OVER))
    known = session.with_planning(unplaced=tuple(u for u in session.planning.unplaced if u.task_id not in set(late)))
    refit = _fit(session, known, start_from(plan, late, at), instance_in(session), at, [])
    titles = join_words([quote_title(resolved_block(plan, key).event.name) for key in late])
    line = ngettext(
        "{titles} would have begun before now, so I replanned the rest of your day from {clock} on.",
        "{titles} would have begun before now, so I replanned the rest of your day from {clock} on.",
        len(late),
        titles=titles,
        clock=_clock(session, at),
    )
    return replace(refit, lines=(line, *refit.lines))


def with_put_in_past(before: Session, after: Session, now: datetime) -> Session:
    """Return ``after`` with a record of each block that the person's change placed in the past."""
    if after.planning.plan is None:
        return after
    was = (
        {} if before.planning.plan is None else {b.key: b.start.astimezone(UTC) for b in resolve(before.planning.plan)}
    )
    starts = {b.key: b.start.astimezone(UTC) for b in resolve(after.planning.plan)}
    put = [key for key in keys_before(after.planning.plan, now) if was.get(key) != starts[key]]
    return after.with_planning(put_in_past=tuple(dict.fromkeys((*after.planning.put_in_past, *put)))) if put else after


def _is_past_by_choice(session: Session, key: str) -> bool:
    """Check whether a block begins before the plan was drafted: no draft places one there."""
    drafted = session.planning.drafted_at
    start = resolved_block(session.planning.plan or TBPlan(date=session.date, tz=session.tz), key).start
    return drafted is not None and start.astimezone(UTC) < drafted.astimezone(UTC)


def _keys_on_calendar(session: Session) -> set[str]:
    """Return the keys of the blocks that are on the calendar, by the last snapshot or written since."""
    snapshot = session.day.snapshot
    if snapshot is None:
        known = session.planning.plan if session.sync.written is not None else None
        return set() if known is None else {event.block_key for event in known.events}
    return {key for event in snapshot.live.values() if (key := own_key(event, session.date)) is not None}


def _clock(session: Session, at: datetime) -> str:
    return f"{instant(ceil(at)).astimezone(zone(session.tz)):%H:%M}"


def _current_plan(session: Session, now: datetime) -> TBPlan:
    if session.planning.plan is None:
        raise BadInput(_(NO_PLAN))
    if day_window(session.date, session.tz)[1].astimezone(UTC) <= now.astimezone(UTC):
        raise BadInput(_(OVER))
    return session.planning.plan


def _fit(before: Session, day: Session, plan: TBPlan, instance: Instance, at: datetime, said: list[str]) -> Refit:
    instance = replace(instance.from_now(plan, at), placed=tuple(sorted(find_placed(before))))
    open_ = {each.task_id: task for each in day.planning.unplaced if (task := _task_of(day, each)) is not None}
    result = refit_plan(plan, instance, tuple(day_of(day).task(work_of(day, task)) for task in open_.values()))
    kept = tuple(each for each in day.planning.unplaced if each.task_id not in open_)
    blocks = {block.key: block for block in resolve(plan)}
    left = tuple(_to_unplaced(day, each, blocks, open_) for each in result.unplaced)
    day = day.with_planning(unplaced=(*kept, *left))
    day = carry_basis(before, day.with_planning(sketch=None))
    lines = (*said, *list_differences(day, before.planning.plan or plan, result.plan))
    if result.conflict is not None:
        lines = (*lines, result.conflict.sentence)
    return Refit(day, result.plan, lines or (_(STANDS),))


def _task_of(session: Session, unplaced: Unplaced) -> Task | None:
    """Return the task to place when there is room, or ``None`` for lunch and the like."""
    listed = (task for task in session.day.inputs.tasks if task.id == unplaced.task_id)
    return unplaced.task or next(listed, None)


def _to_unplaced(session: Session, left: UnplacedItem, blocks: dict[str, Resolved], known: dict[str, Task]) -> Unplaced:
    task = known.get(left.id)
    if task is None and left.id in blocks:
        task = task_from_block(blocks[left.id], blocks[left.id].minutes)
    listed = any(each == task for each in session.day.inputs.tasks)
    return Unplaced(
        task_id=left.id,
        title=left.title,
        reason=left.reason,
        offers=options_for(session, left.choices),
        task=None if listed else task,
    )


def _with_changed_task(session: Session, each: Unplaced, task: Task) -> Session:
    changed = replace(each, task=task)
    listed = _replace_task(session.day.inputs.tasks, task)
    unplaced = tuple(changed if u == each else u for u in session.planning.unplaced)
    return session.with_day(inputs=replace(session.day.inputs, tasks=listed)).with_planning(unplaced=unplaced)


def _replace_task(tasks: Iterable[Task], task: Task) -> tuple[Task, ...]:
    def each() -> Iterator[Task]:
        for known in tasks:
            yield task if known.id == task.id else known

    return tuple(each())


def _without_task(session: Session, task: str) -> Session:
    """Return the session without a task, on its list and among the unplaced."""
    return session.with_day(
        inputs=replace(session.day.inputs, tasks=tuple(each for each in session.day.inputs.tasks if each.id != task))
    ).with_planning(unplaced=tuple(each for each in session.planning.unplaced if task_of(each.task_id, [task]) != task))
