"""Explain why an item found no place, and offer options.

Most options are tried before they are offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fateforger.constraints.wording import listed, quoted
from fateforger.drafting.axis import longest_run, runs, slots_of, span, stretches
from fateforger.drafting.compile import compiled
from fateforger.drafting.ground import Ground
from fateforger.drafting.items import Item, pieces_of
from fateforger.drafting.layout import Layout
from fateforger.drafting.minutes import GRID, in_words
from fateforger.drafting.model import Choice, Left, Way
from fateforger.drafting.naming import LUNCH
from fateforger.drafting.problem import Placed, Problem

SHORTEST = 3
"""Shortest length, in slots, that an item is shrunk to: a quarter of an hour."""
LONGER = 36
"""Most slots by which a longer day is offered: three hours."""


def left_out(ground: Ground, problem: Problem, placed: Placed) -> tuple[Left, ...]:
    """Return the items without a place, in their order, and commutes that collide with an event."""
    layout = Layout(problem, placed)
    looser = _looser(ground, problem) if not all(placed) else {}
    found = [
        Left(item.id, item.title, _why(ground, problem, layout, item), tuple(_choices(ground, looser, layout, item)))
        for item in problem.items
        if not placed[item.index]
    ]
    found += [
        Left(way.id, way.title, "another event leaves no time for it", (Choice(Way.DROP, "Do without"),))
        for way in ground.ways
        if way.late
    ]
    return tuple(found)


def why_left(minutes: int, frame: int, longest: int, left: int) -> str:
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


def _why(ground: Ground, problem: Problem, layout: Layout, item: Item) -> str:
    minutes = item.slots * GRID - item.over
    if item.id.startswith(f"{LUNCH}-"):
        return f"meetings leave no {item.lengths[-1][0] * GRID} minutes free around that time"
    missing = [problem.items[n].title for n in item.needs if not layout.placed[n]]
    if missing:
        return f"it comes after {listed([quoted(t) for t in missing])}, which found no place"
    frame = sum(day.frame.bit_count() for day in ground.days)
    pinned = (lies for i, lies in zip(problem.items, layout.placed, strict=True) if i.pinned)
    open_time = ground.free & ~pieces_of(pinned)
    longest = longest_run(open_time)
    if item.slots > frame or (item.slots > longest and item.most_pieces == 1):
        return why_left(minutes, frame * GRID, longest * GRID, 0)
    closing = _closing(problem, item)
    if not _could(item):
        if closing:
            return f"{listed(closing)} {'leaves' if len(closing) == 1 else 'leave'} it no {in_words(minutes)}"
        return f"it needs {in_words(minutes)}, and there is not that much time {_where(ground, item)}"
    left = longest_run(item.domain & ~(layout.taken | layout.kept))
    spot = _spot(layout, item)
    if spot is not None and spot > item.lost():
        return "the only time left for it is not what you want" + _wishes(problem, item)
    free = longest_run(ground.free & ~layout.taken)
    if closing and (free >= item.slots or (free and not left)):
        return f"{listed(closing)} {'rules' if len(closing) == 1 else 'rule'} out the time that is still free"
    if left >= item.slots:
        return "what it has to come before or after leaves it no time"
    return why_left(minutes, minutes, minutes, left * GRID)


def _wishes(problem: Problem, item: Item) -> str:
    said = [quoted(rule.words) for rule in problem.rules if not rule.must and rule.about(item.kind, item.task)]
    return f": {listed(said)}" if said else ""


def _where(ground: Ground, item: Item) -> str:
    task = next((t for t in ground.instance.tasks if t.id == item.task), None)
    if task is not None and task.start is not None:
        return f"free at {task.start:%H:%M}"
    if task is not None and task.deadline is not None:
        return f"free before {task.deadline:%H:%M}"
    if task is not None and task.not_before is not None:
        return f"free after {task.not_before:%H:%M}"
    return "on that day"


def _could(item: Item) -> bool:
    """Check whether an item has a place on an otherwise empty day."""
    if item.starts(item.slots):
        return True
    return item.most_pieces > 1 and sum(n for _, n in stretches(item.domain) if n >= item.shortest) >= item.slots


def _spot(layout: Layout, item: Item) -> int | None:
    found = layout.best(item, item.slots)
    return None if found is None else found[0]


def _closing(problem: Problem, item: Item) -> list[str]:
    """Return the quoted musts that restrict an item's place."""
    mine = [rule for rule in problem.rules if rule.must and rule.about(item.kind, item.task)]
    cutting = [
        rule
        for rule in mine
        if rule.closed or rule.gap or rule.around or (rule.shortest or 0) > item.slots or rule.most is not None
    ]
    return [quoted(rule.words) for rule in cutting[:3]]


