"""The rest of a session's day, fitted anew: after how it went so far, or a way out for what has no room. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fateforger.drafting import Left
from fateforger.drafting.draft import length, splittable
from fateforger.drafting.instance import Instance
from fateforger.drafting.instance import Task as Piece
from fateforger.drafting.minutes import GRID, ceil, instant
from fateforger.drafting.naming import task_of
from fateforger.drafting.refit import refitted
from fateforger.drafting.replan import begun_at, done_early, from_now, running_late
from fateforger.errors import BadInput
from fateforger.plan import ET, Resolved, TBPlan, resolve
from fateforger.session import commands
from fateforger.session.differences import differences
from fateforger.session.fitting import ways_out
from fateforger.session.frame import day_window
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Depth, Facts, InputFacts, Session, Task, Unplaced
from fateforger.session.placing import by_time, resolved_block
from fateforger.session.skeleton import basis, instance_in, work_of
from fateforger.session.tasks import left_for_later

WayOut = commands.RemoveTask | commands.ResizeTask | commands.AdjustFrame | commands.DeferTask | commands.SplitTask
"""What can be done, while the plan is refined, about something that found no place in it."""
OVER = "That day is over, so there is nothing left of it to plan anew."
NO_PLAN = "There is no plan to fit anew yet."
GONE = "That is not open any more; please look at the newest card."
STANDS = "Nothing has to move; the rest of your day stands as it is."

FACTS = tuple(Facts.model_fields)


@dataclass(frozen=True, slots=True)
class Refit:
    """The session with the facts that changed, the plan that goes with them, and a sentence for each difference."""

    session: Session
    plan: TBPlan
    lines: tuple[str, ...]


def facts_of(session: Session) -> Facts:
    """What a refit may change besides the plan."""
    return Facts(
        frame=session.frame,
        inputs=session.inputs,
        deferred=session.deferred,
        unplaced=session.unplaced,
        draft_basis=session.draft_basis,
    )


def with_facts(session: Session, facts: Facts | None) -> Session:
    """The session with these facts, where there are any."""
    return session if facts is None else session.model_copy(update={name: getattr(facts, name) for name in FACTS})


def replanned(session: Session, command: commands.Replan, now: datetime) -> Refit:
    """The day from ``now`` on, after what became of it so far. Raises ``UserError`` and changes nothing."""
    plan = _standing(session, now)
    at, day = now.astimezone(UTC), session
    instance = from_now(instance_in(session), plan, now)
    said: list[str] = []
    for key in dict.fromkeys((*command.done, *command.not_today)):
        task = _whose(session, resolved_block(session.plan or plan, key))
        rest = _left_of(session, plan, task, at, whole=key in command.not_today)
        instance = done_early(instance, plan, now, task)
        plan = instance.previous or plan
        title = resolved_block(session.plan or plan, key).event.name if rest is None else rest.title
        if key in command.not_today and rest is not None:
            day = day.model_copy(update={"deferred": (*day.deferred, left_for_later(rest))})
            said.append(f"“{title}” waits for another day; I offer it again when you plan one.")
        elif key in command.done:
            said.append(f"“{title}” is done.")
        day = _without(day, task)
    plan = _behind(plan, command, at)
    if command.late:
        day, instance, plan = _late(day, instance, plan, command.late, now)
    return _fitted(session, day, plan, instance, at, said)


def with_way_out(session: Session, command: WayOut, now: datetime) -> Refit:
    """The day with a way out taken for something that found no place. Raises ``UserError`` and changes nothing."""
    plan = _standing(session, now)
    if isinstance(command, commands.AdjustFrame):
        ends = {"day_start": command.day_start, "day_end": command.day_end}
        changes = {name: value for name, value in ends.items() if value is not None}
        day = session.model_copy(update={"frame": session.frame.model_copy(update=changes)})
        return _fitted(session, day, plan, instance_in(day), now.astimezone(UTC), [])
    each = next((u for u in session.unplaced if u.task_id == command.task_id), None)
    task = None if each is None else _task_of(session, each)
    if each is None or task is None:
        raise BadInput(GONE)
    said: list[str] = []
    match command:
        case commands.ResizeTask(minutes=minutes):
            day = _instead(session, each, task.model_copy(update={"minutes": minutes}))
        case commands.SplitTask():
            day = _instead(session, each, task.model_copy(update={"in_pieces": True}))
        case commands.DeferTask():
            day = _without(session, each.task_id)
            day = day.model_copy(update={"deferred": (*day.deferred, left_for_later(task))})
            said = [f"“{task.title}” waits for another day; I offer it again when you plan one."]
        case _:
            day = _without(session, each.task_id)
            said = [f"“{task.title}” is off your list."]
    return _fitted(session, day, plan, instance_in(day), now.astimezone(UTC), said)


def once_more(session: Session, now: datetime) -> Refit:
    """The day fitted anew as it is. Raises ``UserError``."""
    return _fitted(session, session, _standing(session, now), instance_in(session), now.astimezone(UTC), [])


def _standing(session: Session, now: datetime) -> TBPlan:
    if session.plan is None:
        raise BadInput(NO_PLAN)
    if day_window(session.date, session.tz)[1].astimezone(UTC) <= now.astimezone(UTC):
        raise BadInput(OVER)
    return session.plan


def _fitted(before: Session, day: Session, plan: TBPlan, instance: Instance, at: datetime, said: list[str]) -> Refit:
    instance = from_now(instance, plan, at)
    open_ = {each.task_id: task for each in day.unplaced if (task := _task_of(day, each)) is not None}
    result = refitted(plan, instance, tuple(_as_piece(task) for task in open_.values()))
    kept = tuple(each for each in day.unplaced if each.task_id not in open_)
    blocks = {block.key: block for block in resolve(plan)}
    left = tuple(_unplaced(day, each, blocks, open_) for each in result.unplaced)
    day = day.model_copy(update={"unplaced": (*kept, *left)})
    if before.draft_basis is not None and before.draft_basis == basis(before):
        day = day.model_copy(update={"draft_basis": basis(day)})
    lines = (*said, *differences(before.plan or plan, result.plan))
    if result.conflict is not None:
        lines = (*lines, result.conflict.sentence)
    return Refit(day, result.plan, lines or (STANDS,))


# --- how the day went ---


def _behind(plan: TBPlan, command: commands.Replan, at: datetime) -> TBPlan:
    """The plan with what should have been done by now, and is not, from now on."""
    missed = [key for key in command.missed if key not in {*command.done, *command.not_today}]
    under_way = _under_way(plan, at)
    if command.late == 0 and under_way is not None and under_way.key not in missed:
        missed.append(under_way.key)
    start = instant(ceil(at))
    for key in sorted(dict.fromkeys(missed), key=lambda key: resolved_block(plan, key).start.astimezone(UTC)):
        block = resolved_block(plan, key)
        if block.start.astimezone(UTC) >= at:
            continue
        plan = begun_at(plan, key, start)
        start += timedelta(minutes=-(-block.minutes // GRID) * GRID)
    return plan


def _late(
    day: Session, instance: Instance, plan: TBPlan, minutes: int, now: datetime
) -> tuple[Session, Instance, TBPlan]:
    """What is under way takes longer, or what comes next begins later. A meeting ends what is under way; what is left
    of it then is still to be done."""
    at = now.astimezone(UTC)
    under_way = _under_way(plan, at)
    if under_way is not None:
        room = _until_meeting(day, under_way)
        rest = 0 if room is None else max(0, minutes - room)
        late = running_late(instance, plan, now, under_way.key, minutes - rest)
        return _with_rest(day, plan, under_way, rest), late, late.previous or plan
    following = next((b for b in by_time(plan) if b.start.astimezone(UTC) >= at and _movable(b)), None)
    if following is None:
        raise BadInput("Nothing is left on your plan that could be late.")
    start = following.start.astimezone(UTC) + timedelta(minutes=minutes)
    return day, instance, begun_at(plan, following.key, start)


def _until_meeting(session: Session, block: Resolved) -> int | None:
    """The minutes between the end of a block and the next meeting; ``None`` when none comes."""
    end = block.end.astimezone(UTC)
    starts = [m.start.astimezone(UTC) for m in busy_meetings(session) if m.end.astimezone(UTC) > end]
    return max(0, (min(starts) - end) // timedelta(minutes=1)) if starts else None


def _with_rest(session: Session, plan: TBPlan, block: Resolved, minutes: int) -> Session:
    """The session with what is left of a block among what has no place yet."""
    if not minutes:
        return session
    stem, used = _whose(session, block), {e.block_key for e in plan.events} | {u.task_id for u in session.unplaced}
    key = next(key for n in range(2, 1000) if (key := f"{stem}-{n}") not in used)
    task = _as_kept(block, minutes).model_copy(update={"id": key})
    rest = Unplaced(task_id=key, title=task.title, reason="the day is full", task=task)
    return session.model_copy(update={"unplaced": (*session.unplaced, rest)})


def _under_way(plan: TBPlan, at: datetime) -> Resolved | None:
    there = [b for b in by_time(plan) if b.start.astimezone(UTC) < at < b.end.astimezone(UTC) and _movable(b)]
    return there[-1] if there else None


def _movable(block: Resolved) -> bool:
    return block.event.type not in {ET.BACKGROUND, ET.MEETING}


def _whose(session: Session, block: Resolved) -> str:
    """The task of a block; a block of the person's own is its own."""
    return task_of(block.key, (task.id for task in session.inputs.tasks)) or block.key


