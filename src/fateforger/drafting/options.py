"""Options for items without a place: candidates by cheap checks, each then tried by another draft.

An option stays only if its draft gives the item a place. What that draft takes from the rest of the day is its cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from fateforger.drafting.axis import longest_run, run_starts, slot_range, slots_of
from fateforger.drafting.context import DraftContext, SlotRule
from fateforger.drafting.instance import Instance, Task
from fateforger.drafting.left_out import TRIAL_STEPS, RelaxedProblems, find_cost, task_of_item
from fateforger.drafting.model import PlacementOption, UnplacedItem, Violation
from fateforger.drafting.placement import Placement
from fateforger.drafting.problem import Item, Placed, Problem
from fateforger.planning.task_details import LUNCH, SHUTDOWN
from fateforger.planning.timing import GRID, zone
from fateforger.text import format_length, join_words, quote_title
from fateforger.text import gettext as _
from fateforger.values import replace

MOST_TRIED = 5
"""Most items whose options are tried; a person is asked about no more at once."""
MOST_LOST = 1
"""Most tasks that an option may take the place of."""
SHORTEST = 3
"""Shortest length, in slots, that an item is shrunk to: a quarter of an hour."""
ROUND = 3
"""Lengths of shortened work are multiples of a quarter of an hour, in slots."""
LONGER = 36
"""Most slots by which a longer day is offered: three hours."""
ROUND_LONGER = 6
"""A longer day is longer by multiples of half an hour, in slots."""
LATEST, EARLIEST = time(22), time(6)
"""A longer day does not end between these times."""
PROMISING = frozenset({"shrink", "split", "extend", "relax", "fill"})
"""Options that promise a place."""
_ITS_OWN = frozenset({"shrink", "split"})


# --- candidates ---


def find_options(looser: RelaxedProblems) -> dict[str, tuple[PlacementOption, ...]]:
    """Return, for each task without a place, the options that may give it one; they are not tried yet."""
    placement = Placement(looser.problem, looser.placed)
    return {
        item.source.id: tuple(_options(looser, placement, item))
        for item in looser.problem.items
        if not looser.placed[item.index] and item.source.task is not None
    }


def _options(looser: RelaxedProblems, placement: Placement, item: Item) -> Iterator[PlacementOption]:
    context = looser.context
    short = _find_shrunk_length(placement, item)
    if short is not None:
        task = task_of_item(context, item)
        done = 0 if task is None else task.length(context.instance.policy) - item.slots * GRID + item.source.over
        minutes = short * GRID + done
        yield PlacementOption("shrink", f"Make it {format_length(minutes)}", minutes=minutes)
    if item.bounds.most == 1 and item.slots >= 2 * item.bounds.shortest and _fits_in_pieces(placement, item):
        yield PlacementOption("split", "Do it in pieces")
    least = _find_extension(context, placement, item)
    for more in () if least is None else (least, least + ROUND_LONGER * GRID):
        end = _later(context.instance, context.days[0].end, more)
        ends = f"your day ends at {end:%H:%M}" if len(context.days) == 1 else "each day"
        yield PlacementOption("extend", f"Work {format_length(more)} longer: {ends}", minutes=more)
    if item.index in looser.slack_takers:
        yield PlacementOption("fill", "Use the free time")
    for rule in looser.rules_about(item):
        if _fits_without(rule, looser, placement, item):
            yield PlacementOption("relax", f"Just today without {quote_title(rule.words)}", rule=rule.id)


def _find_shrunk_length(placement: Placement, item: Item) -> int | None:
    """Return the most slots that there is room for, in quarters of an hour, if that is at least half of the item."""
    longest = min(longest_run(item.domain & ~(placement.taken | placement.kept)), item.slots - 1)
    for length in range(longest // ROUND * ROUND, max(SHORTEST, -(-item.slots // 2)) - 1, -ROUND):
        if placement.slots_over(length) == 0 and placement.find_best(item, length) is not None:
            return length
    return None


def _fits_in_pieces(placement: Placement, item: Item) -> bool:
    trial = Placement(placement.problem, placement.placed)
    item.bounds.most = 4
    try:
        return trial.insert(item, cut=True)
    finally:
        item.bounds.most = 1


def _find_extension(context: DraftContext, placement: Placement, item: Item) -> int | None:
    """Return the minutes, in half hours, by which each day would have to be longer for an item."""
    if item.firm is not None:
        return None
    closed = placement.taken | placement.kept | context.busy
    for rule in context.rules_in_force(placement.problem.in_force):
        if rule.must and rule.applies_to(item.source.kind, item.source.task):
            closed |= rule.closed
    allowed = slot_range(0, context.axis.slots)
    task = task_of_item(context, item)
    if task is not None and task.deadline is not None:
        allowed &= slot_range(0, context.axis.slot(context.instant(task.deadline)))
    found = []
    for day in context.days:
        end = context.axis.slot(day.end)
        free = (item.domain & day.slots | slot_range(end, end + LONGER)) & allowed & ~closed
        late = (start for start in slots_of(run_starts(free, item.slots)) if start + item.slots > end)
        found += [start + item.slots - end for start in late if _can_begin(placement, item, start)][:1]
    if not found:
        return None
    # Work ends with the shutdown, so that comes later as well.
    shutdown = -(-context.instance.policy.shutdown // GRID) if item.work else 0
    minutes = -(-(min(found) + shutdown) // ROUND_LONGER) * ROUND_LONGER * GRID
    return minutes if all(_is_decent(context, day.end, minutes) for day in context.days) else None


def _is_decent(context: DraftContext, end: datetime, minutes: int) -> bool:
    """Check whether a day that ends that much later does not end at night."""
    return EARLIEST <= _later(context.instance, end, minutes).time() <= LATEST


def _later(instance: Instance, end: datetime, minutes: int) -> datetime:
    return (end.astimezone(UTC) + timedelta(minutes=minutes)).astimezone(zone(instance.tz))


def _can_begin(placement: Placement, item: Item, start: int) -> bool:
    """Check whether orders and caps allow an item to begin there."""
    problem, placed = placement.problem, placement.placed
    return problem.is_ordered(placed, item, start, item.slots) and problem.has_room_in_caps(
        placed, item, start, item.slots
    )


def _fits_without(rule: SlotRule, looser: RelaxedProblems, placement: Placement, item: Item) -> bool:
    """Check whether an item has a place without one rule: with all others unmoved, or with none but the vital ones.

    In the latter case it takes the place of others, so the rule has to be what keeps it out.
    """
    problem = looser.without([rule])
    same = looser.same_item(problem, item)
    if same is None:
        return False
    vital = [pieces if is_vital(i) else () for i, pieces in zip(placement.problem.items, placement.placed, strict=True)]
    return _is_worth(Placement(problem, placement.placed), same) or (
        _is_worth(Placement(problem, vital), same) and not _is_worth(Placement(placement.problem, vital), item)
    )


def _is_worth(placement: Placement, item: Item) -> bool:
    cost = find_cost(placement, item)
    return cost is not None and cost <= item.coupling.lost


def is_vital(item: Item) -> bool:
    """Check whether no option may cost the place of an item."""
    return item.required or item.source.one or item.source.id.startswith(f"{LUNCH}-")


# --- trials ---


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a draft, for a comparison.

    ``slots`` and ``titles`` are those of the items with a place, ``vital`` the items that no option may cost.
    ``broken`` are the words of the rules that the draft breaks, by their ids.
    """

    slots: Mapping[str, int]
    titles: Mapping[str, str]
    vital: frozenset[str]
    relaxed: frozenset[str]
    broken: Mapping[str, str]


