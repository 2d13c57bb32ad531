"""Draft a session's day from its meetings, frame, lunch, and tasks.

Meetings stay where they are (S121). The one thing comes first and early, then deep work, then shallow work, each in
order of priority. Nothing overlaps, and everything left out is reported. Work without minutes gets a usual length, so
a day without any numbers still plans (S106).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from fateforger.constraints.kinds import Necessity
from fateforger.drafting.axis import stretches
from fateforger.drafting.free import Stretch, busy_stretches, frame_of
from fateforger.drafting.ground import build_context
from fateforger.drafting.instance import Frame, Immovable, Instance, Pin, Task, Told
from fateforger.drafting.leftover import explain_left
from fateforger.drafting.lunch import DRIFT, LUNCH, SHORTEST, lunch_stretch, wants_lunch
from fateforger.drafting.minutes import GRID, instant
from fateforger.drafting.model import Day, Draft, PlacementOption, UnplacedItem, Work
from fateforger.drafting.naming import USUAL_DEEP, USUAL_SHALLOW, is_shutdown
from fateforger.drafting.place import PIECE, SPLITTABLE, OccupiedFrame, on_grid
from fateforger.drafting.policy import Lunch, Policy
from fateforger.drafting.solve import STEPS, Solution, solve_context
from fateforger.drafting.solve import to_draft as draft_of
from fateforger.drafting.ways import apply_option, filter_options
from fateforger.errors import BadInput
from fateforger.plan import ET, TBPlan, zone
from fateforger.values import replace

TRIAL_STEPS = 3_300
"""Steps of a trial draft that only tests whether an option helps: a few hundredths of a second."""
NO_LUNCH = "meetings leave no 20 minutes free around that time"
NO_LUNCH_BY_RULES = "meetings and your rules leave no 20 minutes free around that time"


def draft(day: Day, told: Sequence[Told] = (), *, steps: int = STEPS) -> Draft:
    """Place the work that fits, keep the constraints in ``told``, and report the rest (S21).

    The order of ``day.busy`` does not matter. Lunch lies where it would lie without any work. The engine, the policy,
    and the search are those of :func:`fateforger.drafting.draft_instance` (K10). ``steps`` limits the search.
    """
    frame = frame_of(day)
    if frame.minutes == 0:
        whole = (UnplacedItem(w.id, w.title, explain_left(length(w), 0, 0, 0)) for w in day.works)
        return Draft(TBPlan(date=day.date, tz=day.tz), (*_lunch_left_out(day, frame, told), *whole))
    instance = instance_of(day, told)
    filled = _solve(day, instance, steps)
    result = draft_of(filled)
    left = [_explain_lunch(day, told, each) for each in result.unplaced]
    return replace(
        result, unplaced=filter_options(left, lambda each, way: _placed_with_option(day, told, filled, each, way))
    )


def draft_lunch(day: Day, told: Sequence[Told] = ()) -> Draft:
    """Return a draft of lunch alone, placed as :func:`draft` places it, or the reason it has no place."""
    bare = replace(day, works=())
    frame = frame_of(bare)
    if frame.minutes == 0:
        return draft(bare, told)
    instance = instance_of(bare, told)
    policy = replace(instance.policy, shutdown=0)
    result = draft_of(_solve(bare, replace(instance, policy=policy), TRIAL_STEPS))
    return replace(result, unplaced=tuple(_explain_lunch(bare, told, each) for each in result.unplaced))


def policy_of(day: Day) -> Policy:
    """Return the one policy for a day (K10).

    It is the usual policy, with lunch at the time and length wished for, or without lunch when the wish lies outside
    the frame.
    """
    if day.lunch is None or not wants_lunch(frame_of(day), day.lunch):
        return Policy(lunch=None)
    minutes = max(GRID, day.lunch.minutes)
    start = day.lunch.start.astimezone(zone(day.tz)).time()
    return Policy(lunch=Lunch(start=start, minutes=minutes, shortest=min(SHORTEST, minutes), drift=DRIFT))


def _placed_with_option(
    day: Day, told: Sequence[Told], filled: Solution, left: UnplacedItem, choice: PlacementOption
) -> set[str]:
    """Return the ids that have a place in the draft that an option leads to.

    The set is empty when the option takes a place from other work.
    """
    try:
        other, rules = apply_option(day, told, left.id, choice)
        after = _solve(other, instance_of(other, rules), TRIAL_STEPS)
    except BadInput:  # the frame would be longer than any day is
        return set()
    keeps = set(after.relaxed) <= set(filled.relaxed) and _placed_ids(filled) <= _placed_ids(after)
    return _placed_ids(after) if keeps else set()


def _placed_ids(filled: Solution) -> set[str]:
    """Return the ids of placed work and lunch; the shutdown is left out because it yields to them."""
    there = zip(filled.problem.items, filled.found.placed, strict=True)
    return {item.id for item, pieces in there if pieces and not is_shutdown(item.id)}


def _solve(day: Day, instance: Instance, steps: int) -> Solution:
    """Solve a day; if pinned lunch conflicts with the rules, solve it with movable lunch."""
    result = solve_context(build_context(instance), steps=steps)
    if result.conflict is not None and any(pin.key in result.conflict.ids for pin in instance.pinned):
        result = solve_context(build_context(with_loose_lunch(day, instance)), steps=steps)
    return result


def instance_of(day: Day, told: Sequence[Told] = ()) -> Instance:
    """Return the day as an instance for the engine, with lunch pinned where there is room for it.

    Raises :class:`BadInput` for a frame without time.
    """
    busy = (Immovable(start=b.start, end=b.end) for b in day.busy if b.start < b.end)
    instance = Instance(
        date=day.date,
        tz=day.tz,
        frame=Frame(start=day.start, end=day.end, next_start=day.next_start),
        immovables=tuple(busy),
        tasks=tuple(_task(work, place, len(day.works)) for place, work in enumerate(day.works)),
        constraints=tuple(told),
        policy=policy_of(day),
    )
    lunch = _lunch(day, frame_of(day), instance)
    return instance if lunch is None else replace(instance, pinned=(lunch,))


def length(work: Work) -> int:
    """Return the minutes of the work, or the usual length."""
    return work.minutes or (USUAL_DEEP if work.deep else USUAL_SHALLOW)


def is_splittable(work: Work) -> bool:
    """Check whether the work may be split into pieces."""
    return work.pieces or (work.deep and work.minutes is not None and on_grid(work.minutes) >= SPLITTABLE)


# --- lunch ---


def _lunch(day: Day, frame: Stretch, instance: Instance) -> Pin | None:
    """Return lunch near its wish, where meetings leave room and rules allow it.

    Weaker rules are dropped as needed; musts always count.
    """
    if day.lunch is None or not wants_lunch(frame, day.lunch):
        return None
    for closed in _closed_times(instance):
        stretch = lunch_stretch(OccupiedFrame(frame, [*busy_stretches(day.busy), *closed]), day.lunch)
        if stretch is not None:
            start = instant(stretch.start)
            return Pin(key=day.lunch.key, title=LUNCH, type=ET.REGENERATION, start=start, minutes=stretch.minutes)
    return None


def _closed_times(instance: Instance) -> Iterator[tuple[Stretch, ...]]:
    """Yield the times closed to lunch: by all rules about it, then by ever fewer, down to the musts alone."""
    if not instance.constraints:
        yield ()
        return
    ground = build_context(instance)
    rules = [rule for rule in ground.rules if rule.applies_to(ET.REGENERATION, None) and rule.closed_slots]
    tried: set[int] = set()
    for last in range(len(Necessity), 0, -1):
        strong = tuple(Necessity)[:last]
        closed = reduce(or_, (rule.closed_slots for rule in rules if rule.necessity in strong), 0)
        if closed not in tried:
            tried.add(closed)
            origin = ground.axis.origin
            yield tuple(Stretch(origin + at * GRID, origin + (at + slots) * GRID) for at, slots in stretches(closed))


def _lunch_left_out(day: Day, frame: Stretch, told: Sequence[Told]) -> tuple[UnplacedItem, ...]:
    if day.lunch is None or not wants_lunch(frame, day.lunch):
        return ()
    return (UnplacedItem(day.lunch.key, LUNCH, NO_LUNCH_BY_RULES if told else NO_LUNCH),)


def with_loose_lunch(day: Day, instance: Instance) -> Instance:
    """Return the day with lunch as a wish that yields to rules."""
    return instance if day.lunch is None else replace(instance, pinned=())


def _explain_lunch(day: Day, told: Sequence[Told], left: UnplacedItem) -> UnplacedItem:
    if day.lunch is None or left.id != day.lunch.key:
        return left
    return replace(left, reason=NO_LUNCH_BY_RULES if told else NO_LUNCH, choices=())


def _task(work: Work, place: int, of: int) -> Task:
    return Task(
        id=work.id,
        title=work.title,
        minutes=length(work),
        type=ET.DEEP_WORK if work.deep else ET.SHALLOW_WORK,
        splittable=is_splittable(work),
        min_chunk=PIECE,
        max_pieces=6,
        priority=1 + 5 * place // of,
        one_thing=work.first,
        notes=work.notes,
    )
