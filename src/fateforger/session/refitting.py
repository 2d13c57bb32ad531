"""Refit the rest of a session's day: after its course so far, or with an option for unplaced work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from fateforger.constraints.wording import join_words
from fateforger.drafting import UnplacedItem
from fateforger.drafting.draft import is_splittable, length
from fateforger.drafting.instance import Instance
from fateforger.drafting.instance import Task as Piece
from fateforger.drafting.minutes import ceil, instant
from fateforger.drafting.naming import task_of
from fateforger.drafting.refit import refit_plan
from fateforger.drafting.replan import finish_early, from_now, keys_before, start_from
from fateforger.errors import BadInput
from fateforger.plan import ET, Resolved, TBPlan, resolve, zone
from fateforger.session import commands
from fateforger.session.differences import list_differences
from fateforger.session.elapsed import apply_delay, move_missed, rest_of_task, task_from_block, task_id_of
from fateforger.session.fitting import options_for
from fateforger.session.frame import day_window, is_over
from fateforger.session.meetings import own_key
from fateforger.session.model import Facts, InputFacts, Session, Task, Unplaced
from fateforger.session.placing import resolved_block
from fateforger.session.skeleton import basis, instance_in, work_of
from fateforger.session.tasks import keep_for_later
from fateforger.values import replace

OptionCommand = (
    commands.RemoveTask | commands.ResizeTask | commands.AdjustFrame | commands.DeferTask | commands.SplitTask
)
"""Commands for an item that found no place, while the plan is refined."""
OVER = "That day is over, so there is nothing left of it to plan anew."
NO_PLAN = "There is no plan to fit anew yet."
GONE = "That is not open any more; please look at the newest card."
STANDS = "Nothing has to move; the rest of your day stands as it is."
FACTS = tuple(Facts.model_fields)


@dataclass(frozen=True, slots=True)
class Refit:
    """A refit: the session with changed facts, its plan, and a sentence for each difference."""

    session: Session
    plan: TBPlan
    lines: tuple[str, ...]


def facts_of(session: Session) -> Facts:
    """Return the facts that a refit may change besides the plan."""
    return Facts(
        frame=session.frame,
        inputs=session.inputs,
        deferred=session.deferred,
        unplaced=session.unplaced,
        settled=session.settled,
        draft_basis=session.draft_basis,
    )


def with_facts(session: Session, facts: Facts | None) -> Session:
    """Return the session with these facts, if any."""
    return session if facts is None else session.model_copy(update={name: getattr(facts, name) for name in FACTS})


def replan_day(session: Session, command: commands.Replan, now: datetime) -> Refit:
    """Refit the day from ``now`` on, given its course so far.

    Raises ``UserError``; nothing is changed then.
    """
    plan = _current_plan(session, now)
    at, day = now.astimezone(UTC), session
    instance = from_now(instance_in(session), plan, now)
    said: list[str] = []
    for key in dict.fromkeys((*command.done, *command.not_today)):
        task = task_id_of(session, resolved_block(session.plan or plan, key))
        rest = rest_of_task(session, plan, task, at, whole=key in command.not_today)
        instance = finish_early(instance, plan, now, task)
        plan = instance.previous or plan
        title = resolved_block(session.plan or plan, key).event.name if rest is None else rest.title
        if key in command.not_today and rest is not None:
            day = replace(day, deferred=(*day.deferred, keep_for_later(rest)))
            said.append(f"“{title}” waits for another day; I offer it again when you plan one.")
        elif key in command.done:
            day = replace(day, settled=tuple(dict.fromkeys((*day.settled, task))))
            said.append(f"“{title}” is done.")
        day = _without_task(day, task)
    plan = move_missed(plan, command, at)
    if command.late:
        day, instance, plan = apply_delay(day, instance, plan, command.late, now)
    return _fit(session, day, plan, instance, at, said)


def with_option(session: Session, command: OptionCommand, now: datetime) -> Refit:
    """Refit the day with an option taken for an item that found no place.

    Raises ``UserError``; nothing is changed then.
    """
    plan = _current_plan(session, now)
    if isinstance(command, commands.AdjustFrame):
        ends = {"day_start": command.day_start, "day_end": command.day_end}
        changes = {name: value for name, value in ends.items() if value is not None}
        day = replace(session, frame=session.frame.model_copy(update=changes))
        return _fit(session, day, plan, instance_in(day), now.astimezone(UTC), [])
    each = next((u for u in session.unplaced if u.task_id == command.task_id), None)
    task = None if each is None else _task_of(session, each)
    if each is None or task is None:
        raise BadInput(GONE)
    said: list[str] = []
    match command:
        case commands.ResizeTask(minutes=minutes):
            day = _with_changed_task(session, each, replace(task, minutes=minutes))
        case commands.SplitTask():
            day = _with_changed_task(session, each, replace(task, in_pieces=True))
        case commands.DeferTask():
            day = _without_task(session, each.task_id)
            day = replace(day, deferred=(*day.deferred, keep_for_later(task)))
            said = [f"“{task.title}” waits for another day; I offer it again when you plan one."]
        case _:
            day = _without_task(session, each.task_id)
            said = [f"“{task.title}” is off your list."]
    return _fit(session, day, plan, instance_in(day), now.astimezone(UTC), said)


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
    plan, at = session.plan, now.astimezone(UTC)
    if plan is None:
        return None
    stays = {*_keys_on_calendar(session), *session.put_in_past}
    late = [key for key in keys_before(plan, at) if key not in stays and not _is_past_by_choice(session, key)]
    if not late:
        return None
    if is_over(session, now):
        raise BadInput(OVER)
    known = replace(session, unplaced=tuple(u for u in session.unplaced if u.task_id not in set(late)))
    refit = _fit(session, known, start_from(plan, late, at), instance_in(session), at, [])
    titles = join_words([f"“{resolved_block(plan, key).event.name}”" for key in late])
    line = f"{titles} would have begun before now, so I replanned the rest of your day from {_clock(session, at)} on."
    return replace(refit, lines=(line, *refit.lines))


def with_put_in_past(before: Session, after: Session, now: datetime) -> Session:
    """Return ``after`` with a record of each block that the person's change placed in the past."""
    if after.plan is None:
        return after
    was = {} if before.plan is None else {b.key: b.start.astimezone(UTC) for b in resolve(before.plan)}
    starts = {b.key: b.start.astimezone(UTC) for b in resolve(after.plan)}
    put = [key for key in keys_before(after.plan, now) if was.get(key) != starts[key]]
    return replace(after, put_in_past=tuple(dict.fromkeys((*after.put_in_past, *put)))) if put else after


