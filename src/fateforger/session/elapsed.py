"""Account for the day so far: missed blocks, delays, and the rest of a task."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fateforger.drafting.instance import Instance
from fateforger.drafting.naming import task_of
from fateforger.drafting.replan import extend_current_block, start_at, start_from
from fateforger.errors import BadInput
from fateforger.plan import ET, Resolved, TBPlan, resolve
from fateforger.session import commands
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Depth, Session, Task, Unplaced
from fateforger.session.placing import by_time, resolved_block
from fateforger.values import replace


def move_missed(plan: TBPlan, command: commands.Replan, at: datetime) -> TBPlan:
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
        raise BadInput("Nothing is left on your plan that could be late.")
    start = following.start.astimezone(UTC) + timedelta(minutes=minutes)
    return day, instance, start_at(plan, following.key, start)


def task_id_of(session: Session, block: Resolved) -> str:
    """Return the task id of a block, or the block's own key if it has no task."""
    return task_of(block.key, (task.id for task in session.inputs.tasks)) or block.key


def rest_of_task(session: Session, plan: TBPlan, task: str, at: datetime, *, whole: bool) -> Task | None:
    """Return the rest of a task after ``at``, as a task to keep, or ``None`` if nothing is left.

    With ``whole``, nothing before ``at`` was done.
    """
    mine = [b for b in resolve(plan) if task_of(b.key, [task]) == task]
    minutes = sum((_time_after(block, at) for block in mine), start=timedelta()) // timedelta(minutes=1)
    known = next((each for each in session.inputs.tasks if each.id == task), None)
    if minutes < 1 and not whole:
        return None
    if minutes < 1:
        minutes = sum(block.minutes for block in mine)
    if known is not None:
        return replace(known, minutes=known.minutes and min(minutes, 24 * 60))
    return task_from_block(mine[0], minutes)


def task_from_block(block: Resolved, minutes: int) -> Task:
    """Turn a block of the person's own into a task of that many minutes, under the same key."""
    depth = Depth.DEEP if block.event.type is ET.DEEP_WORK else Depth.SHALLOW
    title, notes = block.event.name[:300], block.event.description[:3000]
    return Task(id=block.key, title=title, minutes=max(1, min(minutes, 24 * 60)), depth=depth, notes=notes)


def _until_meeting(session: Session, block: Resolved) -> int | None:
    """Return the minutes between the end of a block and the next meeting, or ``None``."""
    end = block.end.astimezone(UTC)
    starts = [m.start.astimezone(UTC) for m in busy_meetings(session) if m.end.astimezone(UTC) > end]
    return max(0, (min(starts) - end) // timedelta(minutes=1)) if starts else None


def _with_rest(session: Session, plan: TBPlan, block: Resolved, minutes: int) -> Session:
    """Return the session with the rest of a block among its unplaced tasks."""
    if not minutes:
        return session
    stem, used = task_id_of(session, block), {e.block_key for e in plan.events} | {u.task_id for u in session.unplaced}
    key = next(key for n in range(2, 1000) if (key := f"{stem}-{n}") not in used)
    task = replace(task_from_block(block, minutes), id=key)
    rest = Unplaced(task_id=key, title=task.title, reason="the day is full", task=task)
    return replace(session, unplaced=(*session.unplaced, rest))


def _current_block(plan: TBPlan, at: datetime) -> Resolved | None:
    there = [b for b in by_time(plan) if b.start.astimezone(UTC) < at < b.end.astimezone(UTC) and _is_movable(b)]
    return there[-1] if there else None


def _is_movable(block: Resolved) -> bool:
    return block.event.type not in {ET.BACKGROUND, ET.MEETING}


def _time_after(block: Resolved, at: datetime) -> timedelta:
    return max(timedelta(), block.end.astimezone(UTC) - max(at, block.start.astimezone(UTC)))
