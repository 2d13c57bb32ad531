"""Explain why an item found no place, and offer options.

Most options are tried before they are offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fateforger.constraints.wording import join_words, quote_name
from fateforger.drafting.axis import longest_run, run_starts, slot_range, slots_of, stretches
from fateforger.drafting.compile import compile_problem
from fateforger.drafting.ground import DraftContext
from fateforger.drafting.items import Item, covered_slots
from fateforger.drafting.layout import Layout
from fateforger.drafting.minutes import GRID, in_words
from fateforger.drafting.model import OptionKind, PlacementOption, UnplacedItem
from fateforger.drafting.naming import LUNCH
from fateforger.drafting.problem import Placed, Problem

SHORTEST = 3
"""Shortest length, in slots, that an item is shrunk to: a quarter of an hour."""
LONGER = 36
"""Most slots by which a longer day is offered: three hours."""


def find_left_out(ground: DraftContext, problem: Problem, placed: Placed) -> tuple[UnplacedItem, ...]:
    """Return the items without a place, in their order, and commutes that collide with an event."""
    layout = Layout(problem, placed)
    looser = _relaxed_problems(ground, problem) if not all(placed) else {}
    found = [
        UnplacedItem(
            item.id, item.title, _explain(ground, problem, layout, item), tuple(_choices(ground, looser, layout, item))
        )
        for item in problem.items
        if not placed[item.index]
    ]
    found += [
        UnplacedItem(
            way.id, way.title, "another event leaves no time for it", (PlacementOption(OptionKind.DROP, "Do without"),)
        )
        for way in ground.ways
        if way.late
    ]
    return tuple(found)


def explain_left(minutes: int, frame: int, longest: int, left: int) -> str:
    """Explain why work of that length found no place, in minutes.

    ``frame`` is the whole frame, ``longest`` its longest free stretch before any work was placed, ``left`` the
    longest one still free.
    """
    if minutes > frame:
        return f"it needs {in_words(minutes)}, and the whole day has {in_words(frame)}"
    if minutes > longest:
        return f"it needs {in_words(minutes)}, and the longest free stretch of the day is {in_words(longest)}"
    if left == 0:
        return "the day is full"
    return f"it needs {in_words(minutes)}, and the longest stretch still free is {in_words(left)}"


def _explain(ground: DraftContext, problem: Problem, layout: Layout, item: Item) -> str:
    minutes = item.slots * GRID - item.over
    if item.id.startswith(f"{LUNCH}-"):
        return f"meetings leave no {item.lengths[-1][0] * GRID} minutes free around that time"
    missing = [problem.items[n].title for n in item.needs if not layout.placed[n]]
    if missing:
        return f"it comes after {join_words([quote_name(t) for t in missing])}, which found no place"
    frame = sum(day.frame.bit_count() for day in ground.days)
    pinned = (lies for i, lies in zip(problem.items, layout.placed, strict=True) if i.pinned)
    open_time = ground.free & ~covered_slots(pinned)
    longest = longest_run(open_time)
    if item.slots > frame or (item.slots > longest and item.most_pieces == 1):
        return explain_left(minutes, frame * GRID, longest * GRID, 0)
    closing = _restricting_musts(problem, item)
    if not _could_fit(item):
        if closing:
            return f"{join_words(closing)} {'leaves' if len(closing) == 1 else 'leave'} it no {in_words(minutes)}"
        return f"it needs {in_words(minutes)}, and there is not that much time {_where(ground, item)}"
    left = longest_run(item.domain & ~(layout.taken | layout.kept))
    spot = _best_cost(layout, item)
    if spot is not None and spot > item.cost_of_omission():
        return "the only time left for it is not what you want" + _list_wishes(problem, item)
    free = longest_run(ground.free & ~layout.taken)
    if closing and (free >= item.slots or (free and not left)):
        return f"{join_words(closing)} {'rules' if len(closing) == 1 else 'rule'} out the time that is still free"
    if left >= item.slots:
        return "what it has to come before or after leaves it no time"
    return explain_left(minutes, minutes, minutes, left * GRID)


def _list_wishes(problem: Problem, item: Item) -> str:
    said = [quote_name(rule.words) for rule in problem.rules if not rule.must and rule.applies_to(item.kind, item.task)]
    return f": {join_words(said)}" if said else ""


def _where(ground: DraftContext, item: Item) -> str:
    task = next((t for t in ground.instance.tasks if t.id == item.task), None)
    if task is not None and task.start is not None:
        return f"free at {task.start:%H:%M}"
    if task is not None and task.deadline is not None:
        return f"free before {task.deadline:%H:%M}"
    if task is not None and task.not_before is not None:
        return f"free after {task.not_before:%H:%M}"
    return "on that day"


def _could_fit(item: Item) -> bool:
    """Check whether an item has a place on an otherwise empty day."""
    if item.starts(item.slots):
        return True
    return item.most_pieces > 1 and sum(n for _, n in stretches(item.domain) if n >= item.shortest) >= item.slots


def _best_cost(layout: Layout, item: Item) -> int | None:
    found = layout.find_best(item, item.slots)
    return None if found is None else found[0]


def _restricting_musts(problem: Problem, item: Item) -> list[str]:
    """Return the quoted musts that restrict an item's place."""
    mine = [rule for rule in problem.rules if rule.must and rule.applies_to(item.kind, item.task)]
    cutting = [
        rule
        for rule in mine
        if rule.closed_slots or rule.gap or rule.around or (rule.shortest or 0) > item.slots or rule.most is not None
    ]
    return [quote_name(rule.words) for rule in cutting[:3]]