def outcome_of(problem: Problem, placed: Placed, relaxed: Iterable[str], broken: Iterable[Violation]) -> Outcome:
    """Return the outcome of a placement, for which musts were relaxed and which breaks rules."""
    there = [(item, pieces) for item, pieces in zip(problem.items, placed, strict=True) if pieces]
    return Outcome(
        {item.source.id: sum(length for _, length in pieces) for item, pieces in there},
        {item.source.id: item.source.title for item, _ in there},
        frozenset(item.source.id for item, _ in there if is_vital(item)),
        frozenset(relaxed),
        {each.rule: each.words for each in broken},
    )


def apply_option(instance: Instance, task: str, option: PlacementOption) -> Instance:
    """Return the instance once an option for that task is taken."""
    match option.way:
        case "extend":
            end, more = instance.frame.end, timedelta(minutes=option.minutes or 0)
            later = (datetime.combine(instance.date, end) + more).time() if isinstance(end, time) else end + more
            return replace(instance, frame=replace(instance.frame, end=later))
        case "fill":
            return replace(instance, policy=replace(instance.policy, slack_percent=None))
        case "relax":
            return replace(instance, constraints=tuple(c for c in instance.constraints if c.id != option.rule))
        case "shrink" | "split":
            tasks = (_take_option(each, option) if each.id == task else each for each in instance.tasks)
            return replace(instance, tasks=tuple(tasks))
        case "drop" | "defer":
            return instance.without_task(task)