def _choices(ground: Ground, looser: Mapping[str, Problem], layout: Layout, item: Item) -> Iterator[Choice]:
    if item.task is None:
        yield Choice(Way.DROP, "Do without")
        return
    yield Choice(Way.DEFER, "Another day")
    yield Choice(Way.DROP, "Drop it")
    short = _shrunk(layout, item)
    if short is not None:
        yield Choice(Way.SHRINK, f"Make it {in_words(short * GRID)}", minutes=short * GRID)
    if item.most_pieces == 1 and item.slots >= 2 * item.shortest and _fits_in_pieces(layout, item):
        yield Choice(Way.SPLIT, "Do it in pieces")
    more = _extended(ground, layout, item)
    if more is not None:
        yield Choice(Way.EXTEND, f"Work {in_words(more)} longer", minutes=more)
    for rule in layout.problem.rules:
        if rule.must and rule.about(item.kind, item.task) and _fits_in(looser[rule.id], layout, item):
            yield Choice(Way.RELAX, f"Just today without {quoted(rule.words)}", rule=rule.id)


def _shrunk(layout: Layout, item: Item) -> int | None:
    """Return the most slots that there is room for, if that is at least half of the item."""
    longest = longest_run(item.domain & ~(layout.taken | layout.kept))
    for length in range(min(longest, item.slots - 1), max(SHORTEST, -(-item.slots // 2)) - 1, -1):
        if layout.best(item, length) is not None:
            return length
    return None


def _fits_in_pieces(layout: Layout, item: Item) -> bool:
    trial = Layout(layout.problem, layout.placed)
    item.most_pieces = 4
    try:
        return trial.insert(item, cut=True)
    finally:
        item.most_pieces = 1


def _extended(ground: Ground, layout: Layout, item: Item) -> int | None:
    """Return the minutes by which the last day would have to be longer for an item."""
    end = ground.axis.slot(ground.days[-1].end)
    free = (item.domain | span(end, end + LONGER)) & ~(layout.taken | layout.kept | ground.busy)
    closed = 0
    for rule in layout.problem.rules:
        if rule.must and rule.about(item.kind, item.task):
            closed |= rule.closed
    starts = runs(free & ~closed & span(0, ground.axis.slots), item.slots)
    late = [start for start in slots_of(starts) if start + item.slots > end and item.firm is None]
    late = [start for start in late if _may_begin(layout, item, start)]
    return (late[0] + item.slots - end) * GRID if late else None


def _may_begin(layout: Layout, item: Item, start: int) -> bool:
    """Check whether orders and caps allow an item to begin there."""
    problem, placed = layout.problem, layout.placed
    return problem.ordered(placed, item, start, item.slots) and problem.room_in_caps(placed, item, start, item.slots)


def _looser(ground: Ground, problem: Problem) -> dict[str, Problem]:
    """Return, for each must that is a rule, the problem without it."""
    musts = frozenset(rule.id for rule in ground.rules if rule.must)
    gone = musts - problem.in_force
    return {rule.id: compiled(ground, gone | {rule.id}) for rule in problem.rules if rule.must}


def _fits_in(looser: Problem, layout: Layout, item: Item) -> bool:
    """Check whether an item has a place in a problem with one rule less, with all others unmoved."""
    same = next((i for i in looser.items if i.id == item.id and not i.pinned), None)
    if same is None or len(looser.items) != len(layout.problem.items):
        return False
    spot = Layout(looser, layout.placed).best(same, same.slots)
    return spot is not None and spot[0] <= same.lost()