def _left_of(session: Session, plan: TBPlan, task: str, at: datetime, *, whole: bool) -> Task | None:
    """What is still to be done of a task after ``at``, as one to be kept; ``None`` when nothing is. ``whole``: what
    lies behind was not done."""
    mine = [b for b in resolve(plan) if task_of(b.key, [task]) == task]
    minutes = sum((_after(block, at) for block in mine), start=timedelta()) // timedelta(minutes=1)
    known = next((each for each in session.inputs.tasks if each.id == task), None)
    if minutes < 1 and not whole:
        return None
    if minutes < 1:
        minutes = sum(block.minutes for block in mine)
    if known is not None:
        return known.model_copy(update={"minutes": known.minutes and min(minutes, 24 * 60)})
    return _as_kept(mine[0], minutes)


def _after(block: Resolved, at: datetime) -> timedelta:
    return max(timedelta(), block.end.astimezone(UTC) - max(at, block.start.astimezone(UTC)))


# --- what has no room ---


def _task_of(session: Session, unplaced: Unplaced) -> Task | None:
    """What is to be put on the plan when there is room for it; ``None`` for what is no task, like lunch."""
    listed = (task for task in session.inputs.tasks if task.id == unplaced.task_id)
    return unplaced.task or next(listed, None)


def _unplaced(session: Session, left: Left, blocks: dict[str, Resolved], known: dict[str, Task]) -> Unplaced:
    task = known.get(left.id)
    if task is None and left.id in blocks:
        task = _as_kept(blocks[left.id], blocks[left.id].minutes)
    listed = any(each == task for each in session.inputs.tasks)
    return Unplaced(
        task_id=left.id,
        title=left.title,
        reason=left.reason,
        offers=ways_out(session, left.choices),
        task=None if listed else task,
    )


