"""A session's day from its meetings, frame, lunch and tasks, by the engine: nothing overlaps, nothing is left out
unsaid.

Meetings stay where they are (S121). The one thing comes first and early, then deep work, then shallow work, each in the
order of priority. Work without minutes gets a usual length, so that a day without any numbers still plans (S106).
"""

from __future__ import annotations

from dataclasses import replace

from fateforger.drafting.blocks import block
from fateforger.drafting.free import Stretch, blocked, frame_of
from fateforger.drafting.instance import Frame, Immovable, Instance, Task, Told
from fateforger.drafting.leftover import why_left
from fateforger.drafting.lunch import LUNCH, lunch_stretch, wants_lunch
from fateforger.drafting.minutes import instant
from fateforger.drafting.model import Day, Draft, Left, Work
from fateforger.drafting.naming import USUAL_DEEP, USUAL_SHALLOW
from fateforger.drafting.place import PIECE, SPLITTABLE, Board, on_grid
from fateforger.drafting.policy import Policy
from fateforger.drafting.solve import draft_instance
from fateforger.plan import ET, TBPlan, resolve

STEPS = 600
"""A person waits for this draft."""
_POLICY = Policy(lunch=None, before_deep=0, after_meal=0, shutdown=0, longest_focus=None, deep_blocks=None)


def draft(day: Day, told: tuple[Told, ...] = ()) -> Draft:
    """Place what fits and name what does not, keeping what the person ``told`` about such days (S21). The order of
    ``day.busy`` does not matter. Lunch lies where it lies without any work."""
    frame = frame_of(day)
    lunch = _lunch(day, frame)
    missing = () if lunch is not None or not _asks_for_lunch(day, frame) else (_no_lunch(day),)
    if frame.minutes == 0:
        left = tuple(Left(w.id, w.title, why_left(length(w), 0, 0, 0)) for w in day.works)
        return Draft(TBPlan(date=day.date, tz=day.tz), (*missing, *left))
    result = draft_instance(_instance(day, lunch, told), steps=STEPS)
    plan = result.plan if lunch is None else _with_lunch(day, result.plan, lunch)
    return replace(result, plan=plan, unplaced=(*missing, *result.unplaced))


def length(work: Work) -> int:
    """Minutes, or the usual ones when they were left open."""
    return work.minutes or (USUAL_DEEP if work.deep else USUAL_SHALLOW)


def _asks_for_lunch(day: Day, frame: Stretch) -> bool:
    return day.lunch is not None and wants_lunch(frame, day.lunch)


def _lunch(day: Day, frame: Stretch) -> Stretch | None:
    if day.lunch is None or not wants_lunch(frame, day.lunch):
        return None
    return lunch_stretch(Board(frame, list(blocked(day.busy))), day.lunch)


def _no_lunch(day: Day) -> Left:
    assert day.lunch is not None  # noqa: S101  only asked for a day with one
    return Left(day.lunch.key, LUNCH, "meetings leave no 20 minutes free around that time")


def _with_lunch(day: Day, plan: TBPlan, lunch: Stretch) -> TBPlan:
    assert day.lunch is not None  # noqa: S101  only asked for a day with one
    start = instant(lunch.start)
    event = block(day, start, lunch.minutes, key=day.lunch.key, name=LUNCH, kind=ET.REGENERATION)
    blocks = resolve(plan.replace((*plan.events, event)))
    return plan.replace(b.event for b in sorted(blocks, key=lambda b: b.start.timestamp()))


def _instance(day: Day, lunch: Stretch | None, told: tuple[Told, ...]) -> Instance:
    busy = [Immovable(start=b.start, end=b.end) for b in day.busy if b.start < b.end]
    if lunch is not None:
        start, end = instant(lunch.start), instant(lunch.end)
        busy.append(Immovable(title=LUNCH, type=ET.REGENERATION, start=start, end=end))
    return Instance(
        date=day.date,
        tz=day.tz,
        frame=Frame(start=day.start, end=day.end),
        immovables=tuple(busy),
        tasks=tuple(_task(work, place, len(day.works)) for place, work in enumerate(day.works)),
        constraints=told,
        policy=_POLICY,
    )


def _task(work: Work, place: int, of: int) -> Task:
    return Task(
        id=work.id,
        title=work.title,
        minutes=length(work),
        type=ET.DEEP_WORK if work.deep else ET.SHALLOW_WORK,
        splittable=work.deep and work.minutes is not None and on_grid(work.minutes) >= SPLITTABLE,
        min_chunk=PIECE,
        max_pieces=6,
        priority=1 + 5 * place // of,
        one_thing=work.first,
        notes=work.notes,
    )