def _choices(
    ground: DraftContext, looser: Mapping[str, Problem], layout: Layout, item: Item
) -> Iterator[PlacementOption]:
    if item.task is None:
        yield PlacementOption(OptionKind.DROP, "Do without")
        return
    yield PlacementOption(OptionKind.DEFER, "Another day")
    yield PlacementOption(OptionKind.DROP, "Drop it")
    short = _find_shrunk_length(layout, item)
    if short is not None:
        yield PlacementOption(OptionKind.SHRINK, f"Make it {in_words(short * GRID)}", minutes=short * GRID)
    if item.most_pieces == 1 and item.slots >= 2 * item.shortest and _fits_in_pieces(layout, item):
        yield PlacementOption(OptionKind.SPLIT, "Do it in pieces")
    more = _find_extension(ground, layout, item)
    if more is not None:
        yield PlacementOption(OptionKind.EXTEND, f"Work {in_words(more)} longer", minutes=more)
    for rule in layout.problem.rules:
        if rule.must and rule.applies_to(item.kind, item.task) and _fits_in(looser[rule.id], layout, item):
            yield PlacementOption(OptionKind.RELAX, f"Just today without {quote_name(rule.words)}", rule=rule.id)


def _find_shrunk_length(layout: Layout, item: Item) -> int | None:
    """Return the most slots that there is room for, if that is at least half of the item."""
    longest = longest_run(item.domain & ~(layout.taken | layout.kept))
    for length in range(min(longest, item.slots - 1), max(SHORTEST, -(-item.slots // 2)) - 1, -1):
        if layout.find_best(item, length) is not None:
            return length
    return None


def _fits_in_pieces(layout: Layout, item: Item) -> bool:
    trial = Layout(layout.problem, layout.placed)
    item.most_pieces = 4
    try:
        return trial.insert(item, cut=True)
    finally:
        item.most_pieces = 1


def _find_extension(ground: DraftContext, layout: Layout, item: Item) -> int | None:
    """Return the minutes by which the last day would have to be longer for an item."""
    end = ground.axis.slot(ground.days[-1].end)
    free = (item.domain | slot_range(end, end + LONGER)) & ~(layout.taken | layout.kept | ground.busy)
    closed = 0
    for rule in layout.problem.rules:
        if rule.must and rule.applies_to(item.kind, item.task):
            closed |= rule.closed_slots
    starts = run_starts(free & ~closed & slot_range(0, ground.axis.slots), item.slots)
    late = [start for start in slots_of(starts) if start + item.slots > end and item.firm is None]
    late = [start for start in late if _can_begin(layout, item, start)]
    return (late[0] + item.slots - end) * GRID if late else None


def _can_begin(layout: Layout, item: Item, start: int) -> bool:
    """Check whether orders and caps allow an item to begin there."""
    problem, placed = layout.problem, layout.placed
    return problem.is_ordered(placed, item, start, item.slots) and problem.has_room_in_caps(
        placed, item, start, item.slots
    )


def _relaxed_problems(ground: DraftContext, problem: Problem) -> dict[str, Problem]:
    """Return, for each must that is a rule, the problem without it."""
    musts = frozenset(rule.id for rule in ground.rules if rule.must)
    gone = musts - problem.in_force
    return {rule.id: compile_problem(ground, gone | {rule.id}) for rule in problem.rules if rule.must}


def _fits_in(looser: Problem, layout: Layout, item: Item) -> bool:
    """Check whether an item has a place in a problem with one rule less, with all others unmoved."""
    same = next((i for i in looser.items if i.id == item.id and not i.pinned), None)
    if same is None or len(looser.items) != len(layout.problem.items):
        return False
    spot = Layout(looser, layout.placed).find_best(same, same.slots)
    return spot is not None and spot[0] <= same.cost_of_omission()