def _as_kept(block: Resolved, minutes: int) -> Task:
    depth = Depth.DEEP if block.event.type is ET.DEEP_WORK else Depth.SHALLOW
    title, notes = block.event.name[:300], block.event.description[:3000]
    return Task(id=block.key, title=title, minutes=max(1, min(minutes, 24 * 60)), depth=depth, notes=notes)


def _as_piece(task: Task) -> Piece:
    work = work_of(task)
    return Piece(
        id=task.id,
        title=task.title,
        minutes=length(work),
        type=ET.DEEP_WORK if work.deep else ET.SHALLOW_WORK,
        splittable=splittable(work),
        notes=work.notes,
    )


def _instead(session: Session, each: Unplaced, task: Task) -> Session:
    changed = each.model_copy(update={"task": task})
    listed = _replacing(session.inputs.tasks, task)
    unplaced = tuple(changed if u == each else u for u in session.unplaced)
    return session.model_copy(update={"inputs": InputFacts(tasks=listed), "unplaced": unplaced})


def _replacing(tasks: Iterable[Task], task: Task) -> tuple[Task, ...]:
    def each() -> Iterator[Task]:
        for known in tasks:
            yield task if known.id == task.id else known

    return tuple(each())


def _without(session: Session, task: str) -> Session:
    """The session without a task on its list and among what found no place."""
    return session.model_copy(
        update={
            "inputs": InputFacts(tasks=tuple(each for each in session.inputs.tasks if each.id != task)),
            "unplaced": tuple(each for each in session.unplaced if task_of(each.task_id, [task]) != task),
        }
    )