def _take_option(task: Task, option: PlacementOption) -> Task:
    return replace(task, splittable=True) if option.way == "split" else replace(task, minutes=option.minutes)


Trial = Callable[[str, PlacementOption, int], Outcome | None]
"""Returns the outcome of an option for an item after so many steps, or ``None`` if it makes no day."""


def try_options(left: Iterable[UnplacedItem], before: Outcome, trial: Trial, steps: int) -> tuple[UnplacedItem, ...]:
    """Return the items with only the options that hold, each with its cost.

    An option stays if it promises no place, or if the trial gives the item one at a cost that a person would consider.
    It is tried for a moment first, and then as thoroughly as the draft that taking it leads to, with ``steps``.
    """
    known: dict[tuple[object, ...], Outcome | None] = {}

    def check(item: str, option: PlacementOption) -> PlacementOption | None:
        costs: list[str] | None = None
        for effort in sorted({min(steps, TRIAL_STEPS), steps}):
            way = (effort, option.way, option.minutes, option.rule, item if option.way in _ITS_OWN else None)
            if way not in known:
                known[way] = trial(item, option, effort)
            after = known[way]
            costs = None if after is None or item not in after.slots else list_costs(before, after)
            if costs is None:
                return None
        return replace(option, cost=join_words(costs or ()))

    tried = 0
    told: list[UnplacedItem] = []
    for each in left:
        promising = [option for option in each.choices if option.way in PROMISING]
        tried += bool(promising)
        certain = (option for option in each.choices if option.way not in PROMISING)
        found: list[PlacementOption] = []
        for option in promising if tried <= MOST_TRIED else ():
            if option.way == "extend" and any(other.way == "extend" for other in found):
                continue  # a shorter extension does
            if (holds := check(each.id, option)) is not None:
                found.append(holds)
        told.append(replace(each, choices=(*certain, *found)))
    return tuple(told)


def list_costs(before: Outcome, after: Outcome) -> list[str] | None:
    """Return what one draft loses against another in words, or ``None`` if that is more than an option may cost."""
    gone = [item for item in before.slots if item not in after.slots]
    lost = [item for item in gone if not item.startswith(f"{SHUTDOWN}-")]
    if not after.relaxed <= before.relaxed or len(lost) > MOST_LOST or before.vital.intersection(lost):
        return None
    costs = [_("{title} then waits for another day", title=quote_title(before.titles[item])) for item in lost]
    for item, slots in after.slots.items():
        if item.startswith(f"{LUNCH}-") and slots < before.slots.get(item, 0):
            costs.append(_("lunch is {length} then", length=format_length(slots * GRID)))
    if len(gone) > len(lost):
        costs.append(_("no time is left to shut down"))
    new = (words for rule, words in after.broken.items() if rule not in before.broken)
    return costs + [_("it goes against {rule}", rule=quote_title(words)) for words in new]