def _is_past_by_choice(session: Session, key: str) -> bool:
    """Check whether a block begins before the plan was drafted: no draft places one there."""
    drafted = session.drafted_at
    start = resolved_block(session.plan or TBPlan(date=session.date, tz=session.tz), key).start
    return drafted is not None and start.astimezone(UTC) < drafted.astimezone(UTC)


def _keys_on_calendar(session: Session) -> set[str]:
    """Return the keys of the blocks that are on the calendar, by the last snapshot or written since."""
    snapshot = session.snapshot
    if snapshot is None:
        known = session.plan if session.written is not None else None
        return set() if known is None else {event.block_key for event in known.events}
    live = (event for event in (*snapshot.events, *snapshot.fetched.values()) if event is not None and not event.gone)
    return {key for event in live if (key := own_key(event, session.date)) is not None}


def _clock(session: Session, at: datetime) -> str:
    return f"{instant(ceil(at)).astimezone(zone(session.tz)):%H:%M}"


def _current_plan(session: Session, now: datetime) -> TBPlan:
    if session.plan is None:
        raise BadInput(NO_PLAN)
    if day_window(session.date, session.tz)[1].astimezone(UTC) <= now.astimezone(UTC):
        raise BadInput(OVER)
    return session.plan


def _fit(before: Session, day: Session, plan: TBPlan, instance: Instance, at: datetime, said: list[str]) -> Refit:
    instance = from_now(instance, plan, at)
    open_ = {each.task_id: task for each in day.unplaced if (task := _task_of(day, each)) is not None}
    result = refit_plan(plan, instance, tuple(_as_piece(task) for task in open_.values()))
    kept = tuple(each for each in day.unplaced if each.task_id not in open_)
    blocks = {block.key: block for block in resolve(plan)}
    left = tuple(_to_unplaced(day, each, blocks, open_) for each in result.unplaced)
    day = replace(day, unplaced=(*kept, *left))
    if before.draft_basis is not None and before.draft_basis == basis(before):
        day = replace(day, draft_basis=basis(day))
    lines = (*said, *list_differences(before.plan or plan, result.plan))
    if result.conflict is not None:
        lines = (*lines, result.conflict.sentence)
    return Refit(day, result.plan, lines or (STANDS,))


def _task_of(session: Session, unplaced: Unplaced) -> Task | None:
    """Return the task to place when there is room, or ``None`` for lunch and the like."""
    listed = (task for task in session.inputs.tasks if task.id == unplaced.task_id)
    return unplaced.task or next(listed, None)


def _to_unplaced(session: Session, left: UnplacedItem, blocks: dict[str, Resolved], known: dict[str, Task]) -> Unplaced:
    task = known.get(left.id)
    if task is None and left.id in blocks:
        task = task_from_block(blocks[left.id], blocks[left.id].minutes)
    listed = any(each == task for each in session.inputs.tasks)
    return Unplaced(
        task_id=left.id,
        title=left.title,
        reason=left.reason,
        offers=options_for(session, left.choices),
        task=None if listed else task,
    )


def _as_piece(task: Task) -> Piece:
    work = work_of(task)
    return Piece(
        id=task.id,
        title=task.title,
        minutes=length(work),
        type=ET.DEEP_WORK if work.deep else ET.SHALLOW_WORK,
        splittable=is_splittable(work),
        notes=work.notes,
    )


def _with_changed_task(session: Session, each: Unplaced, task: Task) -> Session:
    changed = replace(each, task=task)
    listed = _replace_task(session.inputs.tasks, task)
    unplaced = tuple(changed if u == each else u for u in session.unplaced)
    return replace(session, inputs=InputFacts(tasks=listed), unplaced=unplaced)


def _replace_task(tasks: Iterable[Task], task: Task) -> tuple[Task, ...]:
    def each() -> Iterator[Task]:
        for known in tasks:
            yield task if known.id == task.id else known

    return tuple(each())


def _without_task(session: Session, task: str) -> Session:
    """Return the session without a task, on its list and among the unplaced."""
    return replace(
        session,
        inputs=InputFacts(tasks=tuple(each for each in session.inputs.tasks if each.id != task)),
        unplaced=tuple(each for each in session.unplaced if task_of(each.task_id, [task]) != task),
    )
